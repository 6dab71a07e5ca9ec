"""The backend ``spargo`` of networkx: its functions on a `spargo.Graph`, or on networkx's graphs, which it converts once.

>>> import networkx as nx
>>> g = nx.path_graph(4)
>>> nx.single_source_shortest_path_length(g, 0, backend="spargo")
{0: 0, 1: 1, 2: 2, 3: 3}

With ``nx.config.backend_priority = ["spargo"]`` every call that it can run is its own, unless the graph is smaller than
``nx.config.backends.spargo.smallest_graph``. What differs from networkx: among equally short weighted paths another one
may be returned, and of the orders in which edges between strong components lead backwards another one; PageRank may take
fewer steps.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Hashable, Iterator
from typing import Any

import networkx as nx  # type: ignore[import-untyped]
import numpy as np

from _spargo_networkx import FUNCTIONS, get_info

from . import _device
from ._arrays import Array
from ._errors import UnsupportedError
from ._graph import Graph
from ._results import Sssp

__all__ = ["backend", "get_info"]

Node = Hashable


# --- What networkx asks of a backend ----------------------------------------------------------------------------------


def convert_from_nx(
    graph: Any,
    *,
    edge_attrs: dict[str, Any] | None = None,
    node_attrs: dict[str, Any] | None = None,
    preserve_edge_attrs: bool = False,
    preserve_node_attrs: bool = False,
    preserve_graph_attrs: bool = False,
    name: str | None = None,
    graph_name: str | None = None,
) -> Graph:
    """A graph of networkx's as a `spargo.Graph`, with the weights that the function asks for."""
    if isinstance(graph, Graph):
        return graph
    return Graph.from_networkx(graph, weight=next(iter(edge_attrs), None) if edge_attrs else None, device="cpu")


def convert_to_nx(result: Any, *, name: str | None = None) -> Any:
    """A `spargo.Graph` as networkx's; anything else as it is."""
    if not isinstance(result, Graph):
        return result
    kind = {
        (False, False): nx.Graph,
        (True, False): nx.DiGraph,
        (False, True): nx.MultiGraph,
        (True, True): nx.MultiDiGraph,
    }
    made = kind[result.directed, result.is_multigraph()](backend="networkx")
    made.add_nodes_from(result.names(np.arange(result.vertices)))
    sources = np.repeat(np.arange(result.vertices), np.diff(result.offsets))
    kept = slice(None) if result.directed else sources <= result.indices
    ends = result.names(sources[kept]), result.names(result.indices[kept])
    if result.weights is None:
        made.add_edges_from(zip(*ends))
    else:
        made.add_weighted_edges_from(zip(*ends, result.weights[kept].tolist()))
    return made


def _needs(test: Callable[[dict[str, Any]], bool], why: str) -> tuple[Callable[[dict[str, Any]], bool], str]:
    return test, why


_names_weight = _needs(lambda a: isinstance(a["weight"], str), "weights of paths are an attribute's")
_no_weight = _needs(lambda a: a["weight"] is None, "weights do not count")
_undirected = _needs(lambda a: not a["G"].is_directed(), "directed graphs have other coefficients in networkx")
_simple = _needs(lambda a: not a["G"].is_multigraph(), "multigraphs are networkx's")
_no_distances = _needs(lambda a: a["e"] is None, "distances that are given are networkx's")
_limits = {
    "average_clustering": [_no_weight, _undirected, _simple],
    "betweenness_centrality": [
        _no_weight,
        _needs(lambda a: a["k"] is None, "samples are networkx's"),
        _simple,
    ],
    "bfs_edges": [_needs(lambda a: a["sort_neighbors"] is None, "neighbours come as they are stored")],
    "bfs_predecessors": [_needs(lambda a: a["sort_neighbors"] is None, "neighbours come as they are stored")],
    "bfs_successors": [_needs(lambda a: a["sort_neighbors"] is None, "neighbours come as they are stored")],
    "center": [_no_distances, _no_weight],
    "closeness_centrality": [_needs(lambda a: a["distance"] is None, "weights do not count")],
    "clustering": [_no_weight, _undirected, _simple],
    "diameter": [_no_distances, _no_weight],
    "dijkstra_path": [_names_weight],
    "dijkstra_path_length": [_names_weight],
    "eccentricity": [_needs(lambda a: a["sp"] is None, "distances that are given are networkx's"), _no_weight],
    "edge_betweenness_centrality": [
        _no_weight,
        _needs(lambda a: a["k"] is None, "samples are networkx's"),
        _simple,
    ],
    "pagerank": [_needs(lambda a: a["dangling"] is None, "dangling rank goes by the personalization")],
    "periphery": [_no_distances, _no_weight],
    "radius": [_no_distances, _no_weight],
    "single_source_dijkstra": [_names_weight],
    "single_source_dijkstra_path": [_names_weight],
    "single_source_dijkstra_path_length": [_names_weight],
    "transitivity": [_undirected, _simple],
    "triangles": [_simple],
}


