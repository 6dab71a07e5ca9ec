"""Graphs on a GPU, beside those on the CPU."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
import spargo
from gpu_libraries import CuPy

GRAPHS = ["gen:rmat:scale=10,degree=8,seed=1", "gen:grid2d:n=30", "gen:uniform:rows=1000,degree=1,seed=2"]


def pair(spec, directed):
    return spargo.Graph.read(spec, directed=directed), spargo.Graph.read(spec, directed=directed, device="cuda")


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("spec", GRAPHS)
def test_graphs_are_the_cpus(gpu, spec, directed):
    here, there = pair(spec, directed)
    assert there.device == gpu and "on cuda:0" in repr(there)
    assert (there.vertices, there.edges) == (here.vertices, here.edges)
    np.testing.assert_array_equal(there.offsets, here.offsets)
    np.testing.assert_array_equal(there.indices, here.indices)
    for source in (0, 5, here.vertices - 1):
        for _ in range(2):
            got, want = there.bfs(source, parents="smallest"), here.bfs(source, parents="smallest")
            assert type(got.levels) is np.ndarray and got.levels.dtype == np.int32 and got.parents.dtype == here.indices.dtype
            np.testing.assert_array_equal(got.levels, want.levels)
            np.testing.assert_array_equal(got.parents, want.parents)
            np.testing.assert_array_equal(got.level_sizes, want.level_sizes)
            assert got.reached == want.reached
    assert there.bfs(0, parents=None).parents is None
    np.testing.assert_array_equal(there.bfs(0, max_depth=2).levels, here.bfs(0, max_depth=2).levels)
    for dtype, apart in ((np.float64, 1e-12), (np.float32, 1e-5)):
        got, want = (g.pagerank(iterations=20, algorithm="jacobi", dtype=dtype) for g in (there, here))
        assert got.ranks.dtype == dtype and got.iterations == 20
        np.testing.assert_allclose(got.ranks, want.ranks, atol=apart)
    weights = np.arange(here.vertices) % 3
    got, want = (g.pagerank(tolerance=1e-10, personalization=weights) for g in (there, here))
    assert got.converged
    np.testing.assert_allclose(got.ranks, want.ranks, atol=1e-9)
    for labels in ("dense", "smallest_vertex"):
        got, want = (g.connected_components(labels=labels) for g in (there, here))
        assert got[0] == want[0]
        np.testing.assert_array_equal(got[1], want[1])
    got, want = (g.multi_bfs([0, 7, 7, 3]) for g in (there, here))
    for a, b in zip(got, want):
        np.testing.assert_array_equal(a, b)
    got, want = (g.communities("cdlp", iterations=5) for g in (there, here))
    assert got[0] == want[0]
    np.testing.assert_array_equal(got[1], want[1])


def test_results_are_of_the_library_of_the_graph(xp):
    a = spargo.Graph.read(GRAPHS[0], directed=True).to_scipy()
    their, parts = xp.matrix(a)
    g = spargo.Graph.from_scipy(their)
    assert g.device == "cuda:0" and [v.address for v in g._arrays()] == [xp.address(parts[2]), xp.address(parts[1])]
    here = spargo.Graph.from_scipy(a)
    found, ranks, labels = g.bfs(3), g.pagerank(iterations=5), g.connected_components()[1]
    many = g.multi_bfs(xp.to(np.array([1, 2])))
    for got, want in (
        (found.levels, here.bfs(3).levels),
        (labels, here.connected_components()[1]),
        (many.levels, here.multi_bfs([1, 2]).levels),
    ):
        assert isinstance(got, xp.type)
        np.testing.assert_array_equal(xp.back(got), want)
    assert isinstance(found.parents, xp.type) and isinstance(ranks.ranks, xp.type)
    np.testing.assert_allclose(xp.back(ranks.ranks), here.pagerank(iterations=5).ranks, atol=1e-12)
    again = g.bfs(4)  # writes over the plan's arrays, not over the caller's
    np.testing.assert_array_equal(xp.back(found.levels), here.bfs(3).levels)
    np.testing.assert_array_equal(xp.back(again.levels), here.bfs(4).levels)
    guess = g.pagerank(iterations=5, guess=ranks.ranks, personalization=xp.to(np.ones(g.vertices)))
    np.testing.assert_allclose(
        xp.back(guess.ranks), here.pagerank(iterations=5, guess=here.pagerank(iterations=5).ranks).ranks, atol=1e-12
    )
    with spargo.config(arrays="numpy"):
        assert type(g.bfs(3).levels) is np.ndarray
    with spargo.config(arrays="cupy" if isinstance(xp, CuPy) else "torch"):
        assert isinstance(spargo.Graph.read(GRAPHS[1], device="cuda").bfs(0).levels, xp.type)
    np.testing.assert_array_equal(g.weights, here.weights)


def test_how_graphs_are_made(xp, rng):
    a = spargo.Graph.read(GRAPHS[0], directed=True).to_scipy()
    their, _ = xp.matrix(a)
    want = spargo.Graph.from_scipy(a, directed=False)
    for g in (
        spargo.Graph.from_scipy(their, directed=False, weights=False),
        spargo.Graph.from_scipy(their, directed=False),
        spargo.Graph.from_scipy(a, directed=False, device="cuda"),
        spargo.Graph.from_scipy(spargo.Matrix(a, device="cuda"), directed=False, weights=False),
    ):
        assert g.device == "cuda:0" and g.edges == want.edges
        np.testing.assert_array_equal(g.indices, want.indices)
        assert g.bfs(1).reached == want.bfs(1).reached
    assert spargo.Graph.from_scipy(their, device="cpu").device == "cpu"
    with pytest.raises(spargo.UnsupportedError, match="weights of complex128"):
        spargo.Graph.from_scipy(xp.matrix(a.astype(complex))[0])
    for kind in (np.bool_, np.float32) if isinstance(xp, CuPy) else (np.bool_, np.float32, np.int64):
        other = a.astype(kind)
        their, _ = xp.matrix(other)
        for directed in (True, False):
            got, exp = spargo.Graph.from_scipy(their, directed=directed), spargo.Graph.from_scipy(other, directed=directed)
            assert (got.weights is None) == (exp.weights is None) == (kind == np.bool_)
            assert got.weights is None or (got.weights.dtype == kind and (got.weights == exp.weights).all())
            np.testing.assert_array_equal(got.indices, exp.indices)
    ends = rng.integers(0, 100, (2, 500))
    want = spargo.Graph.from_edges(*ends, directed=False)
    for g in (
        spargo.Graph.from_edges(xp.to(ends[0]), xp.to(ends[1]), directed=False),
        spargo.Graph.from_edges(*ends, directed=False, device="cuda"),
        spargo.Graph.from_edges(xp.to(ends[0]), xp.to(ends[1]), xp.to(np.ones(500)), directed=False),
    ):
        assert g.device == "cuda:0" and g.vertices == want.vertices
        np.testing.assert_array_equal(g.indices, want.indices)
    copy = pickle.loads(pickle.dumps(g))
    assert copy.device == "cuda:0" and copy.bfs(0).reached == want.bfs(0).reached
    with pytest.raises(spargo.Error):
        spargo.Graph.from_edges(xp.to(np.array([0, 5])), xp.to(np.array([1, 2])), vertices=3)
    with spargo.config(device="cuda"):
        import networkx as nx

        assert spargo.Graph.from_networkx(nx.path_graph(5)).device == "cuda:0"
        assert nx.pagerank(nx.path_graph(5), backend="spargo").keys() == set(range(5))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("spec", GRAPHS)
def test_shortest_paths_are_the_cpus(gpu, spec, directed, rng):
    pattern = spargo.Graph.read(spec, directed=directed).to_scipy().tocoo()
    for dtype in (np.int32, np.int64, np.float32, np.float64):
        weights = (rng.random(pattern.nnz) * 100).astype(dtype)  # integers of 0, too
        here, there = (
            spargo.Graph.from_edges(pattern.row, pattern.col, weights, directed=directed, device=device)
            for device in ("cpu", gpu)
        )
        for source in (0, 5, 0, here.vertices - 1):
            got, want = there.sssp(source, parents="smallest"), here.sssp(source, parents="smallest")
            assert type(got.distances) is np.ndarray and got.distances.dtype == want.distances.dtype
            np.testing.assert_array_equal(got.distances, want.distances)
            np.testing.assert_array_equal(got.parents, want.parents)
            assert (got.source, got.reached) == (source, want.reached)
        far = float(np.sort(want.distances)[want.reached // 2])
        for options in ({"parents": None}, {"cutoff": far, "parents": "smallest"}, {"target": 3}, {"delta": 10.0}):
            got, want = there.sssp(1, **options), here.sssp(1, **options)
            np.testing.assert_array_equal(got.distances, want.distances)
            assert (got.parents is None) == (options.get("parents", "") is None)
            assert got.reached == want.reached
    here, there = pair(spec, directed)  # 1 for each edge
    np.testing.assert_array_equal(there.sssp(2).distances, here.sssp(2).distances)
    with pytest.raises(spargo.Error, match="-1"):
        spargo.Graph.from_edges([0, 1], [1, 2], [1.0, -1.0], device=gpu).sssp(0)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("spec", GRAPHS)
def test_counts_are_the_cpus(gpu, spec, directed):
    here, there = pair(spec, directed)
    np.testing.assert_array_equal(there.core_numbers(), here.core_numbers())
    got, want = there.triangles(), here.triangles()
    assert type(got.total) is int and got.total == want.total
    assert type(got.per_vertex) is np.ndarray and got.per_vertex.dtype == np.int64
    np.testing.assert_array_equal(got.per_vertex, want.per_vertex)
    np.testing.assert_array_equal(got.degrees, want.degrees)
    for which in (False, True):
        np.testing.assert_allclose(there.clustering(directed=which), here.clustering(directed=which), rtol=1e-14)
    assert there.transitivity() == here.transitivity()
    count, labels = there.connected_components(connection="strong")
    want_count, want_labels = here.connected_components(connection="strong")
    assert count == want_count
    np.testing.assert_array_equal(labels, want_labels)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("spec", GRAPHS)
def test_centralities_are_the_cpus(gpu, spec, directed):
    here, there = pair(spec, directed)
    sources = [0, 1, 5, 5, here.vertices - 1]
    for options in ({}, {"normalization": "none", "endpoints": True}, {"normalization": "maximum"}):
        got, want = there.betweenness(sources, **options), here.betweenness(sources, **options)
        assert type(got) is np.ndarray and got.dtype == np.float64
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-15)
    for normalization in ("none", "pairs"):
        got, want = (g.edge_betweenness(sources, normalization=normalization) for g in (there, here))
        assert got.shape == here.indices.shape
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-15)


def test_of_all_sources(gpu):
    here, there = (spargo.Graph.read("gen:rmat:scale=7,degree=4,seed=3", directed=True, device=d) for d in ("cpu", gpu))
    np.testing.assert_allclose(there.betweenness(), here.betweenness(), rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(there.edge_betweenness(), here.edge_betweenness(), rtol=1e-9, atol=1e-15)


def test_algorithms_return_arrays_of_the_graphs_library(xp):
    a = spargo.Graph.read(GRAPHS[0], directed=False).to_scipy()
    g, here = spargo.Graph.from_scipy(xp.matrix(a)[0]), spargo.Graph.from_scipy(a)
    assert g.device == "cuda:0"
    np.testing.assert_array_equal(xp.back(g.sssp(3).distances), here.sssp(3).distances)
    found, again = g.sssp(3), g.sssp(4)  # writes over the plan's arrays, not over the caller's
    np.testing.assert_array_equal(xp.back(found.distances), here.sssp(3).distances)
    np.testing.assert_array_equal(xp.back(again.distances), here.sssp(4).distances)
    for name in ("betweenness", "edge_betweenness"):
        got, want = (getattr(graph, name)([1, 2]) for graph in (g, here))
        assert isinstance(got, xp.type)
        np.testing.assert_allclose(xp.back(got), want, rtol=1e-9, atol=1e-15)
    got = g.betweenness(xp.to(np.array([1, 2])))
    np.testing.assert_allclose(xp.back(got), here.betweenness([1, 2]), rtol=1e-9, atol=1e-15)
    triangles = g.triangles()
    np.testing.assert_array_equal(xp.back(triangles.per_vertex), here.triangles().per_vertex)
    for array in (found.distances, found.parents, triangles.per_vertex, triangles.degrees, g.clustering()):
        assert isinstance(array, xp.type)
    assert isinstance(g.connected_components(connection="strong")[1], xp.type)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("method", ["rcm", "degree", "rabbit", "random"])
def test_orders_are_the_cpus(gpu, method, directed):
    for spec in GRAPHS:
        here, there = (spargo.reorder(g, method) for g in pair(spec, directed))
        assert type(there) is np.ndarray and there.dtype == here.dtype
        np.testing.assert_array_equal(there, here)


@pytest.mark.parametrize("vertices", [0, 1, 3])
def test_graphs_without_edges(gpu, vertices):
    here, there = (
        spargo.Graph.from_edges([], [], vertices=vertices, directed=False, device=device) for device in ("cpu", gpu)
    )
    assert (there.vertices, there.edges) == (vertices, 0)
    for call in (
        lambda g: g.triangles().per_vertex,
        lambda g: g.clustering(),
        lambda g: g.betweenness(),
        lambda g: g.edge_betweenness(),
        lambda g: g.connected_components()[1],
        lambda g: g.connected_components(connection="strong")[1],
    ):
        np.testing.assert_array_equal(call(there), call(here))
    assert there.transitivity() == 0
    if vertices > 0:
        np.testing.assert_array_equal(there.sssp(0).distances, here.sssp(0).distances)
        assert there.bfs(0).reached == 1


def test_csgraph_takes_graphs_on_a_gpu(xp):
    from spargo import csgraph

    a = spargo.Graph.read(GRAPHS[1]).to_scipy()
    here, there = spargo.Graph.from_scipy(a), spargo.Graph.from_scipy(xp.matrix(a)[0])
    for call in (
        lambda g: csgraph.shortest_path(g, indices=[0, 3]),
        lambda g: csgraph.connected_components(g)[1],
        lambda g: csgraph.breadth_first_order(g, 0)[0],
        lambda g: csgraph.reverse_cuthill_mckee(g),
    ):
        assert type(call(there)) is np.ndarray
        np.testing.assert_array_equal(call(there), call(here))


def test_networkx_takes_graphs_on_a_gpu(xp):
    import networkx as nx

    a = spargo.Graph.read(GRAPHS[2], directed=False).to_scipy()
    here, there = spargo.Graph.from_scipy(a, directed=False), spargo.Graph.from_scipy(xp.matrix(a)[0], directed=False)
    assert there.device == "cuda:0"
    for name, args, options in (
        ("bfs_edges", (0,), {}),
        ("single_source_shortest_path_length", (0,), {}),
        ("bfs_layers", (0,), {}),
        ("connected_components", (), {}),
        ("pagerank", (), {"tol": 1e-14, "max_iter": 1000}),  # the GPU takes other steps to the same ranks
        ("triangles", (), {}),
        ("clustering", (), {}),
        ("single_source_dijkstra_path_length", (0,), {}),
        ("closeness_centrality", (3,), {}),
    ):
        for arrays in (None, "cupy" if isinstance(xp, CuPy) else "torch"):
            with spargo.config(arrays=arrays):
                got, want = (getattr(nx, name)(g, *args, **options) for g in (there, here))
                got, want = (list(found) if hasattr(found, "__next__") else found for found in (got, want))
            assert got == pytest.approx(want, rel=1e-6) if name in ("pagerank", "clustering") else got == want, name
    assert isinstance(there.bfs(0).levels, xp.type)  # still its own


INTERRUPTED = """
import os, signal, threading, time
import numpy as np, spargo
signal.signal(signal.SIGINT, signal.default_int_handler)
g = spargo.Graph.read("gen:rmat:scale=16,degree=16,seed=1", directed=False, device="cuda")
want = g.betweenness([0, 1])
def interrupt():
    time.sleep(0.2)
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)
sent = []
threading.Thread(target=interrupt).start()
try:
    g.betweenness()
    time.sleep(5)
    print("finished")
except KeyboardInterrupt:
    print(time.perf_counter() - sent[0])
assert np.array_equal(g.betweenness([0, 1]), want)
"""


def test_ctrl_c_between_sources(gpu):
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 0.2


def test_what_a_gpu_does_not_do_is_said(gpu):
    g = spargo.Graph.read(GRAPHS[1], device="cuda")
    with pytest.raises(spargo.UnsupportedError, match="Graph.bfs_order: not available on a GPU"):
        g.bfs_order(0)
    with pytest.raises(spargo.UnsupportedError):
        g.connected_components(connection="strong", labels="sinks_first")
    with pytest.raises(spargo.UnsupportedError):
        g.betweenness(algorithm="by_source")
    for call in (g.bfs, g.sssp):
        with pytest.raises(spargo.Error, match="vertex 900 is out of range"):
            call(g.vertices)
