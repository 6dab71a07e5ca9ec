import copy
import gzip
import io
import os
import pathlib
import pickle
import threading
import time

import networkx as nx
import numpy as np
import pytest
import spargo
from conftest import address
from scipy import sparse
from test_graph import index_types, of

DATASETS = pathlib.Path(__file__).resolve().parents[3] / "datasets"


# --- How graphs are made ----------------------------------------------------------------------------------------------


@index_types
def test_scipys_arrays_are_taken_without_a_copy(index):
    a = nx.to_scipy_sparse_array(nx.gnm_random_graph(60, 200, seed=1, directed=True), dtype=float, format="csr")
    a.indices, a.indptr = a.indices.astype(index), a.indptr.astype(index)
    g = spargo.Graph.from_scipy(a)
    assert address(g.indices) == address(a.indices) and address(g.offsets) == address(a.indptr)
    assert address(g.weights) == address(a.data) and g.indices.dtype == index
    back = g.to_scipy()
    assert address(back.data) == address(a.data) and address(back.indices) == address(a.indices)
    s = nx.to_scipy_sparse_array(nx.gnm_random_graph(60, 200, seed=1), dtype=float, format="csr")
    for weights in (np.float64, np.float32, np.int32, np.int64):
        s = s.astype(weights)
        u = spargo.Graph.from_scipy(s, directed=False)
        assert address(u.indices) == address(s.indices) and address(u.weights) == address(s.data) and u.edges == 200


def test_what_is_not_symmetric_is_mirrored():
    for dtype in (np.float64, np.int64):
        a = sparse.csr_array(np.array([[1, 5, 0], [3, 0, 0], [0, 2, 0]], dtype=dtype))
        g = spargo.Graph.from_scipy(a, directed=False)
        assert g.edges == 3 and g.to_scipy().toarray().tolist() == [[1, 3, 0], [3, 0, 2], [0, 2, 0]]
    pattern = spargo.Graph.from_scipy(a, directed=False, weights=False)
    assert pattern.weights is None and pattern.edges == 3
    with pytest.raises(NotImplementedError):
        spargo.Graph.from_scipy(a.astype(complex))
    with pytest.raises(spargo.Error):
        spargo.Graph.from_scipy(sparse.csr_array((2, 3)))
    a.indices[0] = 17
    with pytest.raises(spargo.Error):
        spargo.Graph.from_scipy(a)


def test_from_edges():
    g = spargo.Graph.from_edges([3, 1, 1, 1], [1, 3, 2, 1], [4, 2, 7, 1], directed=False)
    assert g.edges == 3 and g.vertices == 4 and g.weights.tolist() == [1, 7, 2, 7, 2]
    assert spargo.Graph.from_edges([0, 0], [1, 1], [4, 2], duplicates="sum").weights.tolist() == [6]
    assert spargo.Graph.from_edges([0], [1], vertices=9).vertices == 9
    assert spargo.Graph.from_edges(np.array([0], np.int32), np.array([1], np.int64)).indices.dtype == np.int64
    assert spargo.Graph.from_edges(np.array([0], np.int32), np.array([1], np.int32)).indices.dtype == np.int32
    assert spargo.Graph.from_edges(np.array([0], np.uint8), np.array([1], np.uint64)).edges == 1
    for bad in (([0], [1, 2]), ([-1], [0]), ([0.5], [1])):
        with pytest.raises(spargo.Error):
            spargo.Graph.from_edges(*bad)
    with pytest.raises(spargo.Error):
        spargo.Graph.from_edges([0], [1], [1.0, 2.0])
    with pytest.raises(spargo.Error):
        spargo.Graph.from_edges([0], [5], vertices=5)
    with pytest.raises(NotImplementedError):
        spargo.Graph.from_edges([0], [1], [1j])
    with pytest.raises(ValueError, match="'min', 'max', 'sum', 'first'"):
        spargo.Graph.from_edges([0], [1], [1], duplicates="last")