def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Whether the call is one of those above; a sentence where it is not."""
    if name not in FUNCTIONS:
        return f"{name} is not among the functions of spargo"
    limits = _limits.get(name)
    if limits is None:
        return True
    bound = inspect.signature(getattr(_Backend, name)).bind(*args, **kwargs)
    bound.apply_defaults()
    return next((why for test, why in limits if not test(bound.arguments)), True)


def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Whether a graph is large enough to be worth a conversion; one that is converted is."""
    graph = args[0] if args else kwargs.get("G")
    if isinstance(graph, Graph) or graph is None:
        return True
    smallest = getattr(nx.config.backends.spargo, "smallest_graph", 0)
    size = graph.number_of_nodes() + graph.number_of_edges()
    return True if size >= smallest else f"the graph is small: {size} vertices and edges of {smallest}"


# --- Breadth-first search ---------------------------------------------------------------------------------------------


def _found(graph: Graph, node: Node, kind: type[Exception] = nx.NodeNotFound, text: str = "{} is not in the graph") -> int:
    try:
        return graph.index(node)
    except (KeyError, TypeError):
        raise kind(text.format(node)) from None


def _reversed(graph: Graph) -> Graph:
    """The graph along its in-edges. Neighbours then come in the order of vertices."""
    if not graph.directed:
        return graph
    graph._view(True)
    assert graph._in is not None
    offsets, indices = (_device.downloaded(a) if _device.is_vector(a) else a for a in graph._in)
    return Graph._of(offsets, indices, None, True, graph.nodes, graph.is_multigraph())._moved(graph._place)


def _depth(cutoff: float | None) -> int | None:
    """networkx's cutoff, which may be any number, as the last level."""
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
    depth = _depth(cutoff)
    for first in range(0, G.vertices, 256):
        sources = np.arange(first, min(first + 256, G.vertices))
        levels = G.multi_bfs(sources).levels
        assert levels is not None
        for source, row in zip(G.names(sources), levels):
            yield source, _by_distance(G, row, np.flatnonzero((row >= 0) if depth is None else (row >= 0) & (row <= depth)))


def _tree(graph: Graph, source: Node, cutoff: float | None, kind: type[Exception] = nx.NodeNotFound,
          text: str = "Source {} not in G") -> tuple[list[Node], list[Node]]:
    """The nodes found from the source in the order of a queue, which is left out, and the predecessor of each."""
    order, predecessors = graph.bfs_order(_found(graph, source, kind, text))
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
    if reverse and G.directed:
        raise UnsupportedError("bfs_edges: the order of predecessors is not kept", "unsupported")
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
    try:
        G.index(sources)
    except (KeyError, TypeError):
        raise UnsupportedError("bfs_layers: several sources", "unsupported") from None
    source = G.index(sources)
    order, _ = G.bfs_order(source)
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


# --- Distances --------------------------------------------------------------------------------------------------------


