"""Methods of `Graph` about its structure, and networkx's functions over them, against networkx on random graphs."""

import random

import networkx as nx
import numpy as np
import pytest
import spargo
from spargo.networkx import FUNCTIONS, backend

ANY = (
    "is_directed_acyclic_graph topological_generations topological_sort is_tree is_forest degree_centrality isolates "
    "number_of_isolates average_shortest_path_length"
).split()
DIRECTED = "in_degree_centrality out_degree_centrality is_arborescence is_branching".split()
DEPTH_FIRST = "dfs_edges dfs_postorder_nodes dfs_predecessors dfs_preorder_nodes dfs_successors".split()
UNDIRECTED = "bridges has_bridges articulation_points biconnected_components is_biconnected".split()


def draw(seed):
    """A random graph of any kind, with loops, parallel edges, isolated nodes; often a tree or acyclic."""
    source = random.Random(seed)
    kind = source.choice([nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
    n = source.randrange(0, 13)
    g = kind()
    nodes = [f"n{v}" for v in range(n)] if seed % 3 == 0 else list(range(n))
    source.shuffle(nodes)
    g.add_nodes_from(nodes)
    shape = source.choice(["any", "any", "tree", "forward", "bipartite"])
    if shape == "tree":
        for k in range(1, n):
            if source.random() < 0.95:
                g.add_edge(nodes[source.randrange(k)], nodes[k])
    elif n > 0:
        for _ in range(source.randrange(0, 2 * n + 1)):
            u, v = source.randrange(n), source.randrange(n)
            if shape == "forward":
                u, v = min(u, v), max(u, v)
            if (shape == "forward" and u == v) or (shape == "bipartite" and (u + v) % 2 == 0):
                continue
            g.add_edge(nodes[u], nodes[v])
    return g


def outcome(call):
    """The result, as far as iterators go, or the error and its message; partial results of iterators before it."""
    done = []
    try:
        result = call()
        if hasattr(result, "__next__"):
            for item in result:
                done.append(item)
            return done
        return result
    except nx.NetworkXException as e:
        return done, type(e), str(e)


def compare(g, name, *args, module=nx, **kwargs):
    function = getattr(module, name)
    networkxs = outcome(lambda: function(g, *args, backend="networkx", **kwargs))
    ours = outcome(lambda: function(g, *args, backend="spargo", **kwargs))
    assert ours == networkxs, (name, args, list(g.nodes), list(g.edges))


def compare_graphs(g, name, *args, **kwargs):
    function = getattr(nx, name)
    made = []
    for which in ("networkx", "spargo"):
        try:
            made.append(function(g, *args, backend=which, **kwargs))
        except nx.NetworkXException as e:
            made.append((type(e), str(e)))
    if isinstance(made[0], tuple):
        assert made[1] == made[0]
        return
    expected, got = made[0], backend.convert_to_nx(made[1])
    assert type(got) is type(expected)
    assert sorted(map(str, got.nodes)) == sorted(map(str, expected.nodes))
    if name != "ego_graph":  # networkx iterates over a set there
        assert list(got.nodes) == list(expected.nodes)
        assert list(got.edges) == list(expected.edges), (name, list(g.edges))
    assert nx.utils.graphs_equal(got, expected), (name, args, list(g.nodes), list(g.edges))


@pytest.mark.parametrize("part", range(8))
def test_functions_are_networkxs(part):
    for seed in range(part * 250, part * 250 + 250):
        g = draw(seed)
        directed = g.is_directed()
        for name in ANY + (DIRECTED if directed else UNDIRECTED):
            if name in ("is_arborescence", "is_branching") and len(g) == 0:
                continue
            compare(g, name)
        compare(g, "color", module=nx.bipartite)
        compare(g, "is_bipartite", module=nx.bipartite)
        if directed and not g.is_multigraph():
            compare(g, "overall_reciprocity")
            compare(g, "reciprocity")
        nodes = list(g)[:3]
        for node in nodes:
            compare(g, "is_isolate", node)
            for other in nodes:
                compare(g, "has_path", node, other)
            for name in DEPTH_FIRST:
                compare(g, name, node)
            compare_graphs(g, "dfs_tree", node)
            compare_graphs(g, "bfs_tree", node)
            compare_graphs(g, "bfs_tree", node, depth_limit=seed % 3)
            if not g.is_multigraph():
                compare_graphs(g, "ego_graph", node, radius=seed % 4, center=seed % 2 == 0)
        compare(g, "has_path", "nobody", nodes[0] if nodes else 0)
        compare(g, "has_cycle", module=nx.dag)
        expected = nx.harmonic_diameter(g, backend="networkx")
        assert nx.harmonic_diameter(g, backend="spargo") == pytest.approx(expected, rel=1e-12, nan_ok=True)
        if not g.is_multigraph():
            compare_graphs(g, "complement")
        if directed:
            compare_graphs(g, "reverse")


def test_all_of_them_are_the_backends():
    names = {*ANY, *DIRECTED, *UNDIRECTED, "color", "is_bipartite", "overall_reciprocity", "reciprocity", "is_isolate"}
    names |= {*DEPTH_FIRST, "dfs_tree", "has_cycle", "harmonic_diameter"}
    assert names | {"has_path", "bfs_tree", "ego_graph", "complement", "reverse"} <= set(FUNCTIONS)


def test_what_networkx_does_itself():
    g = nx.path_graph(4)
    g.nodes[1]["color"] = "red"
    parallel = nx.MultiDiGraph([(0, 1), (1, 2), (1, 2)])  # no edge has a reverse
    for call in (
        lambda b: nx.bridges(g, root=1, backend=b),
        lambda b: nx.ego_graph(g, 1, backend=b),
        lambda b: nx.reverse(nx.DiGraph(g), backend=b),
        lambda b: nx.is_isolate(g, 9, backend=b),
        lambda b: nx.dfs_edges(g, backend=b),
        lambda b: nx.dfs_preorder_nodes(g, 9, backend=b),
        lambda b: nx.dfs_tree(g, 1, depth_limit=1, backend=b),
        lambda b: nx.dfs_successors(g, 1, sort_neighbors=sorted, backend=b),
        lambda b: nx.harmonic_diameter(g, sp={}, backend=b),
        lambda b: nx.overall_reciprocity(parallel, backend=b),
        lambda b: nx.reciprocity(parallel, backend=b),
    ):
        with pytest.raises(NotImplementedError):
            call("spargo")


def test_classes_that_compute_their_neighbours():
    class Complete(nx.Graph):
        def __getitem__(self, node):
            return {other: {} for other in self._adj if other != node}

    class Named(nx.Graph):
        pass

    g = Complete()
    g.add_nodes_from(range(4))
    with pytest.raises(NotImplementedError):
        nx.is_tree(g, backend="spargo")
    assert backend.can_run("is_tree", (g,), {}) == "a class of graphs that computes its neighbours"
    assert backend.can_run("is_tree", (Named([(0, 1)]),), {}) is True
    assert nx.number_connected_components(nx.subgraph_view(nx.path_graph(3), filter_node=lambda v: v != 1), backend="spargo") == 2


def test_methods():
    g = spargo.Graph.from_edges([0, 1, 1, 4], [1, 2, 3, 3], vertices=6)
    assert [level.tolist() for level in g.topological_levels()] == [[0, 4, 5], [1], [2, 3]]
    assert g.find_cycle().size == 0
    assert g.bipartition().tolist() == [1, 0, 1, 1, 0, 0]
    assert g.find_odd_cycle().size == 0
    assert g.has_path(0, 3) and not g.has_path(3, 0)
    assert g.k_hop_neighborhood(0).tolist() == [0, 1]
    part = g.ego_graph(1, 1)
    assert part.nodes.tolist() == [1, 2, 3] and part.edges == 2
    back = g.reverse()
    assert back.has_path(3, 0) and back.edges == g.edges
    u = spargo.Graph.from_edges([0, 1, 2, 2, 3], [1, 2, 0, 3, 4], directed=False)
    found = u.biconnectivity()
    assert found.bridges.tolist() == [[2, 3], [3, 4]]
    assert sorted(found.articulation_points.tolist()) == [2, 3]
    assert sorted(sorted(part.tolist()) for part in found.components) == [[0, 1, 2], [2, 3], [3, 4]]
    assert sorted(u.find_odd_cycle().tolist()) == [0, 1, 2] and u.bipartition() is None
    assert u.complement().edges == 10 - 5
    assert u.subgraph([2, 0, 2]).nodes.tolist() == [0, 2]


def test_weights_and_ids_are_kept():
    g = spargo.Graph([("a", "b", 2.5), ("b", "c", 3.0), ("c", "a", 4.0)])
    part = g.subgraph(["b", "c"])
    assert part.names([0, 1]) == ["b", "c"] and part.weights.tolist() == [3.0]
    back = g.reverse()
    assert dict(zip(zip(back._sources().tolist(), back.indices.tolist()), back.weights.tolist())) == {
        (v, u): w for (u, v), w in zip(zip(g._sources().tolist(), g.indices.tolist()), g.weights.tolist())
    }


def test_errors():
    cycle = spargo.Graph([("a", "b"), ("b", "c"), ("c", "b")])
    with pytest.raises(spargo.Error, match="a cycle of 2 vertices: (b, c|c, b)$"):
        cycle.topological_levels()
    undirected = spargo.Graph([(0, 1)], directed=False)
    with pytest.raises(spargo.Error, match="expected a directed one"):
        undirected.topological_levels()
    with pytest.raises(spargo.Error, match="expected an undirected one"):
        cycle.biconnectivity()
    with pytest.raises(spargo.Error):
        undirected.subgraph([2])
    with pytest.raises(spargo.Error):
        undirected.has_path(0, 2)
    with pytest.raises(spargo.OutOfMemoryError, match="complement: 40000000 vertices need"):
        spargo.Graph.from_edges([0], [1], vertices=40_000_000).complement()
    assert np.array_equal(spargo.Graph([], directed=True).topological_levels(), [])