def test_from_networkx():
    for kind in (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph):
        g = kind([("a", "b"), ("c", "a"), ("b", "c"), ("a", "b"), ("b", "b")])
        g.add_edge("a", "c", weight=2.5)
        graph = spargo.Graph.from_networkx(g, weight="weight")
        assert graph.nodes == list(g) and graph.directed == g.is_directed()
        assert graph.edges == g.number_of_edges()
        want = nx.to_scipy_sparse_array(g).toarray()
        np.testing.assert_array_equal(graph.to_scipy().toarray(), want)
        assert graph.index("c") == 2 and graph.names(np.array([2, 0])) == ["c", "a"]
    assert spargo.Graph.from_networkx(nx.Graph()).vertices == 0
    strings = nx.Graph()
    strings.add_edge(0, 1, weight="heavy")
    with pytest.raises(NotImplementedError):
        spargo.Graph.from_networkx(strings, weight="weight")


def test_read(tmp_path):
    karate = spargo.Graph.read(DATASETS / "karate.el", directed=False)
    assert karate.vertices == 34 and karate.edges == 78 and karate.triangles().total == 45
    assert karate.nodes.tolist() == list(range(1, 35))
    want = nx.read_edgelist(DATASETS / "karate.el", nodetype=int)
    got = karate.to_scipy()
    assert {frozenset((int(karate.nodes[i]), int(karate.nodes[j]))) for i, j in zip(*got.nonzero())} == set(map(frozenset, want.edges))
    town = spargo.Graph.read(DATASETS / "town.gr")
    assert town.directed and town.weights is not None
    assert spargo.Graph.read(DATASETS / "town.gr", weights=False).weights is None
    petersen = spargo.Graph.read(DATASETS / "petersen.mtx")
    assert nx.is_isomorphic(nx.Graph(petersen.to_scipy()), nx.petersen_graph()) and not petersen.directed
    both = spargo.Graph.read(DATASETS / "petersen.mtx", directed=True)
    assert both.directed and both.edges == 30
    metis = io.StringIO("3 2\n2\n1 3\n2\n")
    metis.name = "a.metis"
    path = tmp_path / "path.graph"
    path.write_text(metis.getvalue())
    assert spargo.Graph.read(path).edges == 2
    grid = spargo.Graph.read("gen:grid2d:n=5")
    assert not grid.directed and grid.edges == 40 and grid.vertices == 25
    assert spargo.Graph.read("gen:rmat:scale=5,degree=4").directed
    snapshot = tmp_path / "k.spg"
    spargo.save(snapshot, karate)
    assert not spargo.Graph.read(snapshot).directed and spargo.Graph.read(snapshot).edges == 78
    spargo.save(snapshot, both)
    assert spargo.Graph.read(snapshot, directed=False).edges == 15
    assert spargo.Graph.read(gzip.open(_gzipped(tmp_path, "1 2\n2 3\n"))).edges == 2
    with pytest.raises(spargo.Error) as caught:
        spargo.Graph.read(io.StringIO("1 2\n1 x\n"))
    assert caught.value.line == 2 and caught.value.file == "<StringIO>"


def _gzipped(folder, text):
    with gzip.open(folder / "a.gz", "wt") as f:
        f.write(text)
    return folder / "a.gz"


def test_what_is_no_vertex_is_refused():
    g = spargo.Graph.from_edges([0, 1], [1, 2])
    for call in (
        lambda: g.bfs(3), lambda: g.bfs(-1), lambda: g.bfs(0.5), lambda: g.sssp(3), lambda: g.bfs_order(9),
        lambda: g.bfs(0, target=3), lambda: g.multi_bfs([0, 3]), lambda: g.betweenness([-1]), lambda: g.neighbours(3),
        lambda: g.communities("cdlp", initial=[0, 1, 3]), lambda: g.communities("cdlp", initial=[0]), lambda: g.pagerank(damping=1.5),
        lambda: g.pagerank(personalization=[1, 2]), lambda: g.bfs(0, algorithm="magic"), lambda: g.sssp(0, cutoff=-1),
    ):
        with pytest.raises(ValueError):
            call()
    with pytest.raises(NotImplementedError):
        g.pagerank(dtype=np.int32)
    with pytest.raises(TypeError):
        spargo.Graph()


