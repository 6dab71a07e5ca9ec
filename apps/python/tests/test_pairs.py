"""Paths between vertices: methods of `Graph`, and networkx's functions over them, against networkx on random graphs."""

import math
import random
from itertools import islice

import networkx as nx
import numpy as np
import pytest
import spargo
from spargo.networkx import FUNCTIONS, backend
from test_structure import outcome

WEIGHTS = [
    lambda source: 1,
    lambda source: source.randrange(3),
    lambda source: source.randrange(100),
    lambda source: source.random(),
]


def draw(seed, kinds=(nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)):
    """A random weighted graph with loops, parallel edges, isolated nodes, weights of 0 and missing ones."""
    source = random.Random(seed)
    g = kinds[seed % len(kinds)]()
    n = source.randrange(1, 12)
    g.add_nodes_from(f"n{v}" if seed % 3 == 0 else v for v in range(n))
    nodes = list(g)
    weight = WEIGHTS[source.randrange(4)]
    for _ in range(source.randrange(0, 3 * n)):
        attributes = {} if source.random() < 0.1 else {"weight": weight(source)}
        g.add_edge(source.choice(nodes), source.choice(nodes), **attributes)
    return g, nodes


def lightest(g, path):
    """The length of a path along its lightest edges."""
    total = 0
    for u, v in zip(path, path[1:]):
        parallel = g[u][v].values() if g.is_multigraph() else [g[u][v]]
        total += min(d.get("weight", 1) for d in parallel)
    return total


def close(a, b):
    return a == pytest.approx(b, rel=1e-12, abs=1e-12)


def has_failed(result):
    return isinstance(result, tuple) and len(result) == 3 and isinstance(result[1], type)


def expect_same(g, name, *args, check=None, **kwargs):
    """The same result or error; `check` compares results of which several are right."""
    function = getattr(nx, name)
    theirs = outcome(lambda: function(g, *args, backend="networkx", **kwargs))
    ours = outcome(lambda: function(g, *args, backend="spargo", **kwargs))
    context = name, args, kwargs, list(g.nodes), list(g.edges(data=True))
    if check is None or has_failed(theirs):
        assert ours == theirs, context
    else:
        assert check(ours, theirs), (context, ours, theirs)


def same_lengths(g, weighted):
    """Paths by node that are as long as networkx's, over edges of the graph, from and to the same nodes."""

    def length(path):
        return lightest(g, path) if weighted else len(path) - 1

    def check(ours, theirs):
        if isinstance(theirs, list) and theirs and not isinstance(theirs[0], tuple):
            return (ours[0], ours[-1]) == (theirs[0], theirs[-1]) and close(length(ours), length(theirs))
        ours, theirs = dict(ours), dict(theirs)
        return ours.keys() == theirs.keys() and all(check(ours[node], theirs[node]) for node in theirs)

    return check


def same_numbers(ours, theirs):
    if isinstance(theirs, (dict, list)):
        ours, theirs = dict(ours), dict(theirs)
        return ours.keys() == theirs.keys() and all(same_numbers(ours[k], theirs[k]) for k in theirs)
    return close(ours, theirs)