def closeness_centrality(G: Graph, u: Node | None = None, distance: None = None, wf_improved: bool = True) -> Any:
    sources = np.arange(G.vertices) if u is None else np.array([_found(G, u, text="Source {} is not in G")])
    found = _reversed(G).multi_bfs(sources, levels=False)
    others = found.reached - 1.0
    values = np.divide(others, found.distance_sums, out=np.zeros(sources.size), where=found.distance_sums > 0)
    if wf_improved and G.vertices > 1:
        values *= others / (G.vertices - 1)
    return _by_node(G, values) if u is None else values[0].item()


def eccentricity(G: Graph, v: Any = None, sp: None = None, weight: None = None) -> Any:
    chosen = _by_node(G, np.arange(G.vertices), v)  # an int, or a dictionary of ints
    sources = np.array([chosen]) if isinstance(chosen, int) else np.fromiter(chosen.values(), np.int64)
    found = G.multi_bfs(sources, levels=False)
    if np.any(found.reached < G.vertices):
        what = "digraph is not strongly connected" if G.directed else "graph is not connected"
        raise nx.NetworkXError(f"Found infinite path length because the {what}")
    values = found.eccentricities.tolist()
    return values[0] if isinstance(chosen, int) else dict(zip(chosen, values))


def diameter(G: Graph, e: None = None, usebounds: bool = False, weight: None = None) -> int:
    return int(max(eccentricity(G).values()))


def radius(G: Graph, e: None = None, usebounds: bool = False, weight: None = None) -> int:
    return int(min(eccentricity(G).values()))


def periphery(G: Graph, e: None = None, usebounds: bool = False, weight: None = None) -> list[Node]:
    far = eccentricity(G)
    greatest = max(far.values())
    return [node for node in far if far[node] == greatest]


def center(G: Graph, e: None = None, usebounds: bool = False, weight: None = None) -> list[Node]:
    far = eccentricity(G)
    least = min(far.values())
    return [node for node in far if far[node] == least]


# --- Components -------------------------------------------------------------------------------------------------------


def _parts(labels: Array, count: int) -> list[Array]:
    """The vertices of each label."""
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.searchsorted(labels[order], np.arange(1, count))) if count > 0 else []


def _components(graph: Graph) -> Iterator[set[Node]]:
    count, labels = graph.connected_components()
    return (set(graph.names(part)) for part in _parts(labels, count))


def _is_one(graph: Graph, connection: str = "weak") -> bool:
    if graph.vertices == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return graph.connected_components(connection=connection)[0] == 1


def connected_components(G: Graph) -> Iterator[set[Node]]:
    return _components(G)


def number_connected_components(G: Graph) -> int:
    return G.connected_components()[0]


def is_connected(G: Graph) -> bool:
    return _is_one(G)


def node_connected_component(G: Graph, n: Node) -> set[Node]:
    return set(G.names(np.flatnonzero(G.bfs(_found(G, n, KeyError, "{}"), parents=None).levels >= 0)))


def weakly_connected_components(G: Graph) -> Iterator[set[Node]]:
    return _components(G)


def number_weakly_connected_components(G: Graph) -> int:
    return G.connected_components()[0]


def is_weakly_connected(G: Graph) -> bool:
    return _is_one(G)


def strongly_connected_components(G: Graph) -> Iterator[set[Node]]:
    count, labels = G.connected_components(connection="strong", labels="sinks_first")
    return (set(G.names(part)) for part in _parts(labels, count))


def number_strongly_connected_components(G: Graph) -> int:
    return G.connected_components(connection="strong")[0]


def is_strongly_connected(G: Graph) -> bool:
    return _is_one(G, "strong")


# --- Weighted paths ---------------------------------------------------------------------------------------------------


def _dijkstra(graph: Graph, source: Node, **options: Any) -> tuple[Sssp, Array]:
    """The search, and which vertices it reached."""
    weights = graph.weights
    if weights is not None and weights.size > 0 and not (weights.min() >= 0 and weights.max() < math.inf):
        raise UnsupportedError("dijkstra: weights that are negative, infinite or no numbers", "unsupported")
    found = graph.sssp(_found(graph, source, text="Node {} not found in graph"), **options)
    unreached = np.iinfo(np.int64).max if found.distances.dtype == np.int64 else math.inf
    return found, np.flatnonzero(found.distances != unreached)


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


