"""The backend's functions of structure, with networkx's names and semantics."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import networkx as nx  # type: ignore[import-untyped]
import numpy as np

from ._arrays import Array
from ._graph import Graph
from ._networkx_paths import Node, _depth, _dfs, _found, _tree

# --- Directed acyclic graphs ------------------------------------------------------------------------------------------


def topological_generations(G: Graph) -> Iterator[list[Node]]:
    if not G.directed:
        raise nx.NetworkXError("Topological sort not defined on undirected graphs.")
    order, offsets, cycle = G._called("topological_order", False)
    for first, last in zip(offsets[:-1], offsets[1:]):
        yield G.names(order[first:last])
    if cycle.size > 0:
        raise nx.NetworkXUnfeasible("Graph contains a cycle or graph changed during iteration")


def topological_sort(G: Graph) -> Iterator[Node]:
    for generation in topological_generations(G):
        yield from generation


def is_directed_acyclic_graph(G: Graph) -> bool:
    return G.directed and G.find_cycle().size == 0


def has_cycle(G: Graph) -> bool:
    if not G.directed:
        raise nx.NetworkXError("Topological sort not defined on undirected graphs.")
    return G.find_cycle().size > 0


# --- Bipartite graphs -------------------------------------------------------------------------------------------------


def color(G: Graph) -> dict[Node, int]:
    sides = G.bipartition()
    if sides is None:
        raise nx.NetworkXError("Graph is not bipartite.")
    return dict(zip(G.names(np.arange(G.vertices)), sides.tolist()))


def sets(G: Graph, top_nodes: None = None) -> tuple[set[Node], set[Node]]:
    if G.vertices == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    if G.connected_components()[0] != 1:
        raise nx.AmbiguousSolution("Disconnected graph: Ambiguous solution for bipartite sets.")
    sides = color(G)
    return {node for node, side in sides.items() if side}, {node for node, side in sides.items() if not side}


def is_bipartite(G: Graph) -> bool:
    return G.bipartition() is not None


def hopcroft_karp_matching(G: Graph, top_nodes: None = None) -> dict[Node, Node]:
    sets(G)  # refuses what networkx refuses
    return _mates(G, G.bipartite_matching()[0])


def to_vertex_cover(G: Graph, matching: dict[Node, Node], top_nodes: None = None) -> set[Node]:
    sets(G)  # the cover is the same for every maximum matching, which this one has to be
    return set(G.names(np.flatnonzero(G.bipartite_matching()[1])))


# --- Colourings, independent sets and matchings -----------------------------------------------------------------------


def greedy_color(G: Graph, strategy: str = "largest_first", interchange: bool = False) -> dict[Node, int]:
    if strategy == "random_sequential":
        colors = G.coloring(order="random", seed=random.getrandbits(63))
    else:
        colors = G.coloring(order=strategy)
    return dict(zip(G.names(np.arange(G.vertices)), colors.tolist()))


def maximal_independent_set(G: Graph, nodes: None = None, seed: Any = None) -> list[Node]:
    return G.names(G.independent_set(order="random", seed=seed.getrandbits(63)))


def maximal_matching(G: Graph) -> set[tuple[Node, Node]]:
    mates = G.matching()
    first = np.flatnonzero(mates > np.arange(G.vertices))
    return set(zip(G.names(first), G.names(mates[first])))


def _mates(G: Graph, mates: Array) -> dict[Node, Node]:
    matched = np.flatnonzero(mates >= 0)
    return dict(zip(G.names(matched), G.names(mates[matched])))


# --- Cuts -------------------------------------------------------------------------------------------------------------


def bridges(G: Graph, root: None = None) -> Iterator[tuple[Node, Node]]:
    found = G.biconnectivity().bridges
    yield from zip(G.names(found[:, 0]), G.names(found[:, 1]))


def has_bridges(G: Graph, root: None = None) -> bool:
    return len(G.biconnectivity().bridges) > 0


def articulation_points(G: Graph) -> Iterator[Node]:
    yield from G.names(G.biconnectivity().articulation_points)


def biconnected_components(G: Graph) -> Iterator[set[Node]]:
    for part in G.biconnectivity().components:
        yield set(G.names(part))


def is_biconnected(G: Graph) -> bool:
    components = G.biconnectivity().components
    return len(components) == 1 and components[0].size == G.vertices


# --- Degrees ----------------------------------------------------------------------------------------------------------


def _shares(G: Graph, degrees: Array) -> dict[Node, Any]:
    names = G.names(np.arange(G.vertices))
    if G.vertices <= 1:
        return dict.fromkeys(names, 1)
    return dict(zip(names, (degrees * (1.0 / (G.vertices - 1.0))).tolist()))


def degree_centrality(G: Graph) -> dict[Node, float]:
    return _shares(G, G._total_degrees())


def in_degree_centrality(G: Graph) -> dict[Node, float]:
    return _shares(G, np.bincount(G.indices, minlength=G.vertices))


def out_degree_centrality(G: Graph) -> dict[Node, float]:
    return _shares(G, G.degrees)


def overall_reciprocity(G: Graph) -> float:
    if G.edges == 0:
        raise nx.NetworkXError("Not defined for empty graphs")
    sources, targets = G._sources().astype(np.int64), G.indices
    pairs = np.minimum(sources, targets) * G.vertices + np.maximum(sources, targets)
    return (G.edges - np.unique(pairs).size) * 2 / G.edges


def reciprocity(G: Graph, nodes: None = None) -> float:
    return overall_reciprocity(G)


def isolates(G: Graph) -> Iterator[Node]:
    return iter(G.names(np.flatnonzero(G._total_degrees() == 0)))


def number_of_isolates(G: Graph) -> int:
    return int(np.count_nonzero(G._total_degrees() == 0))


def is_isolate(G: Graph, n: Node) -> bool:
    return bool(G._total_degrees()[G.index(n)] == 0)


# --- Trees ------------------------------------------------------------------------------------------------------------


def _expect_nodes(G: Graph) -> None:
    if G.vertices == 0:
        raise nx.NetworkXPointlessConcept("G has no nodes.")


def is_tree(G: Graph) -> bool:
    _expect_nodes(G)
    return G.vertices - 1 == G.edges and G.connected_components()[0] == 1


def is_forest(G: Graph) -> bool:
    _expect_nodes(G)
    return G.vertices - G.connected_components()[0] == G.edges


def is_arborescence(G: Graph) -> bool:
    return is_tree(G) and bool(np.bincount(G.indices, minlength=1).max() <= 1)


def is_branching(G: Graph) -> bool:
    return is_forest(G) and bool(np.bincount(G.indices, minlength=1).max() <= 1)


# --- Cores ------------------------------------------------------------------------------------------------------------


def _core(G: Graph, k: int | None, less: int, chosen: Any) -> Graph:
    cores = G.core_numbers()
    return G._induced(chosen(cores, int(cores.max()) - less if k is None else k))


def k_shell(G: Graph, k: int | None = None, core_number: None = None) -> Graph:
    return _core(G, k, 0, lambda cores, least: cores == least)


def k_crust(G: Graph, k: int | None = None, core_number: None = None) -> Graph:
    return _core(G, k, 1, lambda cores, most: cores <= most)


def k_corona(G: Graph, k: int, core_number: None = None) -> Graph:
    def chosen(cores: Array, k: int) -> Array:
        inside = np.bincount(G._sources(), cores[G.indices] >= k, G.vertices)
        result: Array = (cores == k) & (inside == k)
        return result

    return _core(G, k, 0, chosen)


# --- Derived graphs ---------------------------------------------------------------------------------------------------


def reverse(G: Graph, copy: bool = True) -> Graph:
    if not G.directed:
        raise nx.NetworkXError("Cannot reverse an undirected graph.")
    return G.reverse()


def complement(G: Graph) -> Graph:
    return G.complement()


def ego_graph(
    G: Graph, n: Node, radius: float = 1, center: bool = True, undirected: bool = False, distance: None = None
) -> Graph:
    source = _found(G, n, text="Source {} is not in G")
    levels = G.bfs(source, parents=None, max_depth=_depth(radius)).levels
    kept = levels >= 0
    kept[source] = center
    return G._induced(kept)


def bfs_tree(
    G: Graph, source: Node, reverse: bool = False, depth_limit: int | None = None, sort_neighbors: None = None
) -> Graph:
    return _as_graph(G, source, *_tree(G, source, depth_limit, nx.NetworkXError, "The node {} is not in the graph."))


def dfs_tree(G: Graph, source: Node = None, depth_limit: None = None, *, sort_neighbors: None = None) -> Graph:
    return _as_graph(G, source, *_dfs(G, source))


def _as_graph(G: Graph, source: Node, nodes: list[Node], parents: list[Node]) -> Graph:
    """The tree of a search, its nodes in the order of the search."""
    numbers = {node: k for k, node in enumerate([source, *nodes])}
    rows = np.array([numbers[parent] for parent in parents], np.int64)
    offsets = np.append(0, np.cumsum(np.bincount(rows, minlength=len(numbers)))).astype(G.offsets.dtype)
    children = 1 + np.argsort(rows, kind="stable")
    return Graph._of(offsets, children.astype(G.indices.dtype), None, True, list(numbers))


# --- Counts and sums --------------------------------------------------------------------------------------------------


def number_of_selfloops(G: Graph) -> int:
    return G._loop_count()


def is_negatively_weighted(G: Graph, edge: None = None, weight: str = "weight") -> bool:
    return G.weights is not None and bool(np.any(G.weights < 0))



def average_shortest_path_length(G: Graph, weight: None = None, method: None = None) -> float:
    n = G.vertices
    if n == 0:
        text = "the null graph has no paths, thus there is no average shortest path length"
        raise nx.NetworkXPointlessConcept(text)
    if n == 1:
        return 0
    if G.connected_components(connection="strong" if G.directed else "weak")[0] > 1:
        raise nx.NetworkXError(f"Graph is not {'strongly ' if G.directed else ''}connected.")
    return int(G.multi_bfs(np.arange(n), levels=False).distance_sums.sum()) / (n * (n - 1))