def test_pickle_copy_and_texts():
    for g in (of(nx.path_graph(5)), spargo.Graph.from_edges([0], [1], [2.5]), spargo.Graph.from_networkx(nx.path_graph(3))):
        g.bfs(0)
        for other in (pickle.loads(pickle.dumps(g)), copy.copy(g), copy.deepcopy(g)):
            assert other.bfs(0).levels.tolist() == g.bfs(0).levels.tolist() and other.directed == g.directed
            assert (other.weights is None) == (g.weights is None)
            assert list(other.nodes or []) == list(g.nodes or [])
        assert "<svg" in g._repr_html_() and f"{g.vertices} vertices" in repr(g)
    assert "1 directed edge with weights of float64" in repr(spargo.Graph.from_edges([0], [1], [2.5]))


def test_results_outlive_graph_and_plan():
    g = spargo.Graph.from_edges([0, 1], [1, 2])
    first = g.bfs(0)
    levels = first.levels.copy()
    g.bfs(2)
    del g
    np.testing.assert_array_equal(first.levels, levels)


# --- Threads ----------------------------------------------------------------------------------------------------------


def counted(work):
    """How often another thread comes to count while `work` runs, per second of it."""
    count, stop = [0], threading.Event()

    def tick():
        while not stop.is_set():
            count[0] += 1
            time.sleep(0.0005)

    thread = threading.Thread(target=tick)
    thread.start()
    time.sleep(0.01)
    before, began = count[0], time.perf_counter()
    work()
    ended, after = time.perf_counter(), count[0]
    stop.set()
    thread.join()
    return (after - before) / (ended - began), ended - began


def test_the_interpreters_lock_is_released(tmp_path):
    g = spargo.Graph.read("gen:rmat:scale=15,degree=16,seed=1", directed=False)
    big = spargo.generate("gen:rmat:scale=16,degree=16,seed=1")
    path = tmp_path / "big.mtx"
    calls = {
        "mmwrite": lambda: spargo.mmwrite(path, big, symmetry="general"),
        "mmread": lambda: [spargo.mmread(path) for _ in range(3)],
        "betweenness": lambda: g.betweenness(np.arange(20)),
        "triangles": g.triangles,
        "pagerank": lambda: g.pagerank(tolerance=1e-14, max_iterations=100, algorithm="jacobi"),
        "to csr": lambda: [spargo.Matrix(big)._csr_arrays() for _ in range(4)],
        "multi_bfs": lambda: g.multi_bfs(np.arange(300), levels=False),
        "communities": lambda: g.communities("cdlp", iterations=20),
        "sssp": lambda: [g.sssp(v) for v in range(8)],
    }
    with spargo.config(threads=1):
        for name, call in calls.items():
            tries = [counted(call) for _ in range(3)]  # the other thread may be late on a busy machine
            assert any(took < 0.02 or rate > 100 for rate, took in tries), (name, tries)


def test_threads_share_a_graph():
    g = spargo.Graph.read("gen:rmat:scale=15,degree=16,seed=1", directed=False)
    want = [g.bfs(s).levels for s in range(8)]
    wrong = []

    def search(s):
        for _ in range(20):
            if not np.array_equal(g.bfs(s).levels, want[s]):
                wrong.append(s)

    threads = [threading.Thread(target=search, args=(s,)) for s in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_config_is_of_the_block_and_the_thread():
    from spargo import _config

    seen = []
    with spargo.config(threads=3):
        with spargo.config(device="cpu"):
            assert _config.threads() == 3
        thread = threading.Thread(target=lambda: seen.append(_config.threads()))
        thread.start()
        thread.join()
    assert _config.threads() == 0 and seen == [0]
    for bad in (dict(threads=-1), dict(threads=5000), dict(device="abacus"), dict(arrays="lists")):
        with pytest.raises(ValueError):
            spargo.config(**bad)
    assert spargo.devices()[0].name == "cpu"


def test_after_fork():
    g = spargo.Graph.read("gen:rmat:scale=12,degree=8,seed=1", directed=False)
    want = g.pagerank().ranks.sum()
    child = os.fork()
    if child == 0:
        os._exit(0 if abs(g.pagerank().ranks.sum() - want) < 1e-6 else 1)
    assert os.waitpid(child, 0)[1] == 0
