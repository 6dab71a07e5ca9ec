"""Graphs of whatever is at hand, and what is said of vertices that are not there."""

import io

import networkx as nx
import numpy as np
import pytest
import spargo
from conftest import INDICES
from scipy import sparse

PAIRS = [(0, 1), (1, 2), (0, 2)]


def edges_of(g):
    starts = np.repeat(np.arange(g.vertices), np.diff(g.offsets))
    return list(zip(g.names(starts), g.names(g.indices)))


def test_of_matrices_pairs_files_and_graphs(tmp_path):
    path = tmp_path / "a.el"
    path.write_text("0 1\n1 2\n0 2\n")
    a = sparse.csr_array((np.ones(3, bool), ([0, 1, 0], [1, 2, 2])), shape=(3, 3))
    sources = [PAIRS, tuple(PAIRS), iter(PAIRS), np.array(PAIRS), np.array(PAIRS, np.uint8), np.array(PAIRS, float), a, a.tocoo(),
               path, str(path), io.StringIO(path.read_text()), nx.DiGraph(PAIRS), spargo.Graph.from_edges([0, 1, 0], [1, 2, 2]),
               map(list, PAIRS), np.array(PAIRS, object), spargo.Matrix(a.astype(float)), dict.fromkeys(PAIRS)]
    for source in sources:
        g = spargo.Graph(source)
        assert isinstance(g, spargo.Graph) and g.directed and sorted(edges_of(g)) == sorted(PAIRS), source
        assert g.bfs(0).levels.tolist() == [0, 1, 1]
    for source in [PAIRS, a, path, nx.DiGraph(PAIRS), spargo.Graph(PAIRS)]:
        g = spargo.Graph(source, directed=False)
        assert not g.directed and g.edges == 3 and g.bfs(2).levels.tolist() == [1, 1, 0]
    assert not spargo.Graph(nx.Graph(PAIRS)).directed
    both = spargo.Graph(nx.Graph(PAIRS), directed=True)
    assert both.directed and both.edges == 6 and both.nodes == [0, 1, 2]
    assert spargo.Graph("gen:path:n=4").vertices == 4
    assert spargo.Graph([]).vertices == 0 and spargo.Graph(np.empty((0, 2), int)).vertices == 0


def test_weights(tmp_path):
    triples = [(0, 1, 2.5), (1, 2, 0.5)]
    weighted = nx.DiGraph()
    weighted.add_weighted_edges_from(triples)
    matrix = sparse.csr_array(([2.5, 0.5], ([0, 1], [1, 2])), shape=(3, 3))
    path = tmp_path / "a.wel"
    path.write_text("0 1 2.5\n1 2 0.5\n")
    for source in (triples, np.array(triples), weighted, matrix, spargo.Graph(matrix), spargo.Matrix(matrix), path):
        assert spargo.Graph(source).weights.tolist() == [2.5, 0.5]
        assert spargo.Graph(source, weights=False).weights is None
        assert spargo.Graph(source, directed=False).sssp(2).distances.tolist() == [3, 0.5, 0]
    assert spargo.Graph([(0, 1, 3)]).weights.dtype == np.int64


def test_names():
    g = spargo.Graph([("alice", "bob"), ("bob", "carol"), ("alice", "carol")])
    assert g.nodes == ["alice", "bob", "carol"] and g.index("carol") == 2
    assert g.bfs(g.index("alice")).levels.tolist() == [0, 1, 1]
    assert edges_of(g) == [("alice", "bob"), ("alice", "carol"), ("bob", "carol")]
    assert spargo.Graph([(1, "a"), ((2, 3), 1)]).nodes == [1, "a", (2, 3)]
    assert spargo.Graph(np.array([["a", "b"]])).nodes == ["a", "b"]


@pytest.mark.parametrize("index", INDICES)
def test_it_is_a_graph_like_others(index):
    a = sparse.csr_array((np.ones(2), np.array([1, 0], index), np.array([0, 1, 2], index)), shape=(2, 2))
    g = spargo.Graph(a)
    assert g.indices is a.indices and type(spargo.Graph(g)) is spargo.Graph
    import pickle

    assert edges_of(pickle.loads(pickle.dumps(g))) == edges_of(g)
    assert nx.number_connected_components(spargo.Graph(a, directed=False)) == 1


def test_what_is_no_graph():
    for bad, kind, text in (
        (3, TypeError, "this is 3"),
        (None, TypeError, "this is None"),
        ([(0, 1), (1,)], spargo.Error, "edge 1"),
        ([(0, 1), (1, 2, 3)], spargo.Error, "edge 1"),
        ([(0, 1, 2, 3)], spargo.Error, "edge 0"),
        (["ab", "cd"], spargo.Error, "edge 0"),
        (np.ones((3, 4)), spargo.Error, "from_scipy"),
        (np.ones(4), spargo.Error, "from_scipy"),
        (np.array([[0.5, 1]]), spargo.Error, "integers"),
        (np.array([[np.inf, 1]]), spargo.Error, "integers"),
        ([(0, -1)], spargo.Error, "-1"),
        ([(0, 2**70)], spargo.Error, "64 bits"),
        ([(0, 2**63)], spargo.Error, "2\\^63"),
        ([(0, 1, "heavy")], NotImplementedError, "weights"),
        (sparse.csr_array((2, 3)), spargo.Error, "square"),
        ("no/such/file", FileNotFoundError, "no/such/file"),
    ):
        with pytest.raises(kind, match=text):
            spargo.Graph(bad)


