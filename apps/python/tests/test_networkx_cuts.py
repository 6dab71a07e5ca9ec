"""The backend's functions of degrees, sets of nodes, strong components and sets of paths, against networkx."""

import itertools
import math
import random

import networkx as nx
import pytest
from networkx.algorithms import bipartite
from spargo._networkx_limits import LIMITS
from spargo.networkx import FUNCTIONS, can_run


def drawn(seed):
    rng = random.Random(seed)
    n = rng.choice([1, 2, 3, 5, 8, 12])
    g = rng.choice([nx.Graph, nx.DiGraph])()
    nodes = list(range(n)) if seed % 2 else [f"n{v}" for v in range(n)]
    rng.shuffle(nodes)
    g.add_nodes_from(nodes)
    for _ in range(rng.choice([0, n, 2 * n, 4 * n])):
        u, v = rng.choice(nodes), rng.choice(nodes)
        if u != v or seed % 3 == 0:
            g.add_edge(u, v, weight=rng.choice([0, 1, 2, 5]) if seed % 5 else rng.choice([0.5, 1.25, 3.0]))
    return g


# In the order of sets of Python, or of equal distances.
UNORDERED = {"degree_centrality", "closeness_centrality", "multi_source_dijkstra_path_length"}


def result_of(name, g, backend, *args, module=nx, **kwargs):
    """The result, iterators consumed, or the exception."""
    try:
        found = getattr(module, name)(g, *args, backend=backend, **kwargs)
        return ("is", list(found) if hasattr(found, "__next__") else found)
    except (nx.NetworkXException, ArithmeticError, ValueError, KeyError) as e:
        return ("raises", type(e))


def plain(value):
    if isinstance(value, dict):
        return all(plain(k) and plain(v) for k, v in value.items())
    if isinstance(value, (list, tuple, set)):
        return all(map(plain, value))
    return type(value).__module__ == "builtins"


def same(name, g, *args, module=nx, registered=None, ordered=True, **kwargs):
    """Whether both give the same; counts the calls that run natively."""
    want = result_of(name, g, "networkx", *args, module=module, **kwargs)
    try:
        got = result_of(name, g, "spargo", *args, module=module, **kwargs)
    except NotImplementedError:
        return 0
    if want[0] == "is" and want[1] is not None and not ordered:
        assert sorted(map(sorted, got[1]), key=str) == sorted(map(sorted, want[1]), key=str), (name, args)
    elif want[0] == "is" and isinstance(want[1], dict):
        assert list(got[1]) == list(want[1]) or (set(got[1]) == set(want[1]) and name in UNORDERED), (name, args)
        assert got[1] == pytest.approx(want[1], rel=1e-12) if _flat(want[1]) else got[1] == want[1], (name, args)
    elif want[0] == "is" and isinstance(want[1], float):
        assert got[0] == "is" and got[1] == pytest.approx(want[1], rel=1e-12, nan_ok=True), (name, args, got)
        assert type(got[1]) in (int, float)
    else:
        assert got == want, (name, args)
        assert want[0] == "raises" or type(got[1]) is type(want[1]), (name, got, want)
    assert got[0] == "raises" or plain(got[1]), (name, got)
    return 1


def _flat(values):
    return all(isinstance(v, (int, float)) for v in values.values())


SEEDS = pytest.mark.parametrize("seed", range(60))


@SEEDS
def test_of_a_graph(seed):
    g = drawn(seed)
    native = sum(same(name, g) for name in ("s_metric", "is_regular", "is_eulerian", "has_eulerian_path", "is_semieulerian"))
    assert native == 5
    assert same("average_neighbor_degree", g) and same("average_degree_connectivity", g)
    if g.is_directed():
        for source, target in itertools.product(("in", "out", "in+out"), repeat=2):
            assert same("average_neighbor_degree", g, source=source, target=target)
            assert same("average_degree_connectivity", g, source=source, target=target)
        for name in ("attracting_components", "number_attracting_components", "is_attracting_component", "is_semiconnected",
                     "flow_hierarchy", "global_reaching_centrality", "is_tournament"):
            assert same(name, g)
        assert same("kosaraju_strongly_connected_components", g, ordered=False)
        for node in g:
            assert same("local_reaching_centrality", g, node)
    else:
        for k in range(4):
            assert same("is_k_regular", g, k)


