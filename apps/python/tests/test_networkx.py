import networkx as nx
import numpy as np
import pytest
import spargo
from spargo._networkx_rows import ROWS
from spargo.networkx import FUNCTIONS, backend, can_run, should_run


def graphs():
    yield nx.path_graph(6)
    yield nx.DiGraph([(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)])
    yield nx.karate_club_graph()
    yield nx.gnm_random_graph(120, 160, seed=1)
    yield nx.gnm_random_graph(120, 400, seed=2, directed=True)
    yield nx.relabel_nodes(nx.gnm_random_graph(60, 90, seed=3), {v: f"n{v}" for v in range(60)})
    yield nx.MultiGraph([(0, 1), (0, 1), (1, 2), (3, 3), (4, 5)])
    yield nx.MultiDiGraph([(0, 1), (0, 1), (1, 2), (2, 0), (3, 3)])
    yield nx.DiGraph(nx.scale_free_graph(100, seed=2))


CASES = pytest.mark.parametrize("g", list(graphs()), ids=str)


def both(name, g, *args, **kwargs):
    """The function's result by networkx and by us, as far as iterators go."""
    function = getattr(nx, name)
    results = [function(g, *args, backend=b, **kwargs) for b in ("networkx", "spargo")]
    return [list(r) if hasattr(r, "__next__") else r for r in results]


def plain(result):
    """No numpy scalars anywhere."""
    if isinstance(result, dict):
        return all(plain(k) and plain(v) for k, v in result.items())
    if isinstance(result, (list, tuple, set)):
        return all(map(plain, result))
    return not isinstance(result, np.generic)


# nx-cugraph's functions (26.10) but those that make or convert graphs.
NX_CUGRAPH = """
all_pairs_bellman_ford_path all_pairs_bellman_ford_path_length all_pairs_dijkstra all_pairs_dijkstra_path
all_pairs_dijkstra_path_length all_pairs_shortest_path all_pairs_shortest_path_length ancestors average_clustering
bellman_ford_path bellman_ford_path_length betweenness_centrality bfs_edges bfs_layers bfs_predecessors
bfs_successors bfs_tree bidirectional_shortest_path bipartite_betweenness_centrality clustering complement
connected_components core_number degree_centrality descendants descendants_at_distance dijkstra_path
dijkstra_path_length edge_betweenness_centrality ego_graph eigenvector_centrality forceatlas2_layout
generic_bfs_edges has_path hits in_degree_centrality is_arborescence is_branching is_connected is_forest is_isolate
is_negatively_weighted is_tree is_weakly_connected isolates jaccard_coefficient k_truss katz_centrality
leiden_communities louvain_communities lowest_common_ancestor node_connected_component number_connected_components
number_of_isolates number_of_selfloops number_weakly_connected_components out_degree_centrality overall_reciprocity
pagerank reciprocity reverse shortest_path shortest_path_length single_source_bellman_ford
single_source_bellman_ford_path single_source_bellman_ford_path_length single_source_dijkstra
single_source_dijkstra_path single_source_dijkstra_path_length single_source_shortest_path
single_source_shortest_path_length single_target_shortest_path single_target_shortest_path_length transitivity
triangles weakly_connected_components
""".split()


def test_the_functions_of_nx_cugraph_are_there():
    assert len(NX_CUGRAPH) == 76 and not set(NX_CUGRAPH) - set(FUNCTIONS)


def test_the_backend_is_found():
    assert "spargo" in nx.config.backends
    assert all(hasattr(backend, f) and f in nx.utils.backends._registered_algorithms for f in FUNCTIONS)


