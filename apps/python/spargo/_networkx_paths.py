"""The backend's searches and shortest paths, with networkx's names and semantics."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from typing import Any

import networkx as nx  # type: ignore[import-untyped]
import numpy as np

from . import _device
from ._arrays import Array
from ._errors import UnsupportedError
from ._graph import Graph
from ._results import Sssp

Node = Hashable


# --- Breadth-first search ---------------------------------------------------------------------------------------------


def _found(graph: Graph, node: Node, kind: type[Exception] = nx.NodeNotFound, text: str = "{} is not in the graph") -> int:
    try:
        return graph.index(node)
    except (KeyError, TypeError):
        raise kind(text.format(node)) from None


def _by_node(graph: Graph, values: Array, nodes: Any = None) -> Any:
    """Values by node: of all nodes, of some, or of a single one."""
    if nodes is None:
        return dict(zip(graph.names(np.arange(graph.vertices)), values.tolist()))
    try:
        return values[graph.index(nodes)].item()
    except (KeyError, TypeError):
        pass
    chosen = []
    try:
        several = iter(nodes)
    except TypeError:
        raise nx.NetworkXError(f"Node {nodes} is not in graph") from None
    for node in several:  # as nbunch_iter, which skips anything that is not a node
        try:
            chosen.append(graph.index(node))
        except KeyError:
            continue
    vertices = np.array(chosen, dtype=np.int64)
    return dict(zip(graph.names(vertices), values[vertices].tolist()))


def _reversed(graph: Graph) -> Graph:
    """The graph with reversed edges. Neighbours are then in the order of vertices."""
    if not graph.directed:
        return graph
    graph._view(True)
    assert graph._in is not None
    offsets, indices = (_device.downloaded(a) if _device.is_vector(a) else a for a in graph._in)
    return Graph._of(offsets, indices, None, True, graph.nodes, graph.is_multigraph())._moved(graph._place)


def _depth(cutoff: float | None) -> int | None:
    """The last level for a networkx cutoff, which may be any number."""
    return None if cutoff is None or cutoff == math.inf else max(0, math.ceil(cutoff))


def _lengths(graph: Graph, source: Node, cutoff: float | None, what: str) -> dict[Node, int]:
    found = graph.bfs(_found(graph, source, text=what), parents=None, max_depth=_depth(cutoff))
    return _by_distance(graph, found.levels, np.flatnonzero(found.levels >= 0))


def _by_distance(graph: Graph, distances: Array, reached: Array) -> dict[Node, Any]:
    order = reached[np.argsort(distances[reached], kind="stable")]
    return dict(zip(graph.names(order), distances[order].tolist()))


def single_source_shortest_path_length(G: Graph, source: Node, cutoff: float | None = None) -> dict[Node, int]:
    return _lengths(G, source, cutoff, "Source {} is not in G")


def single_target_shortest_path_length(G: Graph, target: Node, cutoff: float | None = None) -> dict[Node, int]:
    return _lengths(_reversed(G), target, cutoff, "Target {} is not in G")


def all_pairs_shortest_path_length(G: Graph, cutoff: float | None = None) -> Iterator[tuple[Node, dict[Node, int]]]:
    return _all_lengths(G, _depth(cutoff))


def _all_lengths(G: Graph, depth: int | None) -> Iterator[tuple[Node, dict[Node, int]]]:
    for first in range(0, G.vertices, 256):
        sources = np.arange(first, min(first + 256, G.vertices))
        levels = G.multi_bfs(sources).levels
        assert levels is not None
        for source, row in zip(G.names(sources), levels):
            yield source, _by_distance(G, row, np.flatnonzero((row >= 0) if depth is None else (row >= 0) & (row <= depth)))


def _tree(graph: Graph, source: Node, cutoff: float | None, kind: type[Exception] = nx.NodeNotFound,
          text: str = "Source {} not in G") -> tuple[list[Node], list[Node]]:
    """The nodes in the order of a breadth-first search, without the source, and the predecessor of each."""
    order, predecessors = graph._on_host().bfs_order(_found(graph, source, kind, text))
    depth = _depth(cutoff)
    if depth is not None:  # levels never decrease along the queue
        levels = graph.bfs(int(order[0]), parents=None, max_depth=depth).levels
        order = order[levels[order] >= 0]
    found = order[1:]
    return graph.names(found), graph.names(predecessors[found])


def single_source_shortest_path(G: Graph, source: Node, cutoff: float | None = None) -> dict[Node, list[Node]]:
    paths = {source: [source]}
    for node, parent in zip(*_tree(G, source, cutoff)):
        paths[node] = [*paths[parent], node]
    return paths


def bfs_edges(
    G: Graph, source: Node, reverse: bool = False, depth_limit: int | None = None, sort_neighbors: None = None
) -> Iterator[tuple[Node, Node]]:
    nodes, parents = _tree(G, source, depth_limit, nx.NetworkXError, "The node {} is not in the graph.")
    return zip(parents, nodes)


def bfs_predecessors(
    G: Graph, source: Node, depth_limit: int | None = None, sort_neighbors: None = None
) -> Iterator[tuple[Node, Node]]:
    return ((child, parent) for parent, child in bfs_edges(G, source, depth_limit=depth_limit))


def bfs_successors(
    G: Graph, source: Node, depth_limit: int | None = None, sort_neighbors: None = None
) -> Iterator[tuple[Node, list[Node]]]:
    children: dict[Node, list[Node]] = {source: []}
    for parent, child in bfs_edges(G, source, depth_limit=depth_limit):
        children.setdefault(parent, []).append(child)
    return iter(children.items())


def bfs_layers(G: Graph, sources: Any) -> Iterator[list[Node]]:
    source = G.index(sources)
    order, _ = G._on_host().bfs_order(source)
    sizes = G.bfs(source, parents=None).level_sizes
    return (G.names(layer) for layer in np.split(order, np.cumsum(sizes)[:-1]))


def descendants_at_distance(G: Graph, source: Node, distance: int) -> set[Node]:
    start = _found(G, source, nx.NetworkXError, "The node {} is not in the graph.")
    if distance != int(distance) or distance < 0:
        return set()
    return set(G.names(np.flatnonzero(G.bfs(start, parents=None, max_depth=int(distance)).levels == distance)))


def descendants(G: Graph, source: Node) -> set[Node]:
    start = _found(G, source, nx.NetworkXError, "The node {} is not in the graph.")
    levels = G.bfs(start, parents=None).levels
    return set(G.names(np.flatnonzero(levels > 0)))


def ancestors(G: Graph, source: Node) -> set[Node]:
    return descendants(_reversed(G), source)


# --- Depth-first search -----------------------------------------------------------------------------------------------


def _dfs(graph: Graph, source: Node) -> tuple[list[Node], list[Node]]:
    """As `_tree`, in the order of a depth-first search."""
    order, predecessors = graph._on_host()._called("dfs_order", False, graph.index(source))
    return graph.names(order[1:]), graph.names(predecessors[order[1:]])


def dfs_edges(
    G: Graph, source: Node = None, depth_limit: None = None, *, sort_neighbors: None = None
) -> Iterator[tuple[Node, Node]]:
    nodes, parents = _dfs(G, source)
    return zip(parents, nodes)


def dfs_predecessors(
    G: Graph, source: Node = None, depth_limit: None = None, *, sort_neighbors: None = None
) -> dict[Node, Node]:
    return dict(zip(*_dfs(G, source)))


def dfs_successors(
    G: Graph, source: Node = None, depth_limit: None = None, *, sort_neighbors: None = None
) -> dict[Node, list[Node]]:
    children: dict[Node, list[Node]] = {}
    for node, parent in zip(*_dfs(G, source)):
        children.setdefault(parent, []).append(node)
    return children


def dfs_preorder_nodes(
    G: Graph, source: Node = None, depth_limit: None = None, *, sort_neighbors: None = None
) -> Iterator[Node]:
    return iter([source, *_dfs(G, source)[0]])


def dfs_postorder_nodes(
    G: Graph, source: Node = None, depth_limit: None = None, *, sort_neighbors: None = None
) -> Iterator[Node]:
    done, path = [], [source]
    for node, parent in zip(*_dfs(G, source)):
        while path[-1] != parent:
            done.append(path.pop())
        path.append(node)
    return iter(done + path[::-1])


# --- Weighted paths ---------------------------------------------------------------------------------------------------


def expect_lengths(graph: Graph) -> None:
    """Raises UnsupportedError if the weights cannot be lengths."""
    weights = graph.weights
    if weights is not None and weights.size > 0 and not (weights.min() >= 0 and weights.max() < math.inf):
        raise UnsupportedError("weights of edges that are negative, infinite or no numbers", "unsupported")


def _dijkstra(graph: Graph, source: Node, target: int | None = None, cutoff: float | None = None,
              parents: str | None = "any") -> tuple[Sssp, Array]:
    """The search and the vertices that it reached."""
    expect_lengths(graph)
    start = _found(graph, source, text="Node {} not found in graph")
    if cutoff is not None and cutoff < 0:  # networkx always reaches the source
        only = np.array([start])
        return Sssp(np.zeros(graph.vertices, np.int64), np.full(graph.vertices, start), start, 1, "", ""), only
    found = graph.sssp(start, target=target, cutoff=cutoff, parents=parents)
    unreached = np.iinfo(np.int64).max if found.distances.dtype == np.int64 else math.inf
    reached = np.flatnonzero(found.distances != unreached)
    return found, reached


def has_negative(graph: Graph) -> bool:
    return graph.weights is not None and bool(np.any(graph.weights < 0))


def _bellman_ford(graph: Graph, source: Node, target: int | None = None) -> tuple[Sssp, Array]:
    """As `_dijkstra`; weights may be negative."""
    if not has_negative(graph):
        return _dijkstra(graph, source, target)
    start = _found(graph, source, text="Source {} not in G")
    distances, parents, reached, cycle = graph._of_any_sign(np.array([start]))
    if cycle.size > 0:
        raise nx.NetworkXUnbounded("Negative cycle detected.")
    return Sssp(distances, parents, start, reached, "", ""), np.flatnonzero(parents >= 0)


def _paths(graph: Graph, found: Sssp, reached: Array) -> dict[Node, list[Node]]:
    # A parent may be as near as its child: the path is found by walking, and each stretch is walked once.
    assert found.parents is not None
    parents = found.parents.tolist()
    paths: dict[int, list[Node]] = {found.source: graph.names(np.array([found.source]))}
    for vertex in reached[np.argsort(found.distances[reached], kind="stable")].tolist():
        walked = []
        while vertex not in paths:
            walked.append(vertex)
            vertex = parents[vertex]
        for v in reversed(walked):
            paths[v] = [*paths[vertex], *graph.names(np.array([v]))]
            vertex = v
    return dict(zip(graph.names(np.fromiter(paths, np.int64, len(paths))), paths.values()))


def single_source_dijkstra_path_length(
    G: Graph, source: Node, cutoff: float | None = None, weight: str = "weight"
) -> dict[Node, Any]:
    found, reached = _dijkstra(G, source, cutoff=cutoff, parents=None)
    return _by_distance(G, found.distances, reached)


def single_source_dijkstra_path(
    G: Graph, source: Node, cutoff: float | None = None, weight: str = "weight"
) -> dict[Node, list[Node]]:
    return _paths(G, *_dijkstra(G, source, cutoff=cutoff))


def single_source_dijkstra(
    G: Graph, source: Node, target: Node | None = None, cutoff: float | None = None, weight: str = "weight"
) -> tuple[Any, Any]:
    if target is not None:
        _found(G, source, text="Node {} not found in graph")
        if target == source:
            return 0, [target]
        return _to_target(G, source, target, f"No path to {target}.", cutoff=cutoff)
    found, reached = _dijkstra(G, source, cutoff=cutoff)
    return _by_distance(G, found.distances, reached), _paths(G, found, reached)


def _to_target(graph: Graph, source: Node, target: Node, text: str, search: Any = _dijkstra,
               **options: Any) -> tuple[Any, list[Node]]:
    try:
        end = graph.index(target)
    except (KeyError, TypeError):
        raise nx.NetworkXNoPath(text) from None
    found, reached = search(graph, source, target=end, **options)
    assert found.parents is not None
    if end not in reached:
        raise nx.NetworkXNoPath(text)
    path = [end]
    while path[-1] != found.source:
        path.append(int(found.parents[path[-1]]))
    return found.distances[end].item(), graph.names(np.array(path[::-1]))


def dijkstra_path(G: Graph, source: Node, target: Node, weight: str = "weight") -> list[Node]:
    path: list[Node] = single_source_dijkstra(G, source, target)[1]
    return path


def dijkstra_path_length(G: Graph, source: Node, target: Node, weight: str = "weight") -> Any:
    _found(G, source, text="Node {} not found in graph")
    if source == target:
        return 0
    return _to_target(G, source, target, f"Node {target} not reachable from {source}")[0]