@pytest.mark.parametrize("part", range(4))
def test_functions_are_networkxs(part):
    for seed in range(part * 150, part * 150 + 150):
        g, nodes = draw(seed)
        s, t = nodes[0], nodes[-1]
        for method in ("dijkstra", "bellman-ford"):
            for ends in ({}, {"source": s}, {"target": t}, {"source": s, "target": t}, {"source": "nobody"}):
                weighted = {"weight": "weight", "method": method}
                expect_same(g, "shortest_path_length", **ends, **weighted, check=same_numbers)
                expect_same(g, "shortest_path", **ends, **weighted, check=same_lengths(g, True))
                expect_same(g, "shortest_path_length", **ends)
                expect_same(g, "shortest_path", **ends, check=same_lengths(g, False))
        expect_same(g, "shortest_path", s, "nobody")
        if not g.is_directed():
            expect_same(g, "bidirectional_shortest_path", s, t)  # the very path
        expect_same(g, "bidirectional_shortest_path", s, t, check=same_lengths(g, False))
        expect_same(g, "bidirectional_shortest_path", s, "nobody")
        for cutoff in (None, 0, 1, 2.5):
            expect_same(g, "single_target_shortest_path", t, cutoff, check=same_lengths(g, False))
            expect_same(g, "all_pairs_shortest_path", cutoff, check=same_lengths(g, False))
            expect_same(g, "all_pairs_dijkstra_path_length", cutoff, check=same_numbers)
            expect_same(g, "all_pairs_dijkstra_path", cutoff, check=same_lengths(g, True))
        for name in ("all_pairs_bellman_ford_path", "johnson"):
            expect_same(g, name, check=same_lengths(g, True))
        expect_same(g, "all_pairs_bellman_ford_path_length", check=same_numbers)
        for node in (s, "nobody"):
            expect_same(g, "single_source_bellman_ford_path_length", node, check=same_numbers)
            expect_same(g, "single_source_bellman_ford_path", node, check=same_lengths(g, True))
            expect_same(g, "bellman_ford_path_length", node, t, check=close)
            expect_same(g, "bellman_ford_path", node, t, check=same_lengths(g, True))
            expect_same(g, "bellman_ford_path_length", node, node, check=close)
            expect_same(g, "single_source_bellman_ford", node, node)
            expect_same(g, "bidirectional_dijkstra", node, t, check=lambda a, b: close(a[0], b[0]) and close(lightest(g, a[1]), b[0]))
        expect_same(g, "floyd_warshall_numpy", check=lambda a, b: np.allclose(a, b, rtol=1e-12))
        expect_same(g, "floyd_warshall_numpy", nodes[::-1], check=lambda a, b: np.allclose(a, b, rtol=1e-12))
        expect_same(g, "generic_bfs_edges", s)
        expect_same(g, "generic_bfs_edges", s, depth_limit=seed % 3)
        expect_same(g, "number_of_selfloops")
        expect_same(g, "is_negatively_weighted")
        expect_same(g, "wiener_index")
        expect_same(g, "barycenter")
        if not g.is_directed():
            expect_same(g, "global_efficiency", check=close)


@pytest.mark.parametrize("weighted", [False, True])
def test_simple_paths_come_by_length(weighted):
    """networkx has another order of equally long ones, so that it keeps its function."""
    assert "shortest_simple_paths" not in FUNCTIONS
    for seed in range(150):
        g, _ = draw(seed, (nx.Graph, nx.DiGraph))
        g = nx.convert_node_labels_to_integers(g)
        s, t = 0, len(g) - 1
        if s == t:
            continue
        g.remove_edges_from(list(g.edges)[30:])
        ours = spargo.Graph.from_networkx(g, weight="weight").k_shortest_paths(s, t, 40, weighted=weighted)
        ours = [path.vertices.tolist() for path in ours]
        wanted = islice(nx.shortest_simple_paths(g, s, t, "weight" if weighted else None), 40) if nx.has_path(g, s, t) else []
        lengths = [[lightest(g, p) if weighted else len(p) for p in paths] for paths in (ours, list(wanted))]
        assert close(*lengths), (seed, ours)
        assert all(nx.is_simple_path(g, p) for p in ours) and len(set(map(tuple, ours))) == len(ours)