@CASES
def test_searches(g):
    for source in list(g)[:: max(1, len(g) // 3)]:
        for name in ("bfs_edges", "bfs_predecessors", "bfs_successors"):
            for limit in (None, 0, 1, 2):
                want, got = both(name, g, source, depth_limit=limit)
                assert got == want and plain(got)  # in networkx's order
        for name in ("single_source_shortest_path_length", "single_source_shortest_path", "single_target_shortest_path_length"):
            for cutoff in (None, 0, 1.5, 2):
                want, got = both(name, g, source, cutoff=cutoff)
                assert got == want and plain(got)
        want, got = both("bfs_layers", g, source)
        assert got == want
        for distance in (0, 1, 2, 50):
            want, got = both("descendants_at_distance", g, source, distance)
            assert got == want
    want, got = both("all_pairs_shortest_path_length", g)
    assert dict(got) == dict(want)
    want, got = both("all_pairs_shortest_path_length", g, cutoff=1)
    assert dict(got) == dict(want) and plain(got)


@CASES
def test_distances(g):
    for options in ({}, {"wf_improved": False}):
        want, got = both("closeness_centrality", g, **options)
        assert list(got) == list(want) and plain(got)
        np.testing.assert_allclose(list(got.values()), list(want.values()), rtol=1e-12)
    want, got = both("harmonic_centrality", g)
    assert got == pytest.approx(want, rel=1e-12)
    node = list(g)[-1]
    want, got = both("closeness_centrality", g, u=node)
    assert got == pytest.approx(want) and plain(got)
    for name in ("descendants", "ancestors"):
        want, got = both(name, g, node)
        assert got == want
    connected = nx.is_strongly_connected(g) if g.is_directed() else nx.is_connected(g)
    with pytest.raises(nx.NetworkXError):
        nx.eccentricity(g, -5, backend="spargo")
    for name in ("eccentricity", "diameter", "radius", "center", "periphery"):
        if connected:
            want, got = both(name, g)
            assert got == want and plain(got)
        else:
            with pytest.raises(nx.NetworkXError, match="infinite path length because the"):
                getattr(nx, name)(g, backend="spargo")
    if connected:
        for some in (node, [node, 0]):
            want, got = both("eccentricity", g, some)
            assert got == want and plain(got)


@CASES
def test_components(g):
    if g.is_directed():
        for kind in ("weakly", "strongly"):
            want, got = both(f"{kind}_connected_components", g)
            assert got == want if kind == "strongly" else set(map(frozenset, got)) == set(map(frozenset, want))
            for name in (f"number_{kind}_connected_components", f"is_{kind}_connected"):
                want, got = both(name, g)
                assert got == want and type(got) is type(want)
        with pytest.raises(nx.NetworkXNotImplemented):
            nx.connected_components(g, backend="spargo")
    else:
        want, got = both("connected_components", g)
        assert got == want  # in networkx's order
        want, got = both("node_connected_component", g, next(iter(g)))
        assert got == want
        for name in ("number_connected_components", "is_connected"):
            want, got = both(name, g)
            assert got == want and type(got) is type(want)


@CASES
@pytest.mark.parametrize("kind", [int, float])
def test_weighted_paths(g, kind):
    g = g.copy()
    rng = np.random.default_rng(1)
    for *_, data in g.edges(data=True):
        if rng.random() < 0.9:  # 1 where it is missing
            data["w"] = kind(rng.integers(0, 10))
    for source in list(g)[:: max(1, len(g) // 3)]:
        want, got = both("single_source_dijkstra_path_length", g, source, weight="w")
        assert got == want and plain(got) and list(got.values()) == sorted(got.values())
        assert all(type(d) is kind or d == 0 for d in got.values()) or kind is int
        _, paths = both("single_source_dijkstra_path", g, source, weight="w")
        assert paths.keys() == want.keys() and plain(paths)
        assert all(nx.path_weight(nx.DiGraph(_lightest(g)), p, "w") == want[v] and p[0] == source and p[-1] == v for v, p in paths.items())
        (lengths, paths) = nx.single_source_dijkstra(g, source, weight="w", backend="spargo")
        assert lengths == want and paths.keys() == want.keys()
        for target in list(g)[:: max(1, len(g) // 3)]:
            if target in want:
                assert nx.dijkstra_path_length(g, source, target, weight="w", backend="spargo") == want[target]
                path = nx.dijkstra_path(g, source, target, weight="w", backend="spargo")
                assert path[0] == source and path[-1] == target
            else:
                with pytest.raises(nx.NetworkXNoPath):
                    nx.dijkstra_path_length(g, source, target, weight="w", backend="spargo")
        want, got = both("single_source_dijkstra_path_length", g, source, weight="w", cutoff=5)
        assert got == want


def _lightest(g):
    made = nx.DiGraph()
    for u, v, w in g.edges(data="w", default=1):
        for a, b in ((u, v),) if g.is_directed() else ((u, v), (v, u)):
            if not made.has_edge(a, b) or made[a][b]["w"] > w:
                made.add_edge(a, b, w=w)
    return made


@CASES
def test_ranks(g):
    unweighted = g.copy()
    for *_, data in unweighted.edges(data=True):
        data.clear()
    for options in ({}, {"alpha": 0.5}, {"personalization": {next(iter(g)): 1}}, {"nstart": dict.fromkeys(g, 2)}):
        want, got = both("pagerank", unweighted, tol=1e-11, max_iter=1000, **options)
        assert list(got) == list(want) and plain(got)
        np.testing.assert_allclose(list(got.values()), list(want.values()), atol=1e-8)
    if not g.is_multigraph():
        for options in ({}, {"normalized": False}, {"endpoints": True}):
            want, got = both("betweenness_centrality", g, **options)
            assert list(got) == list(want) and plain(got)
            np.testing.assert_allclose(list(got.values()), list(want.values()), atol=1e-12)
        for options in ({}, {"normalized": False}):
            want, got = both("edge_betweenness_centrality", g, **options)
            assert list(got) == list(want) and plain(got)
            np.testing.assert_allclose(list(got.values()), list(want.values()), atol=1e-12)
    with pytest.raises(nx.PowerIterationFailedConvergence):
        nx.pagerank(unweighted, max_iter=0, backend="spargo")
    if g.number_of_edges() > 5:
        with pytest.raises(nx.PowerIterationFailedConvergence):
            nx.pagerank(unweighted, max_iter=1, tol=1e-16, backend="spargo")


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
@pytest.mark.parametrize("number", [int, float])
def test_ranks_over_weights(kind, number):
    rng = np.random.default_rng(7)
    for seed in range(40):
        n = int(rng.integers(1, 30))
        g = kind()
        g.add_nodes_from(range(n))
        for _ in range(int(rng.integers(0, 4 * n))):
            u, v = map(int, rng.integers(0, n, 2))
            weight = number(rng.integers(0, 2 if u % 4 == 3 else 9)) * number(1 if number is int else 0.37)
            g.add_edge(u, v, **({"w": weight} if rng.random() < 0.9 else {}))
        for options in ({}, {"alpha": 0.6}, {"personalization": {n - 1: 1}}, {"weight": None}):
            want, got = both("pagerank", g, **{"weight": "w", "tol": 1e-12, "max_iter": 2000, **options})
            assert list(got) == list(want) and plain(got)
            np.testing.assert_allclose(list(got.values()), list(want.values()), atol=1e-9, err_msg=f"{seed} {options}")
    of = spargo.Graph.from_networkx(nx.DiGraph([(0, 1, {"weight": 3}), (0, 2), (1, 0), (2, 0)]), weight="weight")
    ranks = of.pagerank(weighted=True, tolerance=1e-14).ranks
    np.testing.assert_allclose(ranks, of.pagerank(weighted=True, tolerance=1e-14, algorithm="jacobi").ranks, atol=1e-12)
    assert ranks[1] > 2 * ranks[2] and np.isclose(*of.pagerank().ranks[1:])


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
def test_power_iterations(kind):
    rng = np.random.default_rng(11)
    compared = 0
    for seed in range(60):
        n = int(rng.integers(1, 25))
        g = kind()
        g.add_nodes_from(map(str, range(n)))
        for _ in range(int(rng.integers(0, 4 * n))):
            u, v = map(str, rng.integers(0, n, 2))
            g.add_edge(u, v, **({"weight": float(rng.integers(0, 9)) / 4} if rng.random() < 0.9 else {}))
        start = {v: float(rng.integers(0, 5)) for v in g}
        start["0"] = 1.0
        calls = [("eigenvector_centrality", o) for o in ({}, {"weight": "weight"}, {"nstart": start}, {"tol": 1e-9, "max_iter": 3000})]
        calls += [("katz_centrality", {"alpha": 0.01, **o}) for o in (
            {}, {"weight": "weight"}, {"beta": start}, {"beta": 2, "normalized": False}, {"nstart": start, "tol": 1e-10})]
        for name, options in calls:
            try:
                want = getattr(nx, name)(g, backend="networkx", **options)
            except nx.PowerIterationFailedConvergence:
                with pytest.raises(nx.PowerIterationFailedConvergence):
                    getattr(nx, name)(g, backend="spargo", **options)
                continue
            got = getattr(nx, name)(g, backend="spargo", **options)
            assert list(got) == list(want) and plain(got)
            np.testing.assert_allclose(list(got.values()), list(want.values()), rtol=1e-9, atol=1e-12, err_msg=f"{seed} {name} {options}")
            compared += 1
    assert compared > 300
    with pytest.raises(nx.PowerIterationFailedConvergence):
        nx.eigenvector_centrality(kind([(0, 1), (1, 2)]), max_iter=0, backend="spargo")
    with pytest.raises(nx.NetworkXError, match="all zero"):
        nx.eigenvector_centrality(kind([(0, 1)]), nstart={0: 0, 1: 0}, backend="spargo")
    with pytest.raises(nx.NetworkXPointlessConcept):
        nx.eigenvector_centrality(kind(), backend="spargo")
    with pytest.raises(nx.PowerIterationFailedConvergence):
        nx.katz_centrality(nx.complete_graph(20, kind), alpha=0.1, backend="spargo")
    assert nx.katz_centrality(kind(), backend="spargo") == {} and nx.hits(kind(), backend="spargo") == ({}, {})
    for name, options in (("katz_centrality", {"alpha": -0.1}), ("katz_centrality", {"beta": -1.0}), ("katz_centrality", {"beta": {0: 1}}),
                          ("eigenvector_centrality", {"nstart": {0: -1, 1: 3}}), ("hits", {"normalized": False}), ("hits", {"nstart": {0: 1, 1: 2}})):
        with pytest.raises(NotImplementedError):
            getattr(nx, name)(kind([(0, 1)]), backend="spargo", **options)


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiDiGraph])
def test_hits(kind):
    rng = np.random.default_rng(12)
    compared = 0
    for seed in range(40):
        n = int(rng.integers(3, 25))
        g = kind()
        g.add_nodes_from(range(n))
        for u, v in rng.integers(0, n, (4 * n, 2)):
            g.add_edge(int(u), int(v), **({"weight": float(rng.integers(1, 9))} if seed % 2 else {}))
        largest = np.linalg.svd(nx.adjacency_matrix(g, dtype=float).toarray(), compute_uv=False)
        if largest[1] > 0.95 * largest[0]:
            continue
        want, got = both("hits", g)
        for a, b in zip(want, got):
            assert list(a) == list(b) and plain(b)
            np.testing.assert_allclose(list(b.values()), list(a.values()), atol=1e-7, err_msg=f"{seed}")
        compared += 1
    assert compared > 15


def test_weights_that_matter_go_to_networkx():
    g = nx.DiGraph([(0, 1), (1, 0), (1, 2), (2, 0)])
    g.add_edge(1, 2, weight=2**60 + 1)
    with pytest.raises(NotImplementedError):
        nx.pagerank(g, backend="spargo")
    with nx.config(backend_priority=["spargo"]), nx.config.backends.spargo(smallest_graph=0):
        assert nx.pagerank(g) == nx.pagerank(g, backend="networkx")
    g.add_edge(1, 2, weight=-0.25)
    with pytest.raises(spargo.Error, match="has weight -0.25"):
        spargo.Graph.from_networkx(g, weight="weight").pagerank(weighted=True)
    g.add_edge(1, 2, weight=-1)
    with pytest.raises(NotImplementedError):
        nx.single_source_dijkstra_path_length(g, 0, backend="spargo")


@CASES
def test_triangles(g):
    simple = nx.Graph(g)
    if g.is_multigraph():
        assert isinstance(can_run("triangles", (g,), {}), str)
    some = list(simple)[:3]
    for name in ("triangles", "clustering"):
        for args in ((), (some,), (some[0],), ([*some, "nobody"],)):
            want, got = both(name, simple, *args)
            assert got == pytest.approx(want) and plain(got)
    for name in ("transitivity", "average_clustering"):
        want, got = both(name, simple)
        assert got == pytest.approx(want)


def test_missing_nodes():
    g = nx.path_graph(3)
    for name in ("single_source_shortest_path_length", "single_source_shortest_path", "single_target_shortest_path_length",
                 "single_source_dijkstra_path_length", "single_source_dijkstra_path", "single_source_dijkstra"):
        for node in (7, "a", None):
            with pytest.raises(nx.NodeNotFound):
                getattr(nx, name)(g, node, backend="spargo")
    with pytest.raises(nx.NetworkXError):
        list(nx.bfs_edges(g, 7, backend="spargo"))
    with pytest.raises(nx.NetworkXPointlessConcept):
        nx.is_connected(nx.Graph(), backend="spargo")
    with pytest.raises(KeyError):
        nx.node_connected_component(g, 7, backend="spargo")
    assert nx.pagerank(nx.Graph(), backend="spargo") == {}


def test_what_can_and_should_run():
    g = nx.path_graph(3)
    assert can_run("bfs_edges", (g, 0), {}) is True
    assert isinstance(can_run("bfs_edges", (g, 0), {"sort_neighbors": sorted}), str)
    assert isinstance(can_run("betweenness_centrality", (g,), {"weight": "w"}), str)
    assert can_run("betweenness_centrality", (g, 2), {}) is True
    for weight in (-1, "2", None, float("nan"), float("inf"), 2**53 + 1):
        odd = nx.Graph([(0, 1, {"weight": weight})])
        assert isinstance(can_run("pagerank", (odd,), {}), str)
        assert can_run("pagerank", (odd,), {"weight": None}) is True
    assert can_run("pagerank", (nx.Graph([(0, 1, {"weight": 2})]),), {}) is True
    assert isinstance(can_run("clustering", (nx.DiGraph(g),), {}), str)
    assert isinstance(can_run("dijkstra_path", (g, 0, 1, lambda u, v, d: 1), {}), str)
    assert isinstance(can_run("greedy_modularity_communities", (g,), {}), str)
    assert isinstance(should_run("bfs_edges", (g, 0), {}), str)
    assert should_run("bfs_edges", (nx.path_graph(10_000), 0), {}) is True
    assert should_run("bfs_edges", (spargo.Graph.from_networkx(g), 0), {}) is True
    with nx.config.backends.spargo(smallest_graph=2):
        assert should_run("bfs_edges", (), {"G": g}) is True


def test_graphs_of_ours_are_taken_and_converted():
    g = spargo.Graph.read("gen:grid2d:n=6")
    theirs = nx.convert_node_labels_to_integers(nx.grid_2d_graph(6, 6))
    assert nx.single_source_shortest_path_length(g, 0) == nx.single_source_shortest_path_length(theirs, 0)
    assert nx.number_connected_components(g) == 1
    back = backend.convert_to_nx(g)
    assert nx.utils.graphs_equal(back, nx.Graph(theirs.edges)) or set(map(frozenset, back.edges)) == set(map(frozenset, theirs.edges))
    for kind in (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph):
        want = kind()
        want.add_weighted_edges_from([("a", "b", 2), ("b", "c", 3), ("c", "c", 4), ("b", "a", 5)])
        converted = backend.convert_to_nx(backend.convert_from_nx(want, edge_attrs={"weight": 1}))
        assert type(converted) is kind and nx.is_isomorphic(converted, want) and list(converted) == list(want)
        assert sorted(d for *_, d in converted.edges(data="weight")) == sorted(d for *_, d in want.edges(data="weight"))


def test_conversions_are_cached_and_follow_the_graph():
    g = nx.path_graph(5)
    nx.config.cache_converted_graphs = True
    assert nx.number_connected_components(g, backend="spargo") == 1
    g.remove_edge(2, 3)
    assert nx.number_connected_components(g, backend="spargo") == 2


@CASES
def test_samples_are_networkxs(g):
    if g.is_multigraph():
        pytest.skip("multigraphs are networkx's")
    for k in {1, 2, len(g) // 2 or 1, len(g)}:
        for seed in (1, 7):
            for options in ({}, {"normalized": False}):
                for endpoints in (False, True):
                    want, got = both("betweenness_centrality", g, k=k, seed=seed, endpoints=endpoints, **options)
                    assert list(got) == list(want) and plain(got)
                    np.testing.assert_allclose(list(got.values()), list(want.values()), rtol=1e-9, atol=1e-12)
                want, got = both("edge_betweenness_centrality", g, k=k, seed=seed, **options)
                assert list(got) == list(want) and plain(got)
                np.testing.assert_allclose(list(got.values()), list(want.values()), rtol=1e-9, atol=1e-12)
    import random

    random.seed(3)
    want = nx.betweenness_centrality(g, k=3, seed=random, backend="networkx")
    random.seed(3)
    got = nx.betweenness_centrality(g, k=3, seed=random, backend="spargo")
    np.testing.assert_allclose(list(got.values()), list(want.values()), atol=1e-12)


def answer(call):
    try:
        result = call()
        return list(result) if hasattr(result, "__next__") else result
    except Exception as e:
        return type(e), str(e)


RING = nx.DiGraph([(0, 1), (1, 2), (2, 0), (0, 2)])
ODD = nx.DiGraph([(0, 1, {"weight": 2.0}), (1, 2, {"weight": [1, 2]})])
TEXT = nx.DiGraph([(0, 1, {"weight": "2"}), (1, 2)])
HUGE = nx.DiGraph([(0, 1, {"weight": 2**63}), (1, 2, {"weight": 2**70})])
MIXED = nx.DiGraph([(0, 1, {"weight": 2**63}), (1, 2, {"weight": -1})])
NEAR = nx.DiGraph([(0, 1, {"weight": 2**53 + 1}), (1, 2, {"weight": 0.5})])
NEGATIVE = nx.DiGraph([(0, 1, {"weight": -1}), (1, 2)])
REFUSED = {
    "alpha 1": lambda: nx.pagerank(RING, alpha=1.0),
    "alpha 2": lambda: nx.pagerank(RING, alpha=2.0),
    "alpha negative": lambda: nx.pagerank(RING, alpha=-0.5),
    "alpha text": lambda: nx.pagerank(RING, alpha="x"),
    "negative personalization": lambda: nx.pagerank(RING, personalization={0: 2, 1: -1, 2: 1}),
    "zero personalization": lambda: nx.pagerank(RING, personalization={0: 0}),
    "nan personalization": lambda: nx.pagerank(RING, personalization={0: float("nan"), 1: 1}),
    "negative nstart": lambda: nx.pagerank(RING, nstart={0: 2, 1: -1, 2: 1}),
    "negative tolerance": lambda: nx.pagerank(RING, tol=-1),
    "iterations 2.5": lambda: nx.pagerank(RING, max_iter=2.5),
    "weighted": lambda: nx.pagerank(nx.DiGraph([(0, 1, {"weight": 3}), (0, 2), (1, 0), (2, 0)])),
    "dijkstra cutoff -1": lambda: nx.single_source_dijkstra_path_length(RING, 0, cutoff=-1),
    "dijkstra cutoff nan": lambda: nx.single_source_dijkstra_path_length(RING, 0, cutoff=float("nan")),
    "dijkstra cutoff text": lambda: nx.single_source_dijkstra_path_length(RING, 0, cutoff="1"),
    "dijkstra list": lambda: nx.dijkstra_path_length(ODD, 0, 1),
    "dijkstra lists": lambda: nx.dijkstra_path_length(ODD, 0, 2),
    "dijkstra text": lambda: nx.dijkstra_path_length(TEXT, 0, 2),
    "dijkstra huge": lambda: nx.dijkstra_path_length(HUGE, 0, 2),
    "dijkstra mixed": lambda: nx.single_source_dijkstra_path_length(MIXED, 0),
    "dijkstra rounds": lambda: nx.single_source_dijkstra_path_length(NEAR, 0),
    "dijkstra large cutoff": lambda: nx.single_source_dijkstra_path_length(NEAR, 0, cutoff=2**53 + 1),
    "bfs cutoff -1": lambda: nx.single_source_shortest_path_length(RING, 0, cutoff=-1),
    "bfs cutoff text": lambda: nx.single_source_shortest_path_length(RING, 0, cutoff="1"),
    "all pairs cutoff text": lambda: nx.all_pairs_shortest_path_length(RING, cutoff="1"),
    "bfs depth -1": lambda: nx.bfs_edges(RING, 0, depth_limit=-1),
    "k too large": lambda: nx.betweenness_centrality(RING, k=9, seed=1),
    "k 0": lambda: nx.betweenness_centrality(RING, k=0, seed=1),
    "k text": lambda: nx.betweenness_centrality(RING, k="x", seed=1),
    "distance 2^70": lambda: nx.descendants_at_distance(RING, 0, 2**70),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_library_refuses_is_networkxs(name):
    want = answer(REFUSED[name])
    with nx.config(backend_priority=["spargo"]), nx.config.backends.spargo(smallest_graph=0):
        got = answer(REFUSED[name])
    if isinstance(want, dict):
        assert list(got) == list(want) and got == pytest.approx(want, nan_ok=True)
        assert [type(v) for v in got.values()] == [type(v) for v in want.values()] or name.startswith("dijkstra cutoff")
    else:
        assert got == want


def test_negative_cutoffs_reach_the_source():
    for g in (nx.path_graph(3), nx.Graph([(0, 1, {"weight": 0}), (1, 2)])):
        for name in ("single_source_dijkstra_path_length", "single_source_dijkstra_path"):
            want, got = both(name, g, 0, cutoff=-1)
            assert got == want
        assert nx.single_source_dijkstra(g, 0, cutoff=-2, backend="spargo") == ({0: 0}, {0: [0]})


@pytest.mark.parametrize("weight", [1_700_000_000_000_000_000, 2**62, 2**63 - 1, 1e308])
def test_paths_beyond_the_range_are_not_lost(weight):
    g = nx.path_graph(7)
    nx.set_edge_attributes(g, weight, "weight")
    with nx.config(backend_priority=["spargo"]), nx.config.backends.spargo(smallest_graph=0):
        assert nx.dijkstra_path_length(g, 0, 6) == 6 * weight
        assert nx.single_source_dijkstra_path_length(g, 0) == {v: v * weight for v in range(7)}
        assert nx.dijkstra_path(g, 0, 6) == list(range(7))
    with pytest.raises(NotImplementedError):
        nx.dijkstra_path_length(g, 0, 6, backend="spargo")
    if weight == 2**63 - 1:  # what the library has for a vertex that is not reached
        return
    assert nx.dijkstra_path_length(g, 0, 1, backend="spargo") == weight
    assert nx.single_source_dijkstra_path_length(g, 0, cutoff=weight, backend="spargo") == {0: 0, 1: weight} or weight > 2**53
    apart = nx.disjoint_union(nx.path_graph(2), nx.path_graph(2))
    nx.set_edge_attributes(apart, weight, "weight")
    assert nx.single_source_dijkstra_path_length(apart, 0, backend="spargo") == {0: 0, 1: weight}
    with pytest.raises(nx.NetworkXNoPath):
        nx.dijkstra_path_length(apart, 0, 3, backend="spargo")


def test_a_call_by_name_hears_why():
    weighted = nx.Graph([(0, 1, {"weight": 2})])
    for call, why in (
        (lambda: nx.pagerank(NEGATIVE, backend="spargo"), "weights of edges"),
        (lambda: nx.betweenness_centrality(weighted, weight="weight", backend="spargo"), "weights are not supported"),
        (lambda: nx.clustering(nx.DiGraph(weighted), backend="spargo"), "directed graphs"),
        (lambda: nx.triangles(nx.MultiGraph(weighted), backend="spargo"), "multigraphs"),
        (lambda: nx.single_source_dijkstra(TEXT, 0, backend="spargo"), "single_source_dijkstra: weights of edges: weights of <U"),
        (lambda: nx.dijkstra_path_length(ODD, 0, 1, backend="spargo"), "dijkstra_path_length: weights of edges"),
        (lambda: nx.dijkstra_path(HUGE, 0, 1, weight="weight", backend="spargo"), "weights of edges: weights of object"),
        (lambda: nx.single_source_dijkstra_path_length(NEAR, 0, backend="spargo"), "integers beside reals, which float64 rounds"),
        (lambda: nx.single_source_dijkstra_path(NEGATIVE, 0, backend="spargo"), "negative, infinite or no numbers"),
        (lambda: nx.single_source_dijkstra(spargo.Graph(NEGATIVE), 0, backend="spargo"), "negative, infinite or no numbers"),
        (lambda: nx.single_source_dijkstra(RING, 0, cutoff=2**53 + 1, backend="spargo"), "a cutoff that float64 rounds"),
        (lambda: nx.bfs_edges(RING, 0, reverse=True, backend="spargo"), "the order of predecessors"),
        (lambda: nx.bfs_layers(RING, [0, 1], backend="spargo"), "several sources"),
        (lambda: nx.bfs_layers(spargo.Graph(RING), [0, 1], backend="spargo"), "several sources"),
        (lambda: nx.pagerank(RING, alpha=1.0, backend="spargo"), "alpha is 0 or more and below 1"),
        (lambda: nx.pagerank(RING, alpha="x", backend="spargo"), "alpha is 0 or more and below 1"),
    ):
        for _ in range(2):
            with pytest.raises(NotImplementedError, match=why):
                call()


def test_a_call_by_name_converts_once(monkeypatch):
    made = []
    monkeypatch.setattr(spargo.Graph, "from_networkx", lambda g, real=spargo.Graph.from_networkx, **k: made.append(g) or real(g, **k))
    for cached in (True, False):
        with nx.config(cache_converted_graphs=cached):
            g = nx.path_graph(4)
            made.clear()
            for calls in range(1, 4):
                assert nx.dijkstra_path_length(g, 0, 3, backend="spargo") == 3
                assert len(made) == (1 if cached else calls)
            g.add_edge(0, 3, weight=2)
            assert nx.dijkstra_path_length(g, 0, 3, backend="spargo") == 2
            h = nx.DiGraph(NEGATIVE)
            with nx.config(backend_priority=["spargo"]), nx.config.backends.spargo(smallest_graph=0):
                assert nx.dijkstra_path_length(h, 0, 2) == 0
            with pytest.raises(NotImplementedError, match="negative, infinite"):
                nx.dijkstra_path_length(h, 0, 2, backend="spargo")
            h[0][1]["weight"] = 1  # unknown to networkx's cache
            h.__networkx_cache__.clear()
            assert nx.dijkstra_path_length(h, 0, 2) == nx.dijkstra_path_length(h, 0, 2, backend="spargo") == 2
            h = nx.path_graph(3)
            assert nx.number_connected_components(h, backend="spargo") == 1 == nx.dijkstra_path_length(h, 0, 1, backend="spargo")


@CASES
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.function)
def test_values_of_a_method(g, row):
    if can_run(row.function, (g,), {}) is not True:
        return
    want, got = both(row.function, g)
    assert got == pytest.approx(want) and list(got) == list(want) and plain(got)


@CASES
@pytest.mark.parametrize("name", ["minimum_spanning", "maximum_spanning"])
def test_spanning_trees(g, name):
    if g.is_directed() or g.is_multigraph():
        assert isinstance(can_run(f"{name}_edges", (g,), {}), str)
        return
    weighted = nx.Graph()
    weighted.add_nodes_from(g)
    weighted.add_weighted_edges_from((u, v, 1.0 + k * 7 % 31 / 4) for k, (u, v) in enumerate(g.edges))
    for h in (nx.Graph(g.edges), weighted):
        want, got = both(f"{name}_edges", h)
        want, got = list(want), list(got)
        assert sum(d.get("weight", 1) for *_, d in got) == sum(d.get("weight", 1) for *_, d in want)
        assert all(h.edges[u, v] == d for u, v, d in got) and len(got) == len(want)
        assert len(list(both(f"{name}_edges", h, data=False)[1])) == len(want)
        want, got = both(f"{name}_tree", h)
        got = backend.convert_to_nx(got)
        assert list(got) == list(want) and got.size("weight") == want.size("weight")
        assert nx.is_forest(got) if got else True
    colourful = nx.Graph([(0, 1, {"color": "red"})])
    assert isinstance(can_run(f"{name}_tree", (colourful,), {}), str)


@CASES
def test_communities(g):
    for weight in ("weight", None):
        ours = nx.community.louvain_communities(g, weight=weight, seed=3, backend="spargo")
        assert sorted(v for part in ours for v in part) == sorted(g) and all(map(plain, ours))
        assert ours == nx.community.louvain_communities(g, weight=weight, seed=3, backend="spargo")
        theirs = nx.community.louvain_communities(g, weight=weight, seed=3)
        found = nx.community.modularity(g, ours, weight=weight)
        assert found >= 0.96 * nx.community.modularity(g, theirs, weight=weight)
        if not g.is_directed():
            leiden = nx.community.leiden_communities(g, weight=weight, seed=3, backend="spargo")
            assert all(nx.is_connected(g.subgraph(part)) for part in leiden)
            assert nx.community.modularity(g, leiden, weight=weight) >= 0.999 * found
    with pytest.raises(NotImplementedError):  # networkx raises its own
        nx.community.louvain_communities(g, max_level=0, backend="spargo")


@CASES
def test_trusses(g):
    bare = type(g)(g.edges)
    if g.is_directed() or g.is_multigraph() or nx.number_of_selfloops(g):
        assert isinstance(can_run("k_truss", (bare,), {"k": 3}), str)
        return
    for k in (-1, 2, 3, 4, 1000):
        want, got = both("k_truss", bare, k=k)
        assert nx.utils.graphs_equal(want, backend.convert_to_nx(got))
    assert isinstance(can_run("k_truss", (bare,), {"k": 2.5}), str)


@CASES
def test_cores(g):
    if g.is_multigraph() or nx.number_of_selfloops(g):
        assert isinstance(can_run("core_number", (g,), {}), str)
        return
    want, got = both("core_number", g)
    assert got == want and plain(got) and list(got) == list(want)
    bare = type(g)(g.edges)
    want, got = both("k_core", bare, k=2)
    assert nx.utils.graphs_equal(want, backend.convert_to_nx(got))
    with_attributes = nx.Graph([(0, 1, {"color": "red"})])
    assert isinstance(can_run("k_core", (with_attributes,), {}), str)
