"""The entry of the backend ``spargo``, which networkx loads when it is imported; it imports nothing else."""

from __future__ import annotations

from typing import Any

FUNCTIONS = """
    all_pairs_shortest_path_length ancestors average_clustering betweenness_centrality bfs_edges bfs_layers
    bfs_predecessors bfs_successors center closeness_centrality clustering connected_components core_number descendants
    descendants_at_distance diameter dijkstra_path dijkstra_path_length eccentricity edge_betweenness_centrality
    is_connected is_strongly_connected is_weakly_connected k_core node_connected_component number_connected_components
    number_strongly_connected_components number_weakly_connected_components pagerank periphery radius
    single_source_dijkstra single_source_dijkstra_path single_source_dijkstra_path_length single_source_shortest_path
    single_source_shortest_path_length single_target_shortest_path_length strongly_connected_components transitivity
    triangles weakly_connected_components
""".split()


def get_info() -> dict[str, Any]:
    """The backend's entry in ``networkx.backend_info``."""
    return {
        "backend_name": "spargo",
        "project": "spargo",
        "package": "spargo",
        "short_summary": "Graph algorithms in parallel on CPUs and GPUs.",
        "functions": {name: {} for name in FUNCTIONS},
        "default_config": {"smallest_graph": 10_000},  # vertices and edges, below which networkx is left to do it
    }
