"""Limits of the networkx backend: the arguments for which networkx runs a function itself."""

from __future__ import annotations

import inspect
import math
import random
from collections.abc import Callable
from numbers import Real
from typing import Any

import networkx as nx  # type: ignore[import-untyped]
import numpy as np
from networkx.algorithms.centrality.betweenness import _rescale  # type: ignore[import-untyped]

from ._graph import Graph
from ._networkx_rows import ROWS


def _are_lengths(graph: Any, name: str) -> bool:
    if isinstance(graph, Graph):
        weights = graph.weights
        return weights is None or bool(np.all((weights >= 0) & (weights < math.inf)))
    return all(_is_length(weight) for *_, weight in graph.edges(data=name, default=1))


def _is_length(weight: Any) -> bool:
    """Whether a weight is a finite number of 0 or more that float64 does not round."""
    if isinstance(weight, (float, np.floating)):
        return bool(0 <= weight < math.inf)
    return isinstance(weight, (int, np.integer)) and bool(0 <= weight <= 2**53)


def _is_one(number: Any) -> bool:
    return isinstance(number, (int, float)) and number == 1


def _are_small(graph: Any, name: str) -> bool:
    """Whether weights are finite numbers whose sums float64 and int64 hold, or round as networkx does."""
    if isinstance(graph, Graph):
        return graph.weights is None or bool(np.all(np.abs(graph.weights) <= 2**53))
    weights = (weight for *_, weight in graph.edges(data=name, default=1))
    return all(isinstance(w, (int, float, np.integer, np.floating)) and bool(-(2**53) <= w <= 2**53) for w in weights)


def _count_loops(graph: Any) -> int:
    return int(graph._loop_count() if isinstance(graph, Graph) else nx.number_of_selfloops(graph))


def _is_bare(graph: Any) -> bool:
    """Whether a graph has no attributes that a copy would lose."""
    if isinstance(graph, Graph):
        return True
    return not (graph.graph or any(d for _, d in graph.nodes(data=True)) or any(d for *_, d in graph.edges(data=True)))


def _has_only_weights(graph: Any, name: Any) -> bool:
    """Whether edges have the attribute ``weight`` alone, all of them or none, and nodes and the graph have none."""
    if isinstance(graph, Graph):
        return True
    if name != "weight" or graph.graph or any(d for _, d in graph.nodes(data=True)):
        return False
    kinds = {tuple(d) for *_, d in graph.edges(data=True)}
    return kinds in (set(), {()}, {("weight",)})


def _is_node(graph: Any, node: Any) -> bool:
    try:
        return graph.index(node) >= 0 if isinstance(graph, Graph) else node in graph
    except (KeyError, TypeError):
        return False


def _are_planar(pos: Any, dim: Any) -> bool:
    return dim == 2 if pos is None else bool(pos) and all(np.shape(place) == (2,) for place in pos.values())


def _is_float(number: Any) -> bool:
    try:
        return math.isnan(number) or float(number) == number
    except OverflowError:
        return False


def _needs(test: Callable[[dict[str, Any]], bool], why: str) -> tuple[Callable[[dict[str, Any]], bool], str]:
    return test, why


