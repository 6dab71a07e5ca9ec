"""Snapshots: what is loaded is what was saved, or saving refuses it."""

import io

import networkx as nx
import numpy as np
import pytest
import spargo
from conftest import INDICES
from scipy import sparse
from spargo import _core

PAIRS = [("b", "a"), ("a", "ł"), ("c", "\udcf8")]


def graphs():
    for directed in (True, False):
        for weights in (None, np.array([3, 1, 2], np.int32), np.array([2**53, -4, 0]), np.array([0.5, np.inf, -0.0], np.float32),
                        np.array([0.1, 1e-300, 5e-324])):
            kind = "none" if weights is None else weights.dtype
            yield f"{directed} {kind}", spargo.Graph.from_edges([0, 1, 3], [1, 2, 3], weights, directed=directed)
        yield f"{directed} names", spargo.Graph(PAIRS, directed=directed)
        yield f"{directed} names, weights", spargo.Graph([(*p, 7) for p in PAIRS], directed=directed)
        yield f"{directed} ids", spargo.Graph.read(io.StringIO("10 20 2.5\n20 1000 1\n"), directed=directed)
        kinds = (nx.DiGraph, nx.MultiDiGraph) if directed else (nx.Graph, nx.MultiGraph)
        for kind in kinds:
            for edges in ([(0, 1), (1, 2)], [(2, 1), (1, 0), (2, 1)], [(5, -3), (5, 2**70)], [("x", "y", {"weight": 2})]):
                yield f"{kind.__name__} {edges}", spargo.Graph(kind(edges))
    yield "empty", spargo.Graph([])
    yield "no edges", spargo.Graph(nx.empty_graph(3, nx.DiGraph))
    for index in INDICES:
        a = sparse.csr_array((np.ones(2), np.array([1, 0], index), np.array([0, 1, 2], index)), shape=(2, 2))
        yield f"{index.__name__}", spargo.Graph(a)


GRAPHS = dict(graphs())


def assert_same(got, want):
    assert type(got) is spargo.Graph and repr(got) == repr(want)
    assert (got.directed, got.is_multigraph()) == (want.directed, want.is_multigraph())
    for name in ("offsets", "indices", "weights"):
        a, b = getattr(got, name), getattr(want, name)
        assert (a is None) == (b is None)
        if a is not None:
            assert a.dtype == b.dtype and a.tobytes() == b.tobytes()
    assert list(got.nodes if got.nodes is not None else ()) == list(want.nodes if want.nodes is not None else ())
    assert all(got.index(node) == v for v, node in enumerate(want.nodes if want.nodes is not None else ()))


@pytest.mark.parametrize("name", GRAPHS)
def test_what_is_loaded_is_what_was_saved(name, tmp_path):
    path, g = tmp_path / "g.spg", GRAPHS[name]
    spargo.save(path, g)
    assert_same(spargo.load(path), g)
    assert_same(spargo.Graph.read(path), g)
    assert_same(spargo.Graph(path), g)
    assert spargo.Graph.read(path, weights=False).weights is None
    assert spargo.Matrix(path).nnz == g.indices.size


def test_networkxs_graphs_are_saved_as_graphs(tmp_path):
    path = tmp_path / "g.spg"
    spargo.save(path, nx.Graph([("a", "b", {"weight": 2}), ("b", "c")]))
    assert_same(spargo.load(path), spargo.Graph(nx.Graph([("a", "b", {"weight": 2}), ("b", "c")])))


def test_matrices_stay_matrices(tmp_path):
    path = tmp_path / "m.spg"
    a = sparse.csr_array([[1.0, 2.0], [2.0, 0.0]])
    for saved in (a, spargo.Matrix(a), a.toarray()):
        spargo.save(path, saved)
        assert isinstance(spargo.load(path), spargo.Matrix)
        g = spargo.Graph.read(path)
        assert g.directed and g.weights.tolist() == [1, 2, 2] and g.nodes is None


def test_what_a_snapshot_cannot_hold_is_refused(tmp_path):
    path = tmp_path / "g.spg"
    path.write_text("what was there")
    for g, text in (
        (spargo.Graph(nx.grid_2d_graph(2, 2)), r"ids such as \(0, 0\).*integers or strings.*pickle"),
        (spargo.Graph([(1, "a")]), "ids such as 1 and 'a'.*pickle"),
        (spargo.Graph(nx.Graph([(0.5, 1.5)])), "ids such as 0.5.*pickle"),
        (spargo.Graph(nx.Graph([(True, False)])), "ids such as True.*pickle"),
        (spargo.Graph.from_edges([0], [1], [2**53 + 1]), "weights beyond 2\\^53.*pickle"),
        (spargo.Graph.from_edges([0], [1], [-(2**63)]), "weights beyond 2\\^53.*pickle"),
    ):
        with pytest.raises(NotImplementedError, match=text):
            spargo.save(path, g)
    assert path.read_text() == "what was there"


def snapshot_of(path, values, directed=True, integers=False, ids=None, names=None, notes=""):
    """A square matrix of two entries, as other programs write it."""
    offsets, indices = np.array([0, 2, 2], np.int32), np.array([0, 1], np.int32)
    _core.save(str(path), 2, 2, offsets, indices, values, _core.SnapshotExtras(directed, integers, ids, names, notes), 1)


def test_snapshots_of_other_programs(tmp_path):
    path = tmp_path / "g.spg"
    snapshot_of(path, np.array([4.0, 9.0]), notes='{"lightest":[[1,2.5]]}')  # of weights listed twice
    assert spargo.load(path).to_scipy().data.tolist() == [4, 9]
    assert spargo.Graph.read(path).weights.tolist() == [4, 2.5]
    snapshot_of(path, np.array([4.0, 9.0]), integers=True, ids=np.array([7, 70]), directed=False)
    loaded = spargo.load(path)
    assert isinstance(loaded, spargo.Graph) and not loaded.directed and loaded.nodes.tolist() == [7, 70]
    assert loaded.weights.tolist() == [4, 9, 9], "each edge in both directions, which the file need not have"
    assert [loaded.bfs(v).reached for v in range(2)] == [2, 2]
    both = spargo.Graph.read(path, directed=True)
    assert both.directed and both.weights.tolist() == [4, 9, 9] and both.nodes.tolist() == [7, 70]
    for notes in ("words", "[1]", '{"spargo.Graph":7}', '{"spargo.Graph":{"weights":"sheep","ids":3}}', "\x00"):
        snapshot_of(path, np.array([4.0, 9.0]), names=[b"a", b"b"], notes=notes)
        assert spargo.load(path).nodes.tolist() == ["a", "b"]
    snapshot_of(path, np.array([4.0, 9.0]), names=[b"a", b"b"], notes='{"spargo.Graph":{"ids":"integers"}}')
    assert spargo.load(path).nodes.tolist() == ["a", "b"]
    with pytest.raises(spargo.Error, match="name"):
        snapshot_of(path, np.array([4.0, 9.0]), names=[b"a", b"a"])
