"""The backend's functions of degrees, of sets of nodes and of strong components, with networkx's names and semantics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx  # type: ignore[import-untyped]
import numpy as np
from networkx.algorithms.community.quality import NotAPartition  # type: ignore[import-untyped]

from ._arrays import Array
from ._graph import Graph
from ._networkx_pairs import shortest_path_length
from ._networkx_paths import Node, _found, descendants

# --- Strong components ------------------------------------------------------------------------------------------------


def _strong(G: Graph) -> tuple[int, Array]:
    """The number of strong components and the one of each vertex; edges lead from higher ones to lower ones."""
    count, labels = G.connected_components(connection="strong", labels="sinks_first")
    return count, labels


def _of_labels(G: Graph, labels: Array, chosen: Array) -> Iterator[set[Node]]:
    order = np.argsort(labels, kind="stable")
    ends = np.searchsorted(labels[order], chosen), np.searchsorted(labels[order], chosen, side="right")
    return (set(G.names(order[first:last])) for first, last in zip(*ends))


def _attracting(G: Graph) -> tuple[Array, Array]:
    """The strong component of each vertex, and those that no edge leaves."""
    count, labels = _strong(G)
    sources, targets = labels[G._sources()], labels[G.indices]
    left = np.bincount(sources[sources != targets], minlength=count)
    return labels, np.flatnonzero(left == 0)


def attracting_components(G: Graph) -> Iterator[set[Node]]:
    return _of_labels(G, *_attracting(G))


def number_attracting_components(G: Graph) -> int:
    return int(_attracting(G)[1].size)


def is_attracting_component(G: Graph) -> bool:
    return G.vertices > 0 and _strong(G)[0] == 1


def kosaraju_strongly_connected_components(G: Graph, source: None = None) -> Iterator[set[Node]]:
    count, labels = _strong(G)
    return _of_labels(G, labels, np.arange(count))


def is_semiconnected(G: Graph) -> bool:
    if G.vertices == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    count, labels = _strong(G)
    sources, targets = labels[G._sources()], labels[G.indices]
    return np.unique(targets[sources == targets + 1]).size == count - 1  # a path through all components


def flow_hierarchy(G: Graph, weight: None = None) -> float:
    if G.indices.size == 0:
        raise nx.NetworkXError("flow_hierarchy not applicable to empty graphs")
    if not G.directed:
        raise nx.NetworkXError("G must be a digraph in flow_hierarchy")
    labels = _strong(G)[1]
    return 1 - int(np.count_nonzero(labels[G._sources()] == labels[G.indices])) / G.edges


# --- Directed acyclic graphs ------------------------------------------------------------------------------------------


def dag_longest_path_length(G: Graph, weight: str = "weight", default_weight: int = 1) -> Any:
    if G.vertices == 0:
        return 0
    order, offsets, cycle = G._called("topological_order", False)
    if cycle.size > 0:
        raise nx.NetworkXUnfeasible("Graph contains a cycle or graph changed during iteration")
    level = np.empty(G.vertices, np.int64)
    level[order] = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
    sources, targets = G._sources(), G.indices
    lengths = np.ones(targets.size, np.int64) if G.weights is None else G.weights
    farthest = np.zeros(G.vertices, lengths.dtype)
    by_level = np.argsort(level[sources], kind="stable")
    ends = np.searchsorted(level[sources][by_level], np.arange(offsets.size))
    for first, last in zip(ends[:-1], ends[1:]):  # a path that is shorter than none is not continued
        edges = by_level[first:last]
        np.maximum.at(farthest, targets[edges], farthest[sources[edges]] + lengths[edges])
    return farthest.max().item() or 0  # networkx's path of no edges has the length 0, an int


def lowest_common_ancestor(G: Graph, node1: Node, node2: Node, default: Node | None = None) -> Any:
    order, _, cycle = G._called("topological_order", False)
    if cycle.size > 0:
        raise nx.NetworkXError("LCA only defined on directed acyclic graphs.")
    if G.vertices == 0:
        raise nx.NetworkXPointlessConcept("LCA meaningless on null graphs.")
    pair = (node1, node2)
    ends = [_found(G, node, text=f"Node(s) {{{{{node!r}}}}} from pair {pair} not in G.") for node in pair]
    back = G.reverse()
    above = [back.bfs(end, parents=None).levels >= 0 for end in ends]
    common = order[above[0][order] & above[1][order]]
    return default if common.size == 0 else G.names(common[-1:])[0]  # none of them is below the last


# --- Degrees ----------------------------------------------------------------------------------------------------------


def _degrees(G: Graph, which: str) -> Array:
    if not G.directed or which == "in+out":
        return G._total_degrees()
    return np.bincount(G.indices, minlength=G.vertices) if which == "in" else np.diff(G.offsets)


def _once(G: Graph) -> tuple[Array, Array]:
    """The ends of each edge; an undirected edge comes once."""
    sources, targets = G._sources(), G.indices
    kept = slice(None) if G.directed else sources <= targets
    return sources[kept], targets[kept]


def average_neighbor_degree(
    G: Graph, source: str = "out", target: str = "out", nodes: None = None, weight: None = None
) -> dict[Node, float]:
    if not G.directed and (source != "out" or target != "out"):
        raise nx.NetworkXError("source and target arguments are only supported for directed graphs")
    for name, value in (("source", source), ("target", target)):
        if value not in ("in", "out", "in+out"):
            raise nx.NetworkXError(f"{name} argument {value} must be 'in', 'out' or 'in+out'")
    own, others = _degrees(G, source), _degrees(G, target)
    sums = np.zeros(G.vertices)
    if not G.directed or "out" in source:
        sums += np.bincount(G._sources(), others[G.indices], G.vertices)
    if G.directed and "in" in source:
        sums += np.bincount(G.indices, others[G._sources()], G.vertices)
    values = np.divide(sums, own, out=np.zeros(G.vertices), where=own > 0)
    return dict(zip(G.names(np.arange(G.vertices)), values.tolist()))


def average_degree_connectivity(
    G: Graph, source: str = "in+out", target: str = "in+out", nodes: None = None, weight: None = None
) -> dict[int, float]:
    if not G.directed and (source != "in+out" or target != "in+out"):
        raise nx.NetworkXError("source and target arguments are only supported for directed graphs")
    for name, value in (("source", source), ("target", target)):
        if value not in ("in", "out", "in+out"):
            raise nx.NetworkXError(f'{name} must be one of "in", "out", or "in+out"')
    own, others = _degrees(G, source), _degrees(G, target)
    if G.directed and source == "in":
        sums = np.bincount(G.indices, others[G._sources()], G.vertices)
    else:  # successors, for in+out too
        sums = np.bincount(G._sources(), others[G.indices], G.vertices)
    kinds, first, kind = np.unique(own, return_index=True, return_inverse=True)
    total = np.bincount(kind, sums, kinds.size)
    norm = np.bincount(kind, own, kinds.size)
    average = np.divide(total, norm, out=total.copy(), where=norm > 0)
    order = np.argsort(first)
    return dict(zip(kinds[order].tolist(), average[order].tolist()))


def s_metric(G: Graph) -> float:
    degrees = G._total_degrees().astype(np.float64)
    sources, targets = _once(G)
    return float(np.sum(degrees[sources] * degrees[targets]))


def is_regular(G: Graph) -> bool:
    if G.vertices == 0:
        raise nx.NetworkXPointlessConcept("Graph has no nodes.")
    kinds = [_degrees(G, "in"), _degrees(G, "out")] if G.directed else [G._total_degrees()]
    return all(bool(np.all(degrees == degrees[0])) for degrees in kinds)


def is_k_regular(G: Graph, k: Any) -> bool:
    return all(degree == k for degree in np.unique(G._total_degrees()).tolist())


def _is_one(G: Graph, connection: str) -> bool:
    if G.vertices == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return G.connected_components(connection=connection)[0] == 1


def is_eulerian(G: Graph) -> bool:
    if G.directed:
        return bool(np.all(_degrees(G, "in") == _degrees(G, "out"))) and _is_one(G, "strong")
    return bool(np.all(G._total_degrees() % 2 == 0)) and _is_one(G, "weak")


def has_eulerian_path(G: Graph, source: None = None) -> bool:
    if is_eulerian(G):
        return True
    if not G.directed:
        return int(np.count_nonzero(G._total_degrees() % 2)) == 2 and _is_one(G, "weak")
    surplus = _degrees(G, "in") - _degrees(G, "out")
    few = np.count_nonzero(surplus == 1) <= 1 and np.count_nonzero(surplus == -1) <= 1
    return bool(few and np.all(np.abs(surplus) <= 1)) and _is_one(G, "weak")


def is_semieulerian(G: Graph) -> bool:
    return has_eulerian_path(G) and not is_eulerian(G)


def preferential_attachment(G: Graph, ebunch: Any = None) -> Iterator[tuple[Node, Node, int]]:
    degrees = G._total_degrees()
    ends = []
    for pair in ebunch:
        for node in pair:
            if not _is_in(G, node):
                raise nx.NodeNotFound(f"Node {node} not in G.")
        ends.append([G.index(node) for node in pair])
    return ((u, v, int(degrees[a] * degrees[b])) for (u, v), (a, b) in zip(ebunch, ends))


def global_reaching_centrality(G: Graph, weight: None = None, normalized: bool = True) -> float:
    if G.indices.size == 0:
        raise nx.NetworkXError("Size of G must be positive")
    if G.vertices == 1:
        raise nx.NetworkXError("local_reaching_centrality of a single node with self-loop not well-defined")
    reached = G.multi_bfs(np.arange(G.vertices), levels=False).reached
    values: list[float] = [(count - 1) / (G.vertices - 1) for count in reached.tolist()]
    most = max(values)
    return sum(most - value for value in values) / (G.vertices - 1)


def local_reaching_centrality(
    G: Graph, v: Node, paths: None = None, weight: None = None, normalized: bool = True
) -> float:
    if G.indices.size == 0:
        raise nx.NetworkXError("Size of G must be positive")
    if G.vertices == 1:
        raise nx.NetworkXError("local_reaching_centrality of a single node with self-loop not well-defined")
    _found(G, v, text="Source {} not in G")
    return len(descendants(G, v)) / (G.vertices - 1)


# --- Sets of nodes ----------------------------------------------------------------------------------------------------


def _is_in(G: Graph, node: Node) -> bool:
    try:
        return G.index(node) >= 0
    except (KeyError, TypeError):
        return False


def _members(G: Graph, nodes: Any) -> Array:
    """Whether each vertex is one of the nodes; others are skipped."""
    chosen = np.zeros(G.vertices, bool)
    chosen[[G.index(node) for node in nodes if _is_in(G, node)]] = True
    return chosen


def _others(G: Graph, nodes: Any) -> set[Node]:
    return set(G.names(np.arange(G.vertices))) - set(nodes)


def _boundary(G: Graph, nodes: Any) -> Array:
    inside = _members(G, nodes)
    found = np.zeros(G.vertices, bool)
    found[G.indices[inside[G._sources()]]] = True
    return found & ~inside


def node_boundary(G: Graph, nbunch1: Any, nbunch2: Any = None) -> set[Node]:
    found = set(G.names(np.flatnonzero(_boundary(G, nbunch1))))
    return found if nbunch2 is None else found & set(nbunch2)


def boundary_expansion(G: Graph, S: Any) -> float:
    return int(np.count_nonzero(_boundary(G, S))) / len(S)


def node_expansion(G: Graph, S: Any) -> float:
    inside = np.zeros(G.vertices, bool)
    inside[[_found(G, node, nx.NetworkXError, "The node {} is not in the graph.") for node in S]] = True
    return int(np.unique(G.indices[inside[G._sources()]]).size) / len(S)


def is_dominating_set(G: Graph, nbunch: Any) -> bool:
    nodes = list(nbunch)
    return bool(np.all(_members(G, nodes) | _boundary(G, nodes)))


def cut_size(G: Graph, S: Any, T: Any = None, weight: None = None) -> int:
    sources, targets = _once(G)
    first = _members(G, S)
    if T is None:
        return int(np.count_nonzero(first[sources] != first[targets]))
    second = _members(G, T)
    there, back = first[sources] & second[targets], second[sources] & first[targets]
    if not G.directed:
        return int(np.count_nonzero(there | back))
    # The out-edges of each set to the other, as networkx counts them where the sets overlap.
    inner = first[targets] & second[sources] & first[sources], second[targets] & first[sources] & second[sources]
    return int(np.count_nonzero(there | inner[0]) + np.count_nonzero(back | inner[1]))


def volume(G: Graph, S: Any, weight: None = None) -> int:
    degrees = _degrees(G, "out")
    return int(sum(degrees[G.index(node)] for node in S if _is_in(G, node)))


def normalized_cut_size(G: Graph, S: Any, T: Any = None, weight: None = None) -> float:
    T = _others(G, S) if T is None else T
    return cut_size(G, S, T) * ((1 / volume(G, S)) + (1 / volume(G, T)))


def conductance(G: Graph, S: Any, T: Any = None, weight: None = None) -> float:
    T = _others(G, S) if T is None else T
    return cut_size(G, S, T) / min(volume(G, S), volume(G, T))


def edge_expansion(G: Graph, S: Any, T: Any = None, weight: None = None) -> float:
    T = _others(G, S) if T is None else T
    return cut_size(G, S, T) / min(len(S), len(T))


def mixing_expansion(G: Graph, S: Any, T: Any = None, weight: None = None) -> float:
    return cut_size(G, S, T) / (2 * G.edges)


def group_degree_centrality(G: Graph, S: Any) -> float:
    nodes = [_found(G, node, nx.NetworkXError, "The node {} is not in the graph.") for node in S]
    found = np.zeros(G.vertices, bool)
    inside = np.zeros(G.vertices, bool)
    inside[nodes] = True
    found[G.indices[inside[G._sources()]]] = True
    return int(np.count_nonzero(found & ~inside)) / (G.vertices - len(S))


def group_out_degree_centrality(G: Graph, S: Any) -> float:
    return group_degree_centrality(G, S)


def group_in_degree_centrality(G: Graph, S: Any) -> float:
    return group_degree_centrality(G.reverse(), S)


def is_partition(G: Graph, communities: Any) -> bool:
    parts = communities if isinstance(communities, list) else list(communities)
    nodes = {node for part in parts for node in part if _is_in(G, node)}
    return G.vertices == len(nodes) == sum(len(part) for part in parts)


def modularity(G: Graph, communities: Any, weight: str | None = "weight", resolution: float = 1) -> float:
    parts = communities if isinstance(communities, list) else list(communities)
    if not is_partition(G, parts):
        raise NotAPartition(G, parts)
    labels = np.empty(G.vertices, np.int64)
    for k, part in enumerate(parts):
        labels[[G.index(node) for node in part]] = k
    sources, targets = G._sources(), G.indices
    weights = np.ones(targets.size, np.int64) if weight is None or G.weights is None else G.weights
    loops = 1 if G.directed else 1 + (sources == targets)  # a loop adds two to its node's degree, and is stored once
    out_sums, in_sums = (_sums(labels[ends], weights * loops, len(parts)) for ends in (sources, targets))
    once = slice(None) if G.directed else sources <= targets
    inner = labels[sources[once]] == labels[targets[once]]
    inside = _sums(labels[sources[once]][inner], weights[once][inner], len(parts))
    degree_sum = sum(out_sums)
    m, norm = (degree_sum if G.directed else degree_sum / 2), 1 / degree_sum**2
    sums = zip(inside, out_sums, in_sums)
    total: float = sum(within / m - resolution * out_sum * in_sum * norm for within, out_sum, in_sum in sums)
    return total


def _sums(kinds: Array, values: Array, count: int) -> list[Any]:
    sums = np.zeros(count, values.dtype)
    np.add.at(sums, kinds, values)
    found: list[Any] = sums.tolist()
    return found


# --- Bipartite graphs -------------------------------------------------------------------------------------------------


def bipartite_degree_centrality(G: Graph, nodes: Any) -> dict[Node, float]:
    top = set(nodes)
    bottom = _others(G, top)
    degrees = G._total_degrees()
    shares = (top, 1.0 / len(bottom)), (bottom, 1.0 / len(top))
    return {node: int(degrees[G.index(node)]) * share for part, share in shares for node in part if _is_in(G, node)}


def bipartite_closeness_centrality(G: Graph, nodes: Any, normalized: bool = True) -> dict[Node, float]:
    top = set(nodes)
    bottom = _others(G, top)
    closeness = {}
    for part, own, other in ((list(top), len(top), len(bottom)), (list(bottom), len(bottom), len(top))):
        ends = [_found(G, node, text="Source {} is not in G") for node in part]
        found = G.multi_bfs(np.array(ends, np.int64), levels=False)
        for node, total, reached in zip(part, found.distance_sums.tolist(), found.reached.tolist()):
            value = 0.0
            if total > 0 and G.vertices > 1:
                value = (other + 2 * (own - 1)) / total
                if normalized:
                    value *= (reached - 1) / (G.vertices - 1)
            closeness[node] = value
    return closeness


def is_bipartite_node_set(G: Graph, nodes: Any) -> bool:
    chosen = set(nodes)
    if len(chosen) < len(nodes):
        raise nx.AmbiguousSolution(
            "The input node set contains duplicates.\n"
            "This may lead to incorrect results when using it in bipartite algorithms.\n"
            "Consider using set(nodes) as the input"
        )
    count, labels = G.connected_components()
    sides = G.bipartition()
    if sides is None:
        raise nx.NetworkXError("Graph is not bipartite.")
    differs = np.bincount(labels[_members(G, chosen) != (sides == 1)], minlength=count)
    return bool(np.all((differs == 0) | (differs == np.bincount(labels, minlength=count))))


# --- Pairs ----------------------------------------------------------------------------------------------


def efficiency(G: Graph, u: Node, v: Node) -> float:
    try:
        return 1 / int(shortest_path_length(G, u, v))
    except nx.NetworkXNoPath:
        return 0


def is_tournament(G: Graph) -> bool:
    if G._loop_count() > 0 or 2 * G.edges != G.vertices * (G.vertices - 1):
        return False
    sources, targets = G._sources().astype(np.int64), G.indices
    pairs = np.minimum(sources, targets) * G.vertices + np.maximum(sources, targets)
    return int(np.unique(pairs).size) == G.edges