_names_weight = _needs(lambda a: isinstance(a["weight"], str), "weights of paths are an attribute's")
_no_weight = _needs(lambda a: a["weight"] is None, "weights are not supported")
_usual_threshold = _needs(lambda a: a["threshold"] == 1e-07, "a threshold of the gain is networkx's")
_undirected = _needs(lambda a: not a["G"].is_directed(), "directed graphs have other coefficients in networkx")
_simple = _needs(lambda a: not a["G"].is_multigraph(), "multigraphs are networkx's")
_no_loops = _needs(lambda a: _count_loops(a["G"]) == 0, "networkx refuses graphs with self-loops")
_counted = _needs(
    lambda a: a["weight"] is None or _are_lengths(a["G"], a["weight"]), "weights of edges are negative, infinite or no numbers"
)
_no_distances = _needs(lambda a: a["e"] is None, "distances that are given are networkx's")
_scaled = _needs(
    lambda a: a["k"] is None or "sampled_nodes" in inspect.signature(_rescale).parameters,
    "networkx scales samples otherwise before version 3.6",
)
_damping = _needs(
    lambda a: isinstance(a["alpha"], Real) and 0 <= float(a["alpha"]) < 1, "alpha is 0 or more and below 1 in the library"
)
_cutoff = _needs(
    lambda a: a["cutoff"] is None or (isinstance(a["cutoff"], Real) and _is_float(a["cutoff"])),
    "a cutoff that float64 rounds, or that is no number",
)
_spectral = [
    _needs(lambda a: not a["G"].is_directed(), "directed graphs are networkx's"),
    _needs(
        lambda a: a["method"] in ("tracemin_pcg", "tracemin_lu", "lanczos", "lobpcg"), "a method that networkx has not"
    ),
    _counted,
    _simple,
]
_lengths = [
    _needs(lambda a: isinstance(a["weight"], str), "weights of paths are an attribute's"),
    _needs(lambda a: _are_lengths(a["G"], a["weight"]), "weights of edges are negative, infinite or no numbers"),
]
_bellman_ford = [
    _needs(lambda a: isinstance(a["weight"], str), "weights of paths are an attribute's"),
    _needs(
        lambda a: _are_lengths(a["G"], a["weight"]) or _are_small(a["G"], a["weight"]),
        "weights of edges are infinite, no numbers, or negative and rounded by float64",
    ),
]
_any_paths = [
    _needs(lambda a: a["method"] in ("dijkstra", "bellman-ford"), "a method that networkx has not"),
    _needs(
        lambda a: a["weight"] is None
        or (
            isinstance(a["weight"], str)
            and (_are_lengths(a["G"], a["weight"]) or (a["method"] == "bellman-ford" and _are_small(a["G"], a["weight"])))
        ),
        "weights of edges are negative, infinite or no numbers, or no attribute",
    ),
]
_k_subgraph = [
    _needs(lambda a: _is_bare(a["G"]), "attributes of nodes and edges are networkx's"),
    _needs(lambda a: a["core_number"] is None, "core numbers that are given are networkx's"),
    _needs(lambda a: len(a["G"]) > 0, "networkx refuses graphs without nodes"),
    _needs(lambda a: not a["G"].is_directed(), "directed graphs are networkx's"),
    _simple,
    _no_loops,
]
_bipartite = [
    _needs(lambda a: a["top_nodes"] is None, "one side that is given is networkx's"),
    _needs(lambda a: not a["G"].is_directed(), "networkx looks at successors only"),
]
_no_root = _needs(lambda a: a["root"] is None, "bridges of one component are networkx's")
_forest = [
    _needs(lambda a: not a["G"].is_directed(), "spanning trees of directed graphs are branchings"),
    _needs(lambda a: not a["G"].is_multigraph(), "keys of parallel edges are networkx's"),
    _needs(lambda a: a["algorithm"] in ("kruskal", "prim", "boruvka"), "an algorithm that networkx has not"),
    _needs(lambda a: _has_only_weights(a["G"], a["weight"]), "attributes of nodes and edges are networkx's"),
]
_astar = [
    *_lengths,
    _needs(lambda a: a["heuristic"] is None and a["cutoff"] is None, "a heuristic and a cutoff are networkx's"),
]
_dfs = [
    _needs(lambda a: _is_node(a["G"], a["source"]), "searches from every node, or from none of the graph's, are networkx's"),
    _needs(lambda a: a["depth_limit"] is None, "a limit of the depth is networkx's"),
    _needs(lambda a: a["sort_neighbors"] is None, "neighbours come as they are stored"),
]
_several = [
    _names_weight,
    _cutoff,
    _needs(
        lambda a: isinstance(a["sources"], (list, set, frozenset, tuple, dict)) and len(a["sources"]) > 0,
        "no sources, or ones that can be read once only",
    ),
]
_lists = _needs(lambda a: all(hasattr(a[k], "__len__") for k in ("S", "T", "nodes", "communities", "sources") if
                              a.get(k) is not None), "nodes that can be read once only")