def test_parts_of_bipartite_graphs_and_cores():
    for seed in range(150):
        g, _ = draw(seed, (nx.Graph, nx.DiGraph))
        theirs = outcome(lambda: nx.bipartite.sets(g, backend="networkx"))
        assert outcome(lambda: nx.bipartite.sets(g, backend="spargo")) == theirs
        bare = nx.Graph(g.edges)
        bare.remove_edges_from(list(nx.selfloop_edges(bare)))
        if len(bare) == 0:
            continue
        for name, arguments in (("k_shell", ()), ("k_shell", (1,)), ("k_crust", ()), ("k_crust", (1,)), ("k_corona", (1,)), ("k_corona", (2,))):
            wanted = getattr(nx, name)(bare, *arguments, backend="networkx")
            got = backend.convert_to_nx(getattr(nx, name)(bare, *arguments, backend="spargo"))
            assert nx.utils.graphs_equal(got, wanted), (name, arguments, list(bare.edges))


@pytest.mark.parametrize("part", range(2))
def test_weights_of_both_signs(part):
    """Heights of the nodes explain most weights, so that about half of the graphs have no negative cycle."""
    unbounded = 0
    for seed in range(part * 200, part * 200 + 200):
        g, nodes = draw(seed, (nx.DiGraph, nx.MultiDiGraph, nx.DiGraph, nx.Graph))
        source = random.Random(seed)
        height = {node: source.randrange(20) for node in nodes}
        for u, v, d in g.edges(data=True):
            d["weight"] = height[v] - height[u] + (0.25 if seed % 3 else 1) * source.randrange(5) - (source.random() < 0.03)
        s, t = nodes[0], nodes[-1]
        unbounded += nx.negative_edge_cycle(g, backend="networkx")
        expect_same(g, "negative_edge_cycle")
        expect_same(g, "johnson", check=same_lengths(g, True))
        if not nx.negative_edge_cycle(g, backend="networkx"):  # else networkx's order decides which node is met first
            expect_same(g, "all_pairs_bellman_ford_path", check=same_lengths(g, True))
            expect_same(g, "all_pairs_bellman_ford_path_length", check=same_numbers)
            expect_same(g, "shortest_path", weight="weight", method="bellman-ford", check=same_lengths(g, True))
            expect_same(g, "shortest_path", target=t, weight="weight", method="bellman-ford", check=same_lengths(g, True))
        for node in (s, "nobody"):
            expect_same(g, "single_source_bellman_ford_path_length", node, check=same_numbers)
            expect_same(g, "single_source_bellman_ford_path", node, check=same_lengths(g, True))
            expect_same(g, "single_source_bellman_ford", node, check=lambda a, b: same_numbers(a[0], b[0]) and same_lengths(g, True)(a[1], b[1]))
            expect_same(g, "bellman_ford_path_length", node, t, check=close)
            expect_same(g, "bellman_ford_path", node, t, check=same_lengths(g, True))
            expect_same(g, "shortest_path_length", node, t, weight="weight", method="bellman-ford", check=close)
    assert 25 < unbounded < 175


def test_what_networkx_does_itself():
    g = nx.DiGraph()
    g.add_edge(0, 1, weight=-1)
    huge = nx.DiGraph([(0, 1, {"weight": -(2**60)})])
    assert backend.can_run("bellman_ford_path", (huge, 0, 1), {}) == (
        "weights of edges are infinite, no numbers, or negative and rounded by float64"
    )
    for call in (
        lambda b: nx.shortest_path(g, 0, 1, weight="weight", backend=b),
        lambda b: nx.shortest_path(g, 0, 1, weight=lambda u, v, d: 1, backend=b),
        lambda b: nx.shortest_path(g, 0, 1, method="other", backend=b),
        lambda b: nx.johnson(huge, backend=b),
        lambda b: list(nx.all_pairs_dijkstra_path_length(g, backend=b)),
        lambda b: nx.generic_bfs_edges(g, 0, neighbors=g.neighbors, backend=b),
        lambda b: nx.barycenter(g, attr="sum", backend=b),
    ):
        with pytest.raises(NotImplementedError):
            call("spargo")
    assert nx.is_negatively_weighted(g, backend="spargo")


