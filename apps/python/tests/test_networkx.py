"""The networkx backend: what it takes, converts, caches and leaves to networkx."""

import networkx as nx
import pytest
import spargo
from networkx_cases import CASES, both, plain
from spargo._networkx_rows import ROWS
from spargo.networkx import FUNCTIONS, backend, can_run, should_run

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