_cut = [_no_weight, _simple, _lists]
_both_sets = _needs(lambda a: not a["G"].is_directed() or a["T"] is not None, "networkx needs both sets")
_no_nodes = _needs(lambda a: a["nodes"] is None, "subsets of nodes are networkx's")
_reaching = [
    _no_weight,
    _simple,
    _needs(lambda a: a["G"].is_directed(), "undirected graphs are averages of weights in networkx"),
]
_prediction = [
    _needs(lambda a: not a["G"].is_directed(), "networkx refuses directed graphs"),
    _simple,
    _needs(lambda a: _count_loops(a["G"]) == 0, "self-loops are networkx's"),
    _needs(lambda a: a["ebunch"] is None or hasattr(a["ebunch"], "__len__"), "pairs that can be read once only"),
    _needs(lambda a: a["ebunch"] is not None or len(a["G"]) <= 4096, "too many pairs without an edge"),
]
# By function: tests of the call's arguments, with the reason if one fails.
LIMITS = {
    "all_pairs_all_shortest_paths": [_no_weight, _simple],
    "all_shortest_paths": [_no_weight, _simple],
    "astar_path": _astar,
    "astar_path_length": _astar,
    "average_degree_connectivity": [_no_weight, _simple, _no_nodes],
    "average_neighbor_degree": [_no_weight, _simple, _no_nodes],
    "bipartite_betweenness_centrality": [_lists],
    "bipartite_closeness_centrality": [_lists],
    "bipartite_degree_centrality": [_simple, _lists],
    "boundary_expansion": [_lists],
    "conductance": _cut,
    "cut_size": [*_cut, _both_sets],
    "dag_longest_path_length": [
        _simple,
        _needs(lambda a: isinstance(a["weight"], str), "weights of paths are an attribute's"),
        _needs(lambda a: _is_one(a["default_weight"]), "edges without a weight count 1"),
        _needs(lambda a: _are_small(a["G"], a["weight"]), "weights of edges that float64 rounds"),
    ],
    "edge_expansion": _cut,
    "floyd_warshall": _lengths,
    "flow_hierarchy": [_no_weight, _simple],
    "global_reaching_centrality": _reaching,
    "group_closeness_centrality": [_needs(lambda a: a["weight"] is None or (isinstance(a["weight"], str) and _are_lengths(a["G"], a["weight"])), "weights of edges are negative, infinite or no numbers"), _simple],
    "group_degree_centrality": [_lists],
    "group_in_degree_centrality": [_lists],
    "group_out_degree_centrality": [_lists],
    "has_eulerian_path": [_needs(lambda a: a["source"] is None, "paths from one node are networkx's")],
    "is_tournament": [_simple],
    "is_bipartite_node_set": [_lists, _needs(lambda a: not a["G"].is_directed(), "networkx refuses directed graphs")],
    "kosaraju_strongly_connected_components": [_needs(lambda a: a["source"] is None, "the order from one node is networkx's")],
    "local_reaching_centrality": [*_reaching, _needs(lambda a: a["paths"] is None, "paths that are given are networkx's")],
    "mixing_expansion": [*_cut, _both_sets],
    "modularity": [
        _simple,
        _needs(lambda a: a["weight"] is None or _are_small(a["G"], a["weight"]), "weights of edges that float64 rounds"),
        _needs(lambda a: isinstance(a["communities"], list), "communities that are no list"),
    ],
    "multi_source_dijkstra": _several,
    "multi_source_dijkstra_path": _several,
    "multi_source_dijkstra_path_length": _several,
    "negative_edge_cycle": _bellman_ford,
    "node_expansion": [_lists],
    "normalized_cut_size": _cut,
    "predecessor": [_simple, _needs(lambda a: a["cutoff"] is None or isinstance(a["cutoff"], Real), "a cutoff that is no number")],
    "preferential_attachment": [
        *_prediction,
        _needs(lambda a: a["ebunch"] is not None, "all pairs are networkx's"),
    ],
    "s_metric": [_simple],
    "single_source_all_shortest_paths": [_no_weight, _simple],
    "volume": _cut,
    "adamic_adar_index": [
        *_prediction,
        _needs(
            lambda a: a["ebunch"] is None or all(len(pair) == 2 and pair[0] != pair[1] for pair in a["ebunch"]),
            "a node paired with itself",
        ),
    ],
    "all_pairs_bellman_ford_path": _bellman_ford,
    "all_pairs_bellman_ford_path_length": _bellman_ford,
    "algebraic_connectivity": _spectral,
    "fiedler_vector": _spectral,
    "spectral_ordering": _spectral,
    "all_pairs_dijkstra": [_names_weight, _cutoff],
    "all_pairs_dijkstra_path": [_names_weight, _cutoff],
    "all_pairs_dijkstra_path_length": [_names_weight, _cutoff],
    "average_clustering": [_no_weight, _undirected, _simple],
    "average_shortest_path_length": [_no_weight, _needs(lambda a: a["method"] is None, "a method that is asked for")],
    "barycenter": [
        _no_weight,
        _needs(lambda a: a["attr"] is None and a["sp"] is None, "distances that are given or kept are networkx's"),
        _needs(lambda a: len(a["G"]) > 0, "a graph without nodes is networkx's"),
    ],
    "bellman_ford_path": _bellman_ford,
    "bellman_ford_path_length": _bellman_ford,
    "betweenness_centrality": [_no_weight, _scaled],
    "bfs_edges": [
        _needs(lambda a: a["sort_neighbors"] is None, "neighbours come as they are stored"),
        _needs(lambda a: not (a["reverse"] and a["G"].is_directed()), "the order of predecessors is not kept"),
    ],
    "bfs_layers": [_needs(lambda a: _is_node(a["G"], a["sources"]), "several sources, or none that the graph has")],
    "bfs_predecessors": [_needs(lambda a: a["sort_neighbors"] is None, "neighbours come as they are stored")],
    "bfs_successors": [_needs(lambda a: a["sort_neighbors"] is None, "neighbours come as they are stored")],
    "bfs_tree": [
        _needs(lambda a: a["sort_neighbors"] is None, "neighbours come as they are stored"),
        _needs(lambda a: not (a["reverse"] and a["G"].is_directed()), "the order of predecessors is not kept"),
    ],
    "bidirectional_dijkstra": [_names_weight],
    "bridges": [_no_root],
    "center": [_no_distances, _no_weight],
    "complement": [_simple],
    "closeness_centrality": [_needs(lambda a: a["distance"] is None, "weights are not supported")],
    "clustering": [_no_weight, _undirected, _simple],
    "dfs_edges": _dfs,
    "dfs_postorder_nodes": _dfs,
    "dfs_predecessors": _dfs,
    "dfs_preorder_nodes": _dfs,
    "dfs_successors": _dfs,
    "dfs_tree": _dfs,
    "diameter": [_no_distances, _no_weight],
    "dijkstra_path": [_names_weight],
    "dijkstra_path_length": [_names_weight],
    "eccentricity": [_needs(lambda a: a["sp"] is None, "distances that are given are networkx's"), _no_weight],
    "edge_betweenness_centrality": [_no_weight, _scaled, _simple],
    "eigenvector_centrality": [_counted, _simple],
    "floyd_warshall_numpy": [
        *_bellman_ford,
        _needs(
            lambda a: a["nodelist"] is None or len(a["nodelist"]) == len(a["G"]) == len(set(a["nodelist"])),
            "networkx refuses other nodes than the graph's",
        ),
    ],
    "forceatlas2_layout": [
        _needs(lambda a: not a["G"].is_directed(), "edges of directed graphs pull one end in networkx"),
        _needs(lambda a: a["node_mass"] is None and a["node_size"] is None, "masses and sizes of nodes are networkx's"),
        _needs(lambda a: a["store_pos_as"] is None, "attributes of nodes are networkx's"),
        _needs(lambda a: _are_planar(a["pos"], a["dim"]), "positions in other dimensions than two are networkx's"),
        _counted,
        _simple,
    ],
    "generic_bfs_edges": [_needs(lambda a: a["neighbors"] is None, "neighbours that are given are networkx's")],
    "global_efficiency": [_needs(lambda a: not a["G"].is_directed(), "networkx refuses directed graphs")],
    "greedy_color": [
        _needs(
            lambda a: a["strategy"] in ("largest_first", "smallest_last", "random_sequential") and not a["interchange"],
            "a strategy that the library has not",
        ),
        _needs(lambda a: not a["G"].is_directed(), "networkx looks at successors only"),
    ],
    "hopcroft_karp_matching": _bipartite,
    "louvain_communities": [_usual_threshold],
    "louvain_partitions": [_usual_threshold],
    "maximal_independent_set": [
        _needs(lambda a: not a["nodes"], "nodes that are given are networkx's"),
        _needs(lambda a: len(a["G"]) > 0, "networkx refuses graphs without nodes"),
        _needs(lambda a: isinstance(a["seed"], random.Random), "a generator of random numbers that is NumPy's"),
    ],
    "harmonic_diameter": [_no_weight, _needs(lambda a: a["sp"] is None, "distances that are given are networkx's")],
    "harmonic_centrality": [
        _needs(lambda a: a["distance"] is None, "weights are not supported"),
        _needs(lambda a: a["nbunch"] is None and a["sources"] is None, "subsets of nodes are networkx's"),
    ],
    "hits": [
        _needs(lambda a: _are_lengths(a["G"], "weight"), "weights of edges are negative, infinite or no numbers"),
        _needs(lambda a: a["normalized"] is True, "vectors that are not normalized have any sign and length"),
        _needs(lambda a: a["nstart"] is None, "a start for ARPACK"),
    ],
    "jaccard_coefficient": _prediction,
    "ego_graph": [
        _needs(lambda a: _is_bare(a["G"]), "attributes of nodes and edges are networkx's"),
        _needs(lambda a: a["distance"] is None, "weights are not supported"),
        _needs(lambda a: not (a["undirected"] and a["G"].is_directed()), "directions that do not count are networkx's"),
        _simple,
    ],
    "has_bridges": [_no_root],
    "is_isolate": [_needs(lambda a: _is_node(a["G"], a["n"]), "a node that the graph lacks")],
    "is_negatively_weighted": [
        _needs(lambda a: a["edge"] is None, "one edge is networkx's"),
        _needs(lambda a: isinstance(a["weight"], str), "weights are an attribute's"),
    ],
    "johnson": _bellman_ford,
    "k_core": [
        _needs(lambda a: _is_bare(a["G"]), "attributes of nodes and edges are networkx's"),
        _needs(lambda a: a["core_number"] is None, "core numbers that are given are networkx's"),
        _needs(lambda a: len(a["G"]) > 0, "networkx refuses graphs without nodes"),
        _simple,
        _no_loops,
    ],
    "k_corona": _k_subgraph,
    "k_crust": _k_subgraph,
    "k_shell": _k_subgraph,
    "katz_centrality": [
        _counted,
        _simple,
        _needs(lambda a: isinstance(a["alpha"], Real) and float(a["alpha"]) > 0, "alpha is above 0 in the library"),
    ],
    "k_truss": [
        _needs(lambda a: _is_bare(a["G"]), "attributes of nodes and edges are networkx's"),
        _needs(lambda a: not a["G"].is_directed(), "networkx refuses directed graphs"),
        _needs(lambda a: isinstance(a["k"], (int, np.integer)), "k is an integer in the library"),
        _simple,
        _no_loops,
    ],
    "maximum_spanning_edges": _forest,
    "maximum_spanning_tree": _forest,
    "minimum_spanning_edges": _forest,
    "minimum_spanning_tree": _forest,
    "overall_reciprocity": [_simple],  # networkx takes edges of one key for each other's reverse
    "pagerank": [_counted, _damping, _needs(lambda a: a["dangling"] is None, "dangling rank follows the personalization")],
    "periphery": [_no_distances, _no_weight],
    "radius": [_no_distances, _no_weight],
    "resource_allocation_index": _prediction,
    "reciprocity": [_simple, _needs(lambda a: a["nodes"] is None, "of some nodes it is networkx's")],
    "reverse": [
        _needs(lambda a: a["copy"], "a view is networkx's"),
        _needs(lambda a: _is_bare(a["G"]), "attributes of nodes and edges are networkx's"),
    ],
    "sets": [_needs(lambda a: a["top_nodes"] is None, "one side that is given is networkx's")],
    "shortest_path": _any_paths,
    "shortest_path_length": _any_paths,
    "single_source_bellman_ford": _bellman_ford,
    "single_source_bellman_ford_path": _bellman_ford,
    "single_source_bellman_ford_path_length": _bellman_ford,
    "single_source_dijkstra": [_names_weight, _cutoff],
    "single_source_dijkstra_path": [_names_weight, _cutoff],
    "single_source_dijkstra_path_length": [_names_weight, _cutoff],
    "to_vertex_cover": _bipartite,
    "transitivity": [_undirected, _simple],
    "triangles": [_simple],
    "wiener_index": [_no_weight],
}
_by_name = {"no_weight": _no_weight, "undirected": _undirected, "simple": _simple, "no_loops": _no_loops}
LIMITS |= {row.function: [_by_name[limit] for limit in row.limits] for row in ROWS}