def test_methods():
    g = spargo.Graph([("a", "b", 2.0), ("b", "c", 3.0), ("a", "c", 7.0)])
    path = g.shortest_path("a", "c")
    assert g.names(path.vertices) == ["a", "b", "c"] and path.length == 5
    assert g.shortest_path("a", "c", weighted=False).vertices.tolist() == [0, 2]
    assert g.shortest_path("c", "a").vertices.size == 0 and g.shortest_path("c", "a").length == math.inf
    assert g.shortest_path("c", "a", weighted=False).length == math.inf
    assert [(p.vertices.tolist(), p.length) for p in g.k_shortest_paths("a", "c", 5)] == [([0, 1, 2], 5), ([0, 2], 7)]
    assert [p.length for p in g.k_shortest_paths("a", "c", 1, weighted=False)] == [1]
    assert g.path_lengths(["a", "b", "a"], ["c", "a", "a"]).tolist() == [5, math.inf, 0]
    assert g.path_lengths(["b"], ["a"], weighted=False).tolist() == [np.iinfo(np.int64).max]
    assert g.has_path("a", "c") and not g.has_path("c", "a")


def test_all_distances_come_in_batches():
    g = spargo.Graph(nx.gnm_random_graph(50, 80, seed=3))
    dense = spargo.csgraph.shortest_path(g)
    for weighted in (False, True):
        batches = list(g.all_distances(weighted=weighted, batch_bytes=8 * 50 * 7))
        assert [len(sources) for sources, _ in batches] == [7] * 7 + [1]
        rows = np.concatenate([rows for _, rows in batches])
        reached = rows != (np.iinfo(np.int64).max if weighted else -1)
        np.testing.assert_array_equal(np.where(reached, rows, np.inf), dense)
    sources, rows = next(g.all_distances([4, 4, 2]))
    assert sources.tolist() == [4, 4, 2] and np.array_equal(rows[0], rows[1]) and rows.shape == (3, 50)


def test_coordinates():
    grid = nx.grid_2d_graph(12, 12)
    for k, (u, v) in enumerate(grid.edges):
        grid.edges[u, v]["weight"] = 10 + k % 4
    g, at = spargo.Graph(grid), np.array(list(grid))
    s, t = g.index((2, 3)), g.index((9, 5))
    wanted = nx.dijkstra_path_length(grid, (2, 3), (9, 5))
    plain, guided = g.shortest_path(s, t), g.shortest_path(s, t, coordinates=at)
    assert plain.length == guided.length == wanted == g.shortest_path(s, t, coordinates=at, scale=5).length
    assert guided.expanded < plain.expanded
    with pytest.raises(spargo.Error, match="expected no edge to be shorter"):
        g.shortest_path(s, t, coordinates=at, scale=100)
    with pytest.raises(spargo.Error, match=r"coordinates of shape \(3, 2\) \(expected \(144, dimensions\)\)"):
        g.shortest_path(s, t, coordinates=at[:3])
    with pytest.raises(ValueError, match="metric"):
        g.shortest_path(s, t, coordinates=at, metric="other")


def test_paths_that_are_too_long_are_refused():
    g = spargo.Graph.from_edges([0, 1], [1, 2], np.array([2**62, 2**62]))
    for call in (
        lambda: g.shortest_path(0, 2),
        lambda: g.k_shortest_paths(0, 2, 1),
        lambda: g.path_lengths([0], [2]),
        lambda: next(g.all_distances()),
    ):
        with pytest.raises(NotImplementedError, match="whose sums"):
            call()
    g = nx.Graph()
    g.add_edge(0, 1, weight=2**53)
    assert nx.shortest_path_length(g, 0, 1, weight="weight", backend="spargo") == 2**53


def test_all_of_them_are_the_backends():
    names = {"shortest_path", "shortest_path_length", "johnson", "floyd_warshall_numpy", "sets", "k_corona"}
    assert names <= set(FUNCTIONS)
