import math
import warnings

import networkx as nx
import numpy as np
import pytest
import spargo
from conftest import INDICES
from scipy import sparse


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


def test_ranks_that_do_not_converge_are_warned_of():
    g = spargo.Graph(nx.karate_club_graph())
    for name, options in (("pagerank", {"max_iterations": 1}), ("eigenvector", {"max_iterations": 1}), ("katz", {"alpha": 5.0}),
                          ("hits", {"max_iterations": 1})):  # fmt: skip
        with pytest.warns(spargo.ConvergenceWarning, match=f"{name}: not converged after [0-9,]+ iterations?: the residual is ") as all:
            assert not getattr(g, name)(**options).converged
        assert len(all) == 1 and all[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        g.pagerank(iterations=1)
        for name in ("pagerank", "eigenvector_centrality", "katz_centrality"):
            with pytest.raises(nx.PowerIterationFailedConvergence):
                getattr(nx, name)(nx.path_graph(9), max_iter=1, tol=1e-12, backend="spargo")


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
