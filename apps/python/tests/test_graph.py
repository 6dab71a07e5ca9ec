import copy
import gzip
import io
import math
import os
import pathlib
import pickle
import threading
import time

import networkx as nx
import numpy as np
import pytest
import spargo
from conftest import INDICES, address
from scipy import sparse

DATASETS = pathlib.Path(__file__).resolve().parents[3] / "datasets"


def cases():
    """Adversarial shapes and random graphs, of networkx."""
    yield "empty", nx.Graph()
    yield "one", nx.empty_graph(1)
    yield "no edges", nx.empty_graph(40)
    yield "path", nx.path_graph(257)
    yield "star", nx.star_graph(255)
    yield "complete", nx.complete_graph(33)
    yield "grid", nx.convert_node_labels_to_integers(nx.grid_2d_graph(9, 13))
    yield "two", nx.disjoint_union(nx.cycle_graph(31), nx.complete_graph(5))
    for seed in range(4):
        yield f"gnm {seed}", nx.gnm_random_graph(150, [100, 300, 700, 3000][seed], seed=seed)
        yield f"directed {seed}", nx.gnm_random_graph(150, [100, 300, 700, 3000][seed], seed=seed, directed=True)
    yield "scale free", nx.DiGraph(nx.scale_free_graph(300, seed=1))


GRAPHS = dict(cases())
CASES = pytest.mark.parametrize("g", GRAPHS.values(), ids=GRAPHS.keys())
NONEMPTY = {k: g for k, g in GRAPHS.items() if len(g) > 0}
SOURCED = pytest.mark.parametrize("g", NONEMPTY.values(), ids=NONEMPTY.keys())
index_types = pytest.mark.parametrize("index", INDICES)


def of(g, index=np.int32, weights=None):
    """By way of the arrays, so that indices have the type asked for."""
    a = nx.to_scipy_sparse_array(g, format="csr", weight=None) if len(g) else sparse.csr_array((0, 0))
    a.indices, a.indptr = a.indices.astype(index), a.indptr.astype(index)
    return spargo.Graph.from_scipy(a, directed=g.is_directed(), weights=False)


def weighted(g, dtype):
    rng = np.random.default_rng(5)
    g = g.copy()
    for u, v in g.edges:
        g[u][v]["weight"] = int(rng.integers(0, 9)) if np.dtype(dtype).kind == "i" else float(dtype(rng.random()))
    return g


