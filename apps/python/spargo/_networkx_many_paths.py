"""The backend's sets of shortest paths and paths from several nodes, with networkx's names and semantics."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import networkx as nx  # type: ignore[import-untyped]
import numpy as np
from networkx.algorithms.shortest_paths.generic import _build_paths_from_predecessors  # type: ignore[import-untyped]

from ._arrays import Array
from ._graph import Graph
from ._networkx_pairs import _is_reached, bidirectional_dijkstra
from ._networkx_paths import Node, _by_distance, _found, expect_lengths

# --- All shortest paths -----------------------------------------------------------------------------------------------


def _predecessors(G: Graph, source: Node, depth: int | None) -> tuple[dict[Node, list[Node]], dict[Node, int]]:
    """Every predecessor on a path with the fewest edges, and their numbers, in the order of a queue."""
    start = _found(G, source, text="Source {} not in G")
    order, _ = G._on_host().bfs_order(start)
    levels = G.bfs(start, parents=None, max_depth=depth).levels
    order = order[levels[order] >= 0]
    position = np.full(G.vertices, -1, np.int64)
    position[order] = np.arange(order.size)
    sources, targets = G._sources(), G.indices
    kept = (levels[sources] >= 0) & (levels[targets] == levels[sources] + 1)
    sources, targets = sources[kept], targets[kept]
    by_target = np.lexsort((position[sources], position[targets]))
    counts = np.bincount(position[targets], minlength=order.size)
    parents = iter(G.names(sources[by_target]))
    names = G.names(order)
    found = {node: [next(parents) for _ in range(count)] for node, count in zip(names, counts.tolist())}
    return found, dict(zip(names, levels[order].tolist()))


def predecessor(
    G: Graph, source: Node, target: Node | None = None, cutoff: float | None = None, return_seen: bool | None = None
) -> Any:
    depth = None if not cutoff or cutoff == math.inf else max(1, math.ceil(cutoff))
    found, levels = _predecessors(G, source, depth)
    if target is not None:
        parents = found.get(target, [])
        return (parents, levels.get(target, -1)) if return_seen else parents
    return (found, levels) if return_seen else found


def all_shortest_paths(
    G: Graph, source: Node, target: Node, weight: None = None, method: str = "dijkstra"
) -> Iterator[list[Node]]:
    paths: Iterator[list[Node]] = _build_paths_from_predecessors({source}, target, _predecessors(G, source, None)[0])
    return paths


def single_source_all_shortest_paths(
    G: Graph, source: Node, weight: None = None, method: str = "dijkstra"
) -> Iterator[tuple[Node, list[list[Node]]]]:
    found = _predecessors(G, source, None)[0]
    for node in found:
        yield node, list(_build_paths_from_predecessors({source}, node, found))


def all_pairs_all_shortest_paths(
    G: Graph, weight: None = None, method: str = "dijkstra"
) -> Iterator[tuple[Node, dict[Node, list[list[Node]]]]]:
    return ((node, dict(single_source_all_shortest_paths(G, node))) for node in G.names(np.arange(G.vertices)))


# --- From the nearest of several sources ------------------------------------------------------------------------------


def _from_several(
    G: Graph, sources: Any, cutoff: float | None, parents: str | None
) -> tuple[Array, Array | None, Array]:
    """Distances from the nearest source, parents (a source is its own), and the vertices that are reached."""
    if not sources:
        raise ValueError("sources must not be empty")
    starts = np.unique([_found(G, node, text="Node {} not found in graph") for node in sources])
    expect_lengths(G)
    weights = np.ones(G.indices.size, np.int64) if G.weights is None else G.weights
    if cutoff is not None and cutoff < 0:  # networkx always reaches the sources
        return np.zeros(G.vertices, weights.dtype), np.arange(G.vertices), starts
    # The search starts at one more vertex, with edges of no length to the sources.
    one_more = Graph._of(
        np.append(G.offsets, G.offsets[-1] + starts.size).astype(G.offsets.dtype),
        np.append(G.indices, starts.astype(G.indices.dtype)),
        np.append(weights, np.zeros(starts.size, weights.dtype)),
        True,
    )
    found = one_more.sssp(G.vertices, cutoff=cutoff, parents=parents)
    distances = found.distances[:-1]
    before = None
    if found.parents is not None:
        before = found.parents[:-1].copy()
        before[starts] = starts
    unreached = np.iinfo(np.int64).max if distances.dtype == np.int64 else math.inf
    return distances, before, np.flatnonzero(distances != unreached)


def _paths_from_several(G: Graph, distances: Array, parents: Array, reached: Array) -> dict[Node, list[Node]]:
    numbers = parents.tolist()
    paths: dict[int, list[int]] = {}
    for vertex in reached[np.argsort(distances[reached], kind="stable")].tolist():
        walked = []
        while vertex not in paths and numbers[vertex] != vertex:
            walked.append(vertex)
            vertex = numbers[vertex]
        paths.setdefault(vertex, [vertex])
        for v in reversed(walked):
            paths[v] = [*paths[vertex], v]
            vertex = v
    return {path[-1]: path for path in (G.names(np.array(path)) for path in paths.values())}


def multi_source_dijkstra_path_length(
    G: Graph, sources: Any, cutoff: float | None = None, weight: str = "weight"
) -> dict[Node, Any]:
    distances, _, reached = _from_several(G, sources, cutoff, None)
    return _by_distance(G, distances, reached)


def multi_source_dijkstra_path(
    G: Graph, sources: Any, cutoff: float | None = None, weight: str = "weight"
) -> dict[Node, list[Node]]:
    distances, parents, reached = _from_several(G, sources, cutoff, "any")
    assert parents is not None
    return _paths_from_several(G, distances, parents, reached)


def multi_source_dijkstra(
    G: Graph, sources: Any, target: Node | None = None, cutoff: float | None = None, weight: str = "weight"
) -> tuple[Any, Any]:
    distances, parents, reached = _from_several(G, sources, cutoff, "any")
    assert parents is not None
    if target is not None and target in sources:
        return 0, [target]
    paths = _paths_from_several(G, distances, parents, reached)
    if target is None:
        return _by_distance(G, distances, reached), paths
    if target not in paths:
        raise nx.NetworkXNoPath(f"No path to {target}.")
    return distances[G.index(target)].item(), paths[target]


def group_closeness_centrality(G: Graph, S: Any, weight: str | None = None) -> float:
    searched = G.reverse() if G.directed else G
    if weight is None and G.weights is not None:
        searched = Graph._of(searched.offsets, searched.indices, None, searched.directed, searched.nodes)
    members = set(S)
    lengths = multi_source_dijkstra_path_length(searched, members)
    total = sum(length for node, length in lengths.items() if node not in members)
    return 0 if total == 0 else (G.vertices - len(members)) / total


# --- Others -----------------------------------------------------------------------------------------------------------


def astar_path(
    G: Graph, source: Node, target: Node, heuristic: None = None, weight: str = "weight", *, cutoff: None = None
) -> list[Node]:
    try:
        path: list[Node] = bidirectional_dijkstra(G, source, target)[1]
        return path
    except nx.NetworkXNoPath:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}") from None


def astar_path_length(
    G: Graph, source: Node, target: Node, heuristic: None = None, weight: str = "weight", *, cutoff: None = None
) -> Any:
    try:
        return bidirectional_dijkstra(G, source, target)[0]
    except nx.NodeNotFound:
        raise nx.NodeNotFound(f"Either source {source} or target {target} is not in G") from None
    except nx.NetworkXNoPath:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}") from None


def floyd_warshall(G: Graph, weight: str = "weight") -> dict[Node, dict[Node, Any]]:
    expect_lengths(G)
    names = G.names(np.arange(G.vertices))
    rows = (row for _, batch in G.all_distances(weighted=True) for row in batch)
    found = {}
    for name, row in zip(names, rows):
        found[name] = {
            node: length if is_reached else math.inf
            for node, length, is_reached in zip(names, row.tolist(), _is_reached(row).tolist())
        }
    return found