def test_ids_and_numbers_are_told_apart():
    g = spargo.Graph.read(io.StringIO("10 20\n20 1000\n"))
    with pytest.raises(spargo.Error, match="vertex 1000 is out of range: vertices are numbered 0 to 2; the node with the id 1000 is vertex 2"):
        g.bfs(1000)
    with pytest.raises(spargo.Error, match="vertex 7 is out of range: .* no node has the id 7"):
        g.sssp(7)
    with pytest.raises(spargo.Error, match="id 1000 is vertex 2"):
        g.multi_bfs([0, 1000])
    with pytest.raises(KeyError, match="no node 7"):
        g.index(7)
    plain = spargo.Graph(PAIRS)
    with pytest.raises(spargo.Error, match="vertex 3 is out of range: vertices are numbered 0 to 2$"):
        plain.bfs(3)
    with pytest.raises(KeyError, match="no vertex 3"):
        plain.index(3)
    with pytest.raises(spargo.Error, match="it is empty"):
        spargo.Graph([]).bfs(0)


CALLS = {
    "bfs": lambda g, n: g.bfs(n),
    "bfs target": lambda g, n: g.bfs(0, target=n),
    "bfs depth": lambda g, n: g.bfs(0, max_depth=n),
    "bfs_order": lambda g, n: g.bfs_order(n),
    "multi_bfs": lambda g, n: g.multi_bfs([n]),
    "sssp": lambda g, n: g.sssp(n),
    "sssp target": lambda g, n: g.sssp(0, target=n),
    "betweenness": lambda g, n: g.betweenness([n]),
    "edge_betweenness": lambda g, n: g.edge_betweenness([n]),
    "communities": lambda g, n: g.communities("cdlp", iterations=n),
    "communities initial": lambda g, n: g.communities("cdlp", initial=[n] * 3),
    "pagerank": lambda g, n: g.pagerank(iterations=n),
    "pagerank most": lambda g, n: g.pagerank(max_iterations=n),
    "neighbours": lambda g, n: g.neighbours(n),
    "from_edges": lambda g, n: spargo.Graph.from_edges([n], [0]),
    "vertices": lambda g, n: spargo.Graph.from_edges([0], [0], vertices=n),
    "Graph": lambda g, n: spargo.Graph([(0, n)]),
    "start": lambda g, n: spargo.csgraph.breadth_first_order(g, n),
    "indices": lambda g, n: spargo.csgraph.dijkstra(g, indices=n),
    "threads": lambda g, n: spargo.config(threads=n),
    "matrix": lambda g, n: spargo.Matrix((np.ones(1), [0], [0, 1]), shape=(n, 1)),
    "coo": lambda g, n: spargo.Matrix((np.ones(1), ([n], [0])), shape=(1, 1)),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("number", [2**63, 2**70, -(2**70), 1.5, float("nan"), float("inf"), "1", None])
def test_odd_numbers_have_clear_messages(name, number):
    if name in ("bfs target", "bfs depth", "sssp target", "vertices", "threads", "indices", "Graph") and (
        number is None or (name == "Graph" and isinstance(number, (str, float)))
    ):
        pytest.skip("means something")
    with pytest.raises((TypeError, ValueError, OverflowError)) as caught:
        CALLS[name](spargo.Graph(PAIRS), number)
    text = str(caught.value)
    assert "incompatible function arguments" not in text and "_core" not in text and "\n" not in text, text
    assert len(text) < 200


def test_no_sources_give_0():
    for g in (spargo.Graph.from_edges([0, 1, 2], [1, 2, 3]), spargo.Graph("gen:grid2d:n=4"), spargo.Graph([])):
        for none in ([], np.empty(0, int), ()):
            for normalization in ("none", "pairs", "maximum"):
                values = g.betweenness(none, normalization=normalization)
                assert values.dtype == np.float64 and values.shape == (g.vertices,) and not values.any()
                values = g.edge_betweenness(none, normalization=normalization)
                assert values.shape == g.indices.shape and not values.any()
    g = spargo.Graph(PAIRS)
    for call in (lambda: g.pagerank(personalization=[]), lambda: g.pagerank(guess=[1.0]), lambda: g.communities("cdlp", initial=[]),
                 lambda: g.communities("cdlp", initial=[0])):
        with pytest.raises(spargo.Error, match="for 3 vertices"):
            call()


def doors(pairs, n, directed, tmp_path):
    """The same graph, by every way in."""
    sources, targets = np.array(pairs).T
    a = sparse.coo_array((np.ones(len(pairs)), (sources, targets)), shape=(n, n))
    a = sparse.csr_array(a if directed else a + a.T)
    a.data[:] = 1
    path = tmp_path / "a.el"
    path.write_text("".join(f"{u} {v}\n" for u, v in pairs))
    matrix = tmp_path / "a.mtx"
    spargo.mmwrite(matrix, a, symmetry="general")
    theirs = nx.empty_graph(n, create_using=nx.DiGraph if directed else nx.Graph)
    theirs.add_edges_from(pairs)
    options = {"directed": directed}
    yield "from_edges", spargo.Graph.from_edges(sources, targets, vertices=n, **options)
    yield "from_edges with weights", spargo.Graph.from_edges(sources, targets, np.ones(len(pairs)), vertices=n, **options)
    yield "from_scipy", spargo.Graph.from_scipy(a, **options)
    yield "from_scipy of a triangle", spargo.Graph.from_scipy(a if directed else sparse.triu(a), **options)
    yield "from_networkx", spargo.Graph.from_networkx(theirs)
    yield "read", spargo.Graph.read(path, **options)
    yield "read a matrix", spargo.Graph.read(matrix, **options)
    yield "pairs", spargo.Graph(pairs, **options)
    yield "matrix", spargo.Graph(a, **options)
    spargo.save(tmp_path / "a.spg", spargo.Graph.from_edges(sources, targets, vertices=n, **options))
    yield "snapshot", spargo.Graph.read(tmp_path / "a.spg")
    yield "networkx", theirs


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_self_loops_are_the_same_at_every_door(seed, directed, tmp_path):
    rng = np.random.default_rng(seed)
    n = 12
    pairs = [(v, (v + 1) % n) for v in range(n)] + [tuple(rng.integers(0, n, 2).tolist()) for _ in range(20)]
    pairs += [(v, v) for v in rng.integers(0, n, 3).tolist()] + [(0, 0), (0, 0)]
    graphs = dict(doors(pairs, n, directed, tmp_path))
    theirs = graphs.pop("networkx")
    want = np.array(list(nx.pagerank(theirs, tol=1e-13, max_iter=1000, backend="networkx").values()))
    plain = theirs.copy()
    plain.remove_edges_from(list(nx.selfloop_edges(theirs)))
    without = dict(doors(list(plain.edges), n, directed, tmp_path))["from_networkx"]
    for name, g in graphs.items():
        assert g.edges == theirs.number_of_edges(), name
        np.testing.assert_allclose(g.pagerank(tolerance=1e-14).ranks, want, atol=1e-12, err_msg=name)
        assert g.communities("cdlp")[1].tolist() == without.communities("cdlp")[1].tolist(), name
        assert g.triangles().total == without.triangles().total
        np.testing.assert_allclose(g.betweenness(), without.betweenness(), err_msg=name)
        np.testing.assert_array_equal(g.clustering(), without.clustering())
        np.testing.assert_array_equal(g.bfs(3).levels, without.bfs(3).levels)
        np.testing.assert_array_equal(g.sssp(3).distances, without.sssp(3).distances)


def test_a_loop_counts_for_pagerank():
    g = spargo.Graph([(0, 1), (1, 2), (2, 0), (1, 1)])
    np.testing.assert_allclose(g.pagerank(tolerance=1e-14).ranks, [0.265920, 0.480056, 0.254024], atol=1e-6)


def test_tiny_personalizations_are_distributions():
    g = spargo.Graph.from_edges([0, 1, 2], [1, 2, 3])
    want = g.pagerank(personalization=[1, 0, 0, 0]).ranks
    for tiny in (1e-300, 1e-200, 1e200, 1e300):
        np.testing.assert_allclose(g.pagerank(personalization=[tiny, 0, 0, 0]).ranks, want, rtol=1e-12)
        np.testing.assert_allclose(g.pagerank(personalization=[tiny] * 4, guess=[tiny] * 4).ranks.sum(), 1)
    for bad in (1e-310, 5e-324, 1e308):
        for name in ("personalization", "guess"):
            with pytest.raises(spargo.Error, match="sum to"):
                g.pagerank(**{name: [bad] * 4})


def test_back_to_networkx():
    rng = np.random.default_rng(3)
    for kind in (nx.Graph, nx.DiGraph):
        g = kind()
        g.add_nodes_from([("x", 1), "y", 7])
        g.add_weighted_edges_from((["a", 5, "y", ("x", 1)][i], ["y", 7, "c"][j], w) for i, j, w in rng.integers(0, 3, (8, 3)).tolist())
        g.add_edge("y", "y", weight=4)
        back = spargo.Graph.from_networkx(g, weight="weight").to_networkx()
        assert type(back) is kind and nx.utils.graphs_equal(g, back)
    bare = spargo.Graph([("a", "b"), ("b", "c")], directed=False).to_networkx()
    assert sorted(bare.edges(data=True)) == [("a", "b", {}), ("b", "c", {})]


def test_one_is_singular():
    assert repr(spargo.Graph([("a", "b")])) == "<spargo.Graph: 2 vertices, 1 directed edge, on the CPU>"
    assert "1 vertex, 0 undirected edges" in repr(spargo.Graph.from_edges([], [], vertices=1, directed=False))