@SEEDS
def test_of_sets(seed):
    g, rng = drawn(seed), random.Random(seed)
    nodes = list(g)
    for size in (0, 1, len(nodes) // 2, len(nodes)):
        first, second = (rng.sample(nodes, min(size, len(nodes))) for _ in range(2))
        apart = [node for node in second if node not in first]
        for name in ("node_boundary", "boundary_expansion", "node_expansion", "is_dominating_set", "volume",
                     "group_degree_centrality"):
            assert same(name, g, first)
        assert same("volume", g, [*first, *first, "none of it"]) and same("is_dominating_set", g, [*first, "none of it"])
        assert same("node_boundary", g, first, second)
        for name in ("conductance", "edge_expansion", "normalized_cut_size", "cut_size", "mixing_expansion"):
            for other in (second, apart):
                assert same(name, g, first, other)
            if name in ("cut_size", "mixing_expansion") and g.is_directed():
                assert isinstance(can_run(name, (g, first), {}), str)  # networkx needs both
                continue
            assert same(name, g, first)
        assert same("group_closeness_centrality", g, first) or not first
        if g.is_directed():
            assert same("group_in_degree_centrality", g, first) and same("group_out_degree_centrality", g, first)
        parts = [first, [node for node in nodes if node not in first]]
        assert nx.community.is_partition(g, parts, backend="spargo") == nx.community.is_partition(g, parts)
        assert not nx.community.is_partition(g, [nodes, nodes[:1]], backend="spargo")
        for options in ({}, {"weight": None}, {"resolution": 0.5}):
            assert same("modularity", g, parts, module=nx.community, **options)
        assert result_of("modularity", g, "spargo", [nodes[:1]] * 2, module=nx.community)[0] == "raises"


@SEEDS
def test_sets_of_paths(seed):
    g, rng = drawn(seed), random.Random(seed)
    nodes = list(g)
    for source in nodes[:4]:
        for cutoff in (None, -1, 0, 1, 1.5, 2):
            assert same("predecessor", g, source, cutoff=cutoff)
            assert same("predecessor", g, source, cutoff=cutoff, return_seen=True)
        target = rng.choice(nodes)
        assert same("predecessor", g, source, target) and same("predecessor", g, source, "none", return_seen=True)
        assert list(nx.predecessor(g, source, backend="spargo")) == list(nx.predecessor(g, source))
        assert same("all_shortest_paths", g, source, target)
        assert same("single_source_all_shortest_paths", g, source)
        if not g.is_directed():
            assert same("efficiency", g, source, target)
    assert same("all_pairs_all_shortest_paths", g)
    assert same("predecessor", g, "none of it") and same("all_shortest_paths", g, nodes[0], "none of it")


@SEEDS
def test_weighted_paths(seed):
    g, rng = drawn(seed), random.Random(seed)
    nodes = list(g)
    assert same("floyd_warshall", g)
    assert same("negative_edge_cycle", g)
    for size in (1, 2, 3):
        sources = rng.sample(nodes, min(size, len(nodes)))
        for cutoff in (None, -1, 0, 2, 2.5):
            assert same("multi_source_dijkstra_path_length", g, set(sources), cutoff=cutoff)
            lengths, paths = nx.multi_source_dijkstra(g, set(sources), cutoff=cutoff, backend="spargo")
            assert lengths == nx.multi_source_dijkstra_path_length(g, set(sources), cutoff=cutoff)
            assert set(paths) == set(lengths) and plain(paths) and plain(lengths)
            for node, path in paths.items():  # another one of the same length is right as well
                assert path[0] in sources and path[-1] == node and set(path[1:]).isdisjoint(sources)
                assert nx.path_weight(g, path, "weight") == pytest.approx(lengths[node])
            assert paths == nx.multi_source_dijkstra_path(g, set(sources), cutoff=cutoff, backend="spargo")
        target = rng.choice(nodes)
        want, got = (result_of("multi_source_dijkstra", g, b, sources, target) for b in ("networkx", "spargo"))
        assert got[0] == want[0] and (got[1][0] == want[1][0] if want[0] == "is" else got[1] == want[1])
        assert same("astar_path_length", g, sources[0], target)
        want, got = (result_of("astar_path", g, b, sources[0], target) for b in ("networkx", "spargo"))
        assert got[0] == want[0]
        if want[0] == "is":
            assert got[1][0] == sources[0] and got[1][-1] == target
            assert nx.path_weight(g, got[1], "weight") == pytest.approx(nx.path_weight(g, want[1], "weight"))
    assert isinstance(can_run("multi_source_dijkstra", (g, set()), {}), str)
    assert same("astar_path_length", g, nodes[0], "none of it") and same("astar_path", g, nodes[0], "none of it")


@SEEDS
def test_acyclic(seed):
    rng = random.Random(seed)
    n = rng.choice([1, 2, 5, 9])
    g = nx.DiGraph()
    g.add_nodes_from(rng.sample(range(n), n))
    for u, v in itertools.combinations(range(n), 2):
        if rng.random() < 0.4:
            g.add_edge(u, v, weight=rng.choice([-3, -1, 0, 2, 4]) if seed % 2 else rng.choice([-0.5, 1.5, 2.25]))
    assert same("dag_longest_path_length", g)
    above = {v: nx.ancestors(g, v) | {v} for v in g}
    for u, v in itertools.product(range(min(n, 5)), repeat=2):
        got = nx.lowest_common_ancestor(g, u, v, default="none", backend="spargo")
        common = above[u] & above[v]
        lowest = {c for c in common if not any(c in above[d] and c != d for d in common)}
        assert got in lowest if common else got == "none"
    assert same("lowest_common_ancestor", g, 0, "none of it")
    g.add_edge(0, 0)
    assert same("dag_longest_path_length", g) and same("lowest_common_ancestor", g, 0, 0)


@SEEDS
def test_bipartite(seed):
    rng = random.Random(seed)
    top, bottom = range(rng.randrange(1, 6)), range(10, 10 + rng.randrange(1, 6))
    g = nx.Graph()
    g.add_nodes_from([*top, *bottom])
    g.add_edges_from(pair for pair in itertools.product(top, bottom) if rng.random() < 0.5)
    for nodes in (top, bottom, [*top, 10], [*top, *top]):
        nodes = list(nodes)
        assert same("is_bipartite_node_set", g, nodes, module=bipartite)
        if len(set(nodes)) < len(g):
            assert same("degree_centrality", g, nodes, module=bipartite)
            assert same("closeness_centrality", g, nodes, module=bipartite)
            assert same("betweenness_centrality", g, nodes, module=bipartite)
            assert same("closeness_centrality", g, nodes, normalized=False, module=bipartite)
    g.add_edges_from([(0, 10), (10, 20), (20, 0)])
    assert same("is_bipartite_node_set", g, [0], module=bipartite)


def test_predictions():
    for seed in range(0, 40):
        g = drawn(seed)
        if g.is_directed() or nx.number_of_selfloops(g):
            continue
        pairs = list(itertools.product(g, repeat=2))
        assert same("preferential_attachment", g, pairs)
        assert same("preferential_attachment", g, [*pairs, (next(iter(g)), "none of it")])


def test_parallel_edges():
    """What counts edges leaves multigraphs to networkx, or counts all of them."""
    for kind in (nx.MultiGraph, nx.MultiDiGraph):
        g = kind([(0, 1), (0, 1), (1, 2), (2, 0), (2, 0), (1, 2)])
        for name in ("is_regular", "is_eulerian", "has_eulerian_path", "is_semieulerian"):
            assert same(name, g)
        for name in ("node_boundary", "boundary_expansion", "node_expansion", "is_dominating_set", "group_degree_centrality"):
            assert same(name, g, [0])
        for name, args in (("cut_size", ([0], [1])), ("s_metric", ()), ("average_neighbor_degree", ()), ("predecessor", (0,))):
            assert isinstance(can_run(name, (g, *args), {}), str)


def test_limits_are_of_functions():
    assert set(LIMITS) <= set(FUNCTIONS)
    assert math.isinf(nx.floyd_warshall(nx.empty_graph(2), backend="spargo")[0][1])


def test_what_networkx_refuses_is_left_to_it():
    with pytest.raises(nx.NetworkXNotImplemented):
        bipartite.is_bipartite_node_set(nx.DiGraph([(0, 1)]), [0])
    with pytest.raises(NotImplementedError, match="networkx refuses directed graphs"):
        bipartite.is_bipartite_node_set(nx.DiGraph([(0, 1)]), [0], backend="spargo")
    with pytest.raises(NotImplementedError, match="without nodes"):
        nx.k_core(nx.DiGraph(), backend="spargo")
