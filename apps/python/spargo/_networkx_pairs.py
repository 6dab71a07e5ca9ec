"""The backend's paths and distances between nodes, with networkx's names and semantics."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import networkx as nx  # type: ignore[import-untyped]
import numpy as np

from ._arrays import Array
from ._graph import Graph
from ._networkx_paths import (
    Node,
    _bellman_ford,
    _by_distance,
    _depth,
    _found,
    _paths,
    _reversed,
    _to_target,
    _tree,
    all_pairs_shortest_path_length,
    bfs_edges,
    dijkstra_path_length,
    expect_lengths,
    has_negative,
    single_source_dijkstra,
    single_source_dijkstra_path,
    single_source_dijkstra_path_length,
    single_source_shortest_path,
    single_source_shortest_path_length,
)

# --- Numbers of edges -------------------------------------------------------------------------------------------------


def has_path(G: Graph, source: Node, target: Node) -> bool:
    start = _found(G, source, text="Source {} is not in G")
    return G.has_path(start, _found(G, target, text="Target {} is not in G"))


def bidirectional_shortest_path(G: Graph, source: Node, target: Node) -> list[Node]:
    start = _found(G, source, text="Source {} is not in G")
    path = G._path_of_edges(start, _found(G, target, text="Target {} is not in G"))
    if path.size == 0:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return G.names(path)


def single_target_shortest_path(G: Graph, target: Node, cutoff: float | None = None) -> dict[Node, list[Node]]:
    paths = {target: [target]}
    for node, parent in zip(*_tree(_reversed(G), target, cutoff, text="Target {} not in G")):
        paths[node] = [node, *paths[parent]]
    return paths


def all_pairs_shortest_path(G: Graph, cutoff: float | None = None) -> Iterator[tuple[Node, dict[Node, list[Node]]]]:
    return ((node, single_source_shortest_path(G, node, cutoff)) for node in G.names(np.arange(G.vertices)))


def generic_bfs_edges(
    G: Graph, source: Node, neighbors: None = None, depth_limit: int | None = None
) -> Iterator[tuple[Node, Node]]:
    return bfs_edges(G, source, depth_limit=depth_limit)


# --- Weights ----------------------------------------------------------------------------------------------------------


def _all_distances(G: Graph, cutoff: float | None) -> Iterator[tuple[Node, dict[Node, Any]]]:
    """The distances from each node, many sources at once where no path can be too long for them."""
    names = G.names(np.arange(G.vertices))
    if G._has_long_paths() or (cutoff is not None and cutoff < 0):
        yield from ((node, single_source_dijkstra_path_length(G, node, cutoff)) for node in names)
        return
    for sources, rows in G._distances(np.arange(G.vertices, dtype=G.indices.dtype), True, 256):
        unreached = np.iinfo(np.int64).max if rows.dtype == np.int64 else math.inf
        for source, row in zip(sources.tolist(), rows):
            kept = row != unreached if cutoff is None else (row != unreached) & (row <= cutoff)
            yield names[source], _by_distance(G, row, np.flatnonzero(kept))


def all_pairs_dijkstra_path_length(
    G: Graph, cutoff: float | None = None, weight: str = "weight"
) -> Iterator[tuple[Node, dict[Node, Any]]]:
    expect_lengths(G)
    return _all_distances(G, cutoff)


def all_pairs_dijkstra_path(
    G: Graph, cutoff: float | None = None, weight: str = "weight"
) -> Iterator[tuple[Node, dict[Node, list[Node]]]]:
    expect_lengths(G)
    return ((node, single_source_dijkstra_path(G, node, cutoff)) for node in G.names(np.arange(G.vertices)))


def all_pairs_dijkstra(
    G: Graph, cutoff: float | None = None, weight: str = "weight"
) -> Iterator[tuple[Node, tuple[dict[Node, Any], dict[Node, list[Node]]]]]:
    expect_lengths(G)
    return ((node, single_source_dijkstra(G, node, None, cutoff)) for node in G.names(np.arange(G.vertices)))


def bidirectional_dijkstra(G: Graph, source: Node, target: Node, weight: str = "weight") -> tuple[Any, list[Node]]:
    start = _found(G, source, text="Source {} is not in G")
    end = _found(G, target, text="Target {} is not in G")
    if start == end:
        return 0, [source]
    expect_lengths(G)
    path = G.shortest_path(start, end, weighted=True)
    if path.vertices.size == 0:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return path.length, G.names(path.vertices)


# Bellman-Ford: weights may be negative.


def _source(G: Graph, source: Node) -> int:
    return _found(G, source, text="Source {} not in G")


def single_source_bellman_ford_path_length(G: Graph, source: Node, weight: str = "weight") -> dict[Node, Any]:
    _source(G, source)
    found, reached = _bellman_ford(G, source)
    return _by_distance(G, found.distances, reached)


def single_source_bellman_ford_path(G: Graph, source: Node, weight: str = "weight") -> dict[Node, list[Node]]:
    _source(G, source)
    return _paths(G, *_bellman_ford(G, source))


def single_source_bellman_ford(
    G: Graph, source: Node, target: Node | None = None, weight: str = "weight"
) -> tuple[Any, Any]:
    if source == target:
        return 0, [G.names([_found(G, source, text="Node {} is not found in the graph")])[0]]
    _source(G, source)
    if target is None:
        found, reached = _bellman_ford(G, source)
        return _by_distance(G, found.distances, reached), _paths(G, found, reached)
    return _to_target(G, source, target, f"Target {target} cannot be reached from given sources", _bellman_ford)


def bellman_ford_path(G: Graph, source: Node, target: Node, weight: str = "weight") -> list[Node]:
    path: list[Node] = single_source_bellman_ford(G, source, target)[1]
    return path


def bellman_ford_path_length(G: Graph, source: Node, target: Node, weight: str = "weight") -> Any:
    if source == target:
        _found(G, source, text="Node {} not found in graph")
        return 0
    _source(G, source)
    return _to_target(G, source, target, f"node {target} not reachable from {source}", _bellman_ford)[0]


def all_pairs_bellman_ford_path_length(
    G: Graph, weight: str = "weight"
) -> Iterator[tuple[Node, dict[Node, Any]]]:
    if not has_negative(G):
        return all_pairs_dijkstra_path_length(G)
    return ((node, single_source_bellman_ford_path_length(G, node)) for node in G.names(np.arange(G.vertices)))


def all_pairs_bellman_ford_path(
    G: Graph, weight: str = "weight"
) -> Iterator[tuple[Node, dict[Node, list[Node]]]]:
    return ((node, single_source_bellman_ford_path(G, node)) for node in G.names(np.arange(G.vertices)))


def johnson(G: Graph, weight: str = "weight") -> dict[Node, dict[Node, list[Node]]]:
    if negative_edge_cycle(G):
        raise nx.NetworkXUnbounded("Negative cycle detected.")
    return dict(all_pairs_bellman_ford_path(G))


def negative_edge_cycle(G: Graph, weight: str = "weight", heuristic: bool = True) -> bool:
    return has_negative(G) and bool(G.find_negative_cycle().size > 0)


def floyd_warshall_numpy(G: Graph, nodelist: list[Node] | None = None, weight: str = "weight") -> Array:
    expect_lengths(G)
    rows = [np.where(_is_reached(row), row, math.inf) for _, row in G.all_distances(weighted=True)]
    distances: Array = np.concatenate(rows).astype(np.float64) if rows else np.empty((0, 0))
    if nodelist is None:
        return distances
    order = np.array([G.index(node) for node in nodelist], np.int64)
    return distances[order][:, order]


def _is_reached(rows: Array) -> Any:
    return rows != (np.iinfo(np.int64).max if rows.dtype == np.int64 else math.inf)


# --- Any of them ------------------------------------------------------------------------------------------------------


def shortest_path(
    G: Graph, source: Node | None = None, target: Node | None = None, weight: str | None = None, method: str = "dijkstra"
) -> Any:
    if source is not None and target is not None:
        if weight is None:
            return bidirectional_shortest_path(G, source, target)
        return (bellman_ford_path(G, source, target) if method == "bellman-ford" else
                bidirectional_dijkstra(G, source, target)[1])
    if source is None and target is None:
        if weight is None:
            return all_pairs_shortest_path(G)
        return (all_pairs_bellman_ford_path if method == "bellman-ford" else all_pairs_dijkstra_path)(G)
    searched = G if target is None else G.reverse()
    one = source if target is None else target
    if weight is None:
        paths = single_source_shortest_path(searched, one)
    else:
        paths = (single_source_bellman_ford_path if method == "bellman-ford" else single_source_dijkstra_path)(searched, one)
    return paths if target is None else {node: path[::-1] for node, path in paths.items()}


def shortest_path_length(
    G: Graph, source: Node | None = None, target: Node | None = None, weight: str | None = None, method: str = "dijkstra"
) -> Any:
    if source is not None and target is not None:
        if weight is None:
            return len(bidirectional_shortest_path(G, source, target)) - 1
        return (bellman_ford_path_length if method == "bellman-ford" else dijkstra_path_length)(G, source, target)
    if source is None and target is None:
        if weight is None:
            return all_pairs_shortest_path_length(G)
        return (all_pairs_bellman_ford_path_length if method == "bellman-ford" else all_pairs_dijkstra_path_length)(G)
    searched = G if target is None else G.reverse()
    one = source if target is None else target
    if weight is None:
        return single_source_shortest_path_length(searched, one)
    return (single_source_bellman_ford_path_length if method == "bellman-ford" else single_source_dijkstra_path_length)(
        searched, one
    )


# --- Sums of distances ------------------------------------------------------------------------------------------------


def _sums(G: Graph) -> tuple[Array, bool]:
    """The sum of the distances from each vertex, and whether every vertex reaches all."""
    found = G.multi_bfs(np.arange(G.vertices), levels=False)
    return found.distance_sums, bool(np.all(found.reached == G.vertices))


def wiener_index(G: Graph, weight: None = None) -> float:
    if G.vertices == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    sums, connected = _sums(G)
    if not connected:
        return float("inf")
    total = int(sums.sum())
    return total if G.directed else total / 2


def barycenter(G: Graph, weight: None = None, attr: None = None, sp: None = None) -> list[Node]:
    sums, connected = _sums(G)
    if not connected:
        kind = f"{'Multi' if G.is_multigraph() else ''}{'Di' if G.directed else ''}Graph"
        raise nx.NetworkXNoPath(
            f"Input graph {kind} with {G.vertices} nodes and {G.edges} edges is disconnected, so every induced subgraph has "
            "infinite barycentricity."
        )
    return G.names(np.flatnonzero(sums == sums.min())) if sums.size > 0 else []


def global_efficiency(G: Graph) -> float:
    pairs = G.vertices * (G.vertices - 1)
    return 0 if pairs == 0 else float(G.closeness(measure="harmonic").sum()) / pairs


def harmonic_diameter(G: Graph, sp: None = None, *, weight: None = None) -> float:
    n = G.vertices
    total = float(G.closeness(measure="harmonic").sum()) if n > 1 else 0.0
    return n * (n - 1) / total if total != 0 else math.inf if n > 1 else math.nan