@SOURCED
@index_types
def test_bfs(g, index):
    graph = of(g, index)
    for source in {0, len(g) // 2, len(g) - 1}:
        want = nx.single_source_shortest_path_length(g, source)
        for options in ({}, {"in_edges": False}, {"in_edges": True}, {"algorithm": "direction_optimizing"}, {"parents": "smallest"}):
            found = graph.bfs(source, **options)
            assert found.parents.dtype == index and found.reached == len(want)
            assert {v: d for v, d in enumerate(found.levels.tolist()) if d >= 0} == want
            assert found.level_sizes.tolist() == np.bincount(list(want.values())).tolist()
            for v, p in enumerate(found.parents.tolist()):
                if v not in want:
                    assert p == -1
                elif v == source:
                    assert p == source
                else:
                    assert g.has_edge(p, v) and want[p] == want[v] - 1
                    if options.get("parents") == "smallest":
                        assert p == min(u for u in (g.pred[v] if g.is_directed() else g[v]) if want.get(u) == want[v] - 1)
        limited = graph.bfs(source, max_depth=2, parents=None)
        assert limited.parents is None
        assert {v for v, d in enumerate(limited.levels.tolist()) if d >= 0} == {v for v, d in want.items() if d <= 2}
        target = max(want, key=want.get)
        assert graph.bfs(source, target=target).levels[target] == want[target]


@SOURCED
@index_types
def test_bfs_order_is_networkxs(g, index):
    ordered = g.__class__()
    ordered.add_nodes_from(range(len(g)))
    ordered.add_edges_from(sorted(g.edges))
    graph = of(g, index)
    adjacency = {v: sorted(g[v]) for v in g}
    for source in {0, len(g) - 1}:
        edges = list(nx.generic_bfs_edges(g, source, lambda v: iter(adjacency[v])))
        order, predecessors = graph.bfs_order(source)
        assert order.tolist() == [source] + [v for _, v in edges]
        assert {v: p for v, p in enumerate(predecessors.tolist()) if p >= 0} == {v: u for u, v in edges}


@SOURCED
@index_types
def test_multi_bfs(g, index):
    graph = of(g, index)
    sources = np.arange(0, len(g), 3)
    sources = np.append(sources, sources[:1])
    found = graph.multi_bfs(sources)
    assert found.levels.shape == (sources.size, len(g))
    for k, s in enumerate(sources.tolist()):
        want = nx.single_source_shortest_path_length(g, s)
        assert {v: d for v, d in enumerate(found.levels[k].tolist()) if d >= 0} == want
        assert found.reached[k] == len(want)
        assert found.distance_sums[k] == sum(want.values()) and found.eccentricities[k] == max(want.values())
    assert graph.multi_bfs(sources, levels=False).levels is None
    assert graph.multi_bfs([]).levels.shape == (0, len(g))


@SOURCED
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
def test_sssp(g, dtype):
    g = weighted(g, dtype)
    a = nx.to_scipy_sparse_array(g, dtype=dtype, format="csr")
    for index in INDICES:
        a.indices, a.indptr = a.indices.astype(index), a.indptr.astype(index)
        graph = spargo.Graph.from_scipy(a, directed=g.is_directed())
        assert graph.weights is None or graph.weights.dtype == dtype
        source = len(g) // 2
        want = nx.single_source_dijkstra_path_length(g, source)
        unreached = np.iinfo(np.int64).max if np.dtype(dtype).kind == "i" else np.inf
        for algorithm in ("automatic", "dijkstra", "delta_stepping"):
            found = graph.sssp(source, algorithm=algorithm)
            got = {v: d for v, d in enumerate(found.distances.tolist()) if d != unreached}
            assert got.keys() == want.keys() and found.reached == len(want)
            for v, d in got.items():
                assert d == pytest.approx(want[v], rel=1e-12)
                p = int(found.parents[v])
                assert p == source if v == source else got[p] + g[p][v]["weight"] == d
        half = sorted(want.values())[len(want) // 2]
        found = graph.sssp(source, cutoff=half, parents=None)
        assert {v for v, d in enumerate(found.distances.tolist()) if d != unreached} == {v for v, d in want.items() if d <= half}


def test_sssp_refuses_negative_weights():
    with pytest.raises(spargo.Error, match="-1"):
        spargo.Graph.from_edges([0], [1], [-1]).sssp(0)
    assert spargo.Graph.from_edges([0, 1], [1, 2]).sssp(0).distances.tolist() == [0, 1, 2]


@pytest.mark.parametrize("weight, power", [(2**62, 63), (2**63 - 1, 63), (1e308, 1024)])
@pytest.mark.parametrize("algorithm", ["dijkstra", "delta_stepping"])
def test_sssp_refuses_paths_beyond_its_distances(weight, power, algorithm):
    """They would look like vertices out of reach."""
    path = spargo.Graph.from_edges([0, 1, 2, 5], [1, 2, 3, 6], [weight] * 4)
    farthest = 0 if weight == 2**63 - 1 else 1  # whose distance there is
    for options in ({}, {"target": 3}, {"target": farthest + 1}, {"target": 6}, {"parents": None}, {"cutoff": math.inf}):
        with pytest.raises(NotImplementedError, match=rf"vertex {farthest + 1} is farther than .*2\^{power}"):
            path.sssp(0, algorithm=algorithm, **options)
    for options in ({"target": farthest}, {"cutoff": farthest * weight}):
        found = path.sssp(0, algorithm=algorithm, **options)
        assert found.reached == farthest + 1 and found.distances[farthest] == farthest * weight
    assert farthest == 0 or path.sssp(2, algorithm=algorithm).reached == 2
    assert path.sssp(3, algorithm=algorithm).reached == 1
    far = spargo.csgraph.shortest_path(path.to_scipy(), indices=0) if power == 63 else None
    assert far is None or far[:4].tolist() == [k * float(weight) for k in range(4)]


def test_edges_of_infinite_length_join_nothing():
    g = spargo.Graph.from_edges([0, 1, 0], [1, 2, 3], [1e308, np.inf, 1.0])
    assert g.sssp(0).distances.tolist() == [0, 1e308, np.inf, 1]


@CASES
@index_types
def test_components(g, index):
    graph = of(g, index)
    weak = list(nx.weakly_connected_components(g) if g.is_directed() else nx.connected_components(g))
    strong = list(nx.strongly_connected_components(g)) if g.is_directed() else weak
    for connection, want in (("weak", weak), ("strong", strong)):
        count, labels = graph.connected_components(connection=connection)
        assert count == len(want) and labels.dtype == index and labels.shape == (len(g),)
        assert {frozenset(np.flatnonzero(labels == k).tolist()) for k in range(count)} == set(map(frozenset, want))
        _, smallest = graph.connected_components(connection=connection, labels="smallest_vertex")
        assert smallest.tolist() == [min(next(c for c in want if v in c)) for v in range(len(g))]


@CASES
@index_types
def test_pagerank(g, index):
    graph = of(g, index)
    want = nx.pagerank(g, tol=1e-12, max_iter=1000)
    for options in ({}, {"algorithm": "jacobi"}, {"dtype": np.float32, "tolerance": 1e-5}):
        found = graph.pagerank(**{"tolerance": 1e-11, **options})
        assert found.converged and found.ranks.dtype == options.get("dtype", np.float64)
        np.testing.assert_allclose(found.ranks, [want[v] for v in g], atol=1e-9 if not options.get("dtype") else 1e-4)
    if len(g) > 2:
        person = {0: 2.0, len(g) - 1: 1.0}
        want = nx.pagerank(g, 0.7, personalization=person, tol=1e-12, max_iter=1000)
        found = graph.pagerank(damping=0.7, personalization=[person.get(v, 0) for v in g], tolerance=1e-11)
        np.testing.assert_allclose(found.ranks, [want[v] for v in g], atol=1e-9)
        assert graph.pagerank(iterations=3, algorithm="jacobi").iterations == 3


@CASES
def test_betweenness(g):
    graph = of(g)
    for normalized in (True, False):
        for endpoints in (True, False):
            want = nx.betweenness_centrality(g, normalized=normalized, endpoints=endpoints)
            got = graph.betweenness(normalization="pairs" if normalized else "none", endpoints=endpoints)
            np.testing.assert_allclose(got, [want[v] for v in g], rtol=1e-9, atol=1e-12)
    if len(g) > 3:
        want = nx.betweenness_centrality_subset(g, [0, 2], list(g))  # of undirected graphs halved
        want = {v: b if g.is_directed() else 2 * b for v, b in want.items()}
        np.testing.assert_allclose(graph.betweenness([0, 2], normalization="none"), list(want.values()), rtol=1e-9)
        want = nx.edge_betweenness_centrality_subset(g, [0, 2], list(g))  # halved, too
        by_edge = graph.edge_betweenness([0, 2], normalization="none")
        rows = np.repeat(np.arange(len(g)), np.diff(graph.offsets))
        got = sparse.csr_array((by_edge, (rows, graph.indices)), shape=(len(g), len(g))).toarray()
        if not g.is_directed():
            got = (got + got.T) / 2
        place = {v: i for i, v in enumerate(g)}
        for (u, v), value in want.items():
            assert got[place[u], place[v]] == pytest.approx(value)


@CASES
def test_triangles_and_clustering(g):
    graph = of(g)
    simple = nx.Graph(g)
    found = graph.triangles()
    assert found.per_vertex.tolist() == list(nx.triangles(simple).values()) and 3 * found.total == found.per_vertex.sum()
    assert found.degrees.tolist() == [simple.degree(v) - simple.has_edge(v, v) * 2 for v in simple]
    np.testing.assert_allclose(graph.clustering(), list(nx.clustering(simple).values()))
    assert graph.transitivity() == pytest.approx(nx.transitivity(simple))
    if g.is_directed():
        for v, c in enumerate(graph.clustering(directed=True).tolist()):
            around = (set(g.pred[v]) | set(g[v])) - {v}
            links = sum(g.has_edge(a, b) for a in around for b in around if a != b)
            assert c == pytest.approx(links / (len(around) * (len(around) - 1)) if len(around) > 1 else 0)


@CASES
def test_communities(g):
    labels = list(range(len(g)))
    for _ in range(3):
        after = []
        for v in g:
            near = [*g[v], *(g.pred[v] if g.is_directed() else [])]
            votes = [labels[u] for u in near if u != v]
            after.append(min(votes, key=lambda x: (-votes.count(x), x)) if votes else labels[v])
        labels = after
    count, got, *_ = of(g).communities("cdlp", iterations=3)
    assert got.tolist() == labels and count == len(set(labels))
    if len(g) > 2:
        once = of(g).communities("cdlp", iterations=1)[1]
        assert of(g).communities("cdlp", iterations=2, initial=once)[1].tolist() == labels


def split_by(labels):
    return [set(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)]


@CASES
@pytest.mark.parametrize("method", ["louvain", "leiden"])
def test_modularity_communities(g, method):
    for resolution in (1, 0.4):
        found = of(g).communities(method, resolution=resolution)
        parts = split_by(found.labels)
        assert found.count == len(parts) and all(found.labels[min(part)] == min(part) for part in parts)
        if g.number_of_edges() > 0:
            assert found.modularity == pytest.approx(nx.community.modularity(g, parts, resolution=resolution), abs=1e-9)
        if method == "leiden":
            assert all(nx.is_connected(nx.Graph(g.subgraph(part))) for part in parts)
    if len(g) > 0:
        again = of(g).communities(method, resolution=resolution, seed=1)
        assert again.labels.tolist() == found.labels.tolist()


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
def test_weighted_communities(dtype):
    g = weighted(nx.karate_club_graph(), dtype)
    ours = spargo.Graph.from_networkx(g, weight="weight")
    ours = spargo.Graph.from_scipy(ours.to_scipy().astype(dtype), directed=False)
    found = ours.communities()
    assert found.modularity == pytest.approx(nx.community.modularity(g, split_by(found.labels)), abs=1e-9)
    without = ours.communities(weights=False)
    assert without.modularity == pytest.approx(0.41978961, abs=1e-8)
    cpm = ours.communities(objective="cpm", resolution=1e9)
    assert cpm.count == len(g)


def test_communities_that_are_refused():
    g = spargo.Graph.from_edges([0, 1], [1, 2], [1.0, -1.0], directed=False)
    with pytest.raises(spargo.Error, match=r"communities: edge \(1, 2\) has weight -1"):
        g.communities()
    with pytest.raises(ValueError, match="method is 'walktrap', and may be one of 'cdlp', 'louvain', 'leiden'"):
        g.communities("walktrap")
    with pytest.raises(spargo.Error, match="resolution -1"):
        g.communities(weights=False, resolution=-1)
    with pytest.raises(spargo.Error, match="0 levels"):
        g.communities(weights=False, max_levels=0)


@CASES
def test_cores(g):
    simple = type(g)(g)
    simple.remove_edges_from(list(nx.selfloop_edges(simple)))
    if simple.is_multigraph():  # which networkx refuses
        simple = (nx.DiGraph if g.is_directed() else nx.Graph)(simple)
        graph = of(simple)
    else:
        graph = of(g)
    want = nx.core_number(simple)
    assert dict(zip(graph.names(range(graph.vertices)), graph.core_numbers().tolist())) == want
    for k in (None, 0, 1, 2, 100):
        core = graph.k_core(k)
        least = max(want.values(), default=0) if k is None else k
        assert core.names(range(core.vertices)) == [v for v in simple if want[v] >= least]
        ends = zip(core.names(core._sources()), core.names(core.indices))
        assert {frozenset(e) for e in ends if len(set(e)) > 1} == {frozenset(e) for e in nx.k_core(simple, least).edges}
    with pytest.raises(spargo.Error, match="k_core: k"):
        graph.k_core(-1)
    with pytest.raises(spargo.Error, match="unknown algorithm"):
        graph.core_numbers(algorithm="bucket")


@CASES
def test_trusses(g):
    graph = of(g)
    if g.is_directed():
        with pytest.raises(NotImplementedError, match="directed"):
            graph.trusses()
        return
    simple = nx.Graph(g)
    simple.remove_edges_from(list(nx.selfloop_edges(simple)))
    found = graph.trusses()
    numbers = {frozenset(e): k for *e, k in zip(graph.names(found.sources), graph.names(found.targets), found.numbers.tolist())}
    assert set(numbers) == {frozenset(e) for e in simple.edges} and np.all(found.sources < found.targets)
    assert found.max_k == max(numbers.values(), default=0)
    for k in range(2, found.max_k + 2):
        want = nx.k_truss(simple, k)
        assert {e for e, number in numbers.items() if number >= k} == {frozenset(e) for e in want.edges}
        truss = graph.k_truss(k)
        assert truss.names(range(truss.vertices)) == [v for v in simple if v in want]
        ends = zip(truss.names(truss._sources()), truss.names(truss.indices))
        assert {frozenset(e) for e in ends} == {frozenset(e) for e in want.edges}
    with pytest.raises(spargo.Error, match="k_truss: k"):
        graph.k_truss(1)
    with pytest.raises(spargo.Error, match="unknown algorithm"):
        graph.trusses(algorithm="bucket")


@CASES
def test_spanning_forest(g):
    graph = of(g)
    if g.is_directed():
        with pytest.raises(NotImplementedError, match="directed"):
            graph.spanning_forest()
        return
    rng = np.random.default_rng(5)
    for maximum in (False, True):
        for u, v, d in g.edges(data=True):
            d["w"] = float(rng.integers(-5, 5)) / 2
        weighted = spargo.Graph.from_networkx(g, weight="w")
        found = weighted.spanning_forest(maximum=maximum)
        tree = (nx.maximum_spanning_tree if maximum else nx.minimum_spanning_tree)(g, weight="w")
        assert found.total_weight == tree.size("w") == found.weights.sum()
        assert found.sources.size == tree.number_of_edges() and np.all(found.sources < found.targets)
        assert found.trees == nx.number_connected_components(g)
        again = weighted.spanning_forest(maximum=maximum, algorithm="kruskal")
        assert np.array_equal(again.sources, found.sources) and np.array_equal(again.targets, found.targets)
    assert graph.spanning_forest().total_weight == nx.minimum_spanning_tree(g, weight=None).number_of_edges()
    with pytest.raises(spargo.Error, match="unknown algorithm"):
        graph.spanning_forest(algorithm="prim")


def test_spanning_forest_and_nan():
    g = spargo.Graph.from_edges([0, 1, 0], [1, 2, 2], [1.0, np.nan, 3.0], directed=False)
    with pytest.raises(spargo.Error, match=r"edge \(1, 2\) has weight NaN"):
        g.spanning_forest()
    assert g.spanning_forest(ignore_nan=True).total_weight == 4


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