def _to_target(graph: Graph, source: Node, target: Node, text: str, **options: Any) -> tuple[Any, list[Node]]:
    try:
        end = graph.index(target)
    except (KeyError, TypeError):
        raise nx.NetworkXNoPath(text) from None
    found, reached = _dijkstra(graph, source, target=end, **options)
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


# --- Ranks and counts -------------------------------------------------------------------------------------------------


def _by_node(graph: Graph, values: Array, nodes: Any = None) -> Any:
    """A value of each node; of some, or of a single one."""
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
    for node in several:  # as nbunch_iter: what is no node is passed over
        try:
            chosen.append(graph.index(node))
        except KeyError:
            continue
    vertices = np.array(chosen, dtype=np.int64)
    return dict(zip(graph.names(vertices), values[vertices].tolist()))


def _vector(graph: Graph, values: dict[Node, float] | None) -> Array | None:
    if values is None:
        return None
    vector = np.array([values.get(node, 0) for node in graph.names(np.arange(graph.vertices))], dtype=float)
    if vector.sum() == 0:
        raise ZeroDivisionError
    return vector


def pagerank(
    G: Graph,
    alpha: float = 0.85,
    personalization: dict[Node, float] | None = None,
    max_iter: int = 100,
    tol: float = 1.0e-6,
    nstart: dict[Node, float] | None = None,
    weight: str | None = "weight",
    dangling: None = None,
) -> dict[Node, float]:
    if weight is not None and G.weights is not None and np.any(G.weights != 1):
        raise UnsupportedError("pagerank: weights of edges", "unsupported")
    if G.vertices == 0:
        return {}
    if max_iter < 1:
        raise nx.PowerIterationFailedConvergence(max_iter)
    # networkx stops when the ranks differ by vertices * tol.
    found = G.pagerank(
        damping=alpha,
        tolerance=G.vertices * tol,
        max_iterations=max_iter,
        personalization=_vector(G, personalization),
        guess=_vector(G, nstart),
    )
    if not found.converged:
        raise nx.PowerIterationFailedConvergence(max_iter)
    ranks: dict[Node, float] = _by_node(G, found.ranks)
    return ranks


def betweenness_centrality(
    G: Graph, k: None = None, normalized: bool = True, weight: None = None, endpoints: bool = False, seed: Any = None
) -> dict[Node, float]:
    values = G.betweenness(normalization="pairs" if normalized else "none", endpoints=endpoints)
    result: dict[Node, float] = _by_node(G, values)
    return result


def edge_betweenness_centrality(
    G: Graph, k: None = None, normalized: bool = True, weight: None = None, seed: Any = None
) -> dict[tuple[Node, Node], float]:
    values = G.edge_betweenness(normalization="pairs" if normalized else "none")
    sources = np.repeat(np.arange(G.vertices), np.diff(G.offsets))
    kept = slice(None) if G.directed else sources <= G.indices
    return dict(zip(zip(G.names(sources[kept]), G.names(G.indices[kept])), values[kept].tolist()))


def triangles(G: Graph, nodes: Any = None) -> Any:
    return _by_node(G, G.triangles().per_vertex, nodes)


def clustering(G: Graph, nodes: Any = None, weight: None = None) -> Any:
    return _by_node(G, G.clustering(), nodes)


def average_clustering(G: Graph, nodes: Any = None, weight: None = None, count_zeros: bool = True) -> float:
    values = list(_by_node(G, G.clustering(), nodes).values())
    if not count_zeros:
        values = [v for v in values if abs(v) > 0]
    return float(sum(values) / len(values))


def transitivity(G: Graph) -> float:
    return G.transitivity()


class _Backend:
    """The functions above, by name."""

    convert_from_nx = staticmethod(convert_from_nx)
    convert_to_nx = staticmethod(convert_to_nx)
    can_run = staticmethod(can_run)
    should_run = staticmethod(should_run)


for _name in FUNCTIONS:
    setattr(_Backend, _name, staticmethod(globals()[_name]))

backend = _Backend()
