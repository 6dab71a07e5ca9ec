"""Results of `Graph`'s methods."""

from __future__ import annotations

from typing import NamedTuple

from ._arrays import Array


class Bfs(NamedTuple):
    """Result of `Graph.bfs`.

    Attributes
    ----------
    levels : ndarray of int32, shape (vertices,)
        Distance from the source in edges; -1 for unreached vertices and those beyond a target or depth.
    parents : ndarray of the graph's indices, shape (vertices,), or None
        A neighbour one level nearer; -1 if unreached. The source is its own parent.
    source : int
    reached : int
        Number of reached vertices, including the source.
    level_sizes : ndarray of int64, shape (depth + 1,)
    algorithm, reason : str
    """

    levels: Array
    parents: Array | None
    source: int
    reached: int
    level_sizes: Array
    algorithm: str
    reason: str


class Communities(NamedTuple):
    """Result of `Graph.communities`.

    Attributes
    ----------
    count : int
        Number of communities.
    labels : ndarray of the graph's indices, shape (vertices,)
        Leiden and Louvain: the smallest vertex of each vertex's community. Label propagation: any vertex.
    modularity : float or None
        At the resolution asked for; with the constant Potts model at resolution 1. None for label propagation.
    levels : int or None
        Levels of the last pass. None for label propagation.
    """

    count: int  # type: ignore[assignment]  # hides tuple.count
    labels: Array
    modularity: float | None
    levels: int | None


class MultiBfs(NamedTuple):
    """Result of `Graph.multi_bfs`, with a value for each source.

    Attributes
    ----------
    levels : ndarray of int32, shape (sources, vertices), or None
        Distance from each source in edges; -1 if unreached. In Fortran order: a vertex's levels are contiguous.
    reached : ndarray of int64, shape (sources,)
    distance_sums : ndarray of int64, shape (sources,)
    eccentricities : ndarray of int32, shape (sources,)
    """

    levels: Array | None
    reached: Array
    distance_sums: Array
    eccentricities: Array


class Sssp(NamedTuple):
    """Result of `Graph.sssp`.

    Attributes
    ----------
    distances : ndarray, shape (vertices,)
        int64 for integer weights, 2^63 - 1 if unreached; otherwise float64, inf if unreached.
    parents : ndarray of the graph's indices, shape (vertices,), or None
        -1 if unreached. The source is its own parent.
    source : int
    reached : int
        Number of reached vertices, including the source.
    algorithm, reason : str
    """

    distances: Array
    parents: Array | None
    source: int
    reached: int
    algorithm: str
    reason: str


class SpanningForest(NamedTuple):
    """Result of `Graph.spanning_forest`.

    Attributes
    ----------
    sources, targets : ndarray of the graph's indices, shape (edges,)
        The ends of each edge, the smaller first; edges ascend by them.
    weights : ndarray, shape (edges,)
    total_weight : int or float
    trees : int
        Vertices without edges are trees.
    algorithm : str
    """

    sources: Array
    targets: Array
    weights: Array
    total_weight: float
    trees: int
    algorithm: str


class Similarity(NamedTuple):
    """Result of `Graph.similarity`: the value of each pair.

    Attributes
    ----------
    sources, targets : ndarray of the graph's indices, shape (pairs,)
        Edges ascend by (source, target), in an undirected graph the smaller end first; the most similar vertices ascend
        by source, and follow by value.
    values : ndarray of float64, shape (pairs,)
    """

    sources: Array
    targets: Array
    values: Array


class PageRank(NamedTuple):
    """Result of `Graph.pagerank`.

    Attributes
    ----------
    ranks : ndarray of float32 or float64, shape (vertices,)
    iterations : int
    residual : float
        Change of the ranks by the last step.
    converged : bool
    algorithm : str
    """

    ranks: Array
    iterations: int
    residual: float
    converged: bool
    algorithm: str


class Eigenvector(NamedTuple):
    """Result of `Graph.eigenvector`.

    Attributes
    ----------
    values : ndarray, shape (vertices,)
        With 2-norm 1.
    iterations : int
    residual : float
        Change of the values by the last step in sum, divided by the vertices.
    converged : bool
    eigenvalue : float
        The largest, from the last step.
    """

    values: Array
    iterations: int
    residual: float
    converged: bool
    eigenvalue: float


class Katz(NamedTuple):
    """Result of `Graph.katz`.

    Attributes
    ----------
    values : ndarray, shape (vertices,)
    iterations : int
    residual : float
        Change of the values by the last step in sum, divided by the vertices.
    converged : bool
    alpha : float
    """

    values: Array
    iterations: int
    residual: float
    converged: bool
    alpha: float


class Hits(NamedTuple):
    """Result of `Graph.hits`.

    Attributes
    ----------
    hubs, authorities : ndarray, shape (vertices,)
        Each sums to 1; both are 0 for a graph without edges.
    iterations : int
    residual : float
        Change of the hubs by the last step in sum.
    converged : bool
    """

    hubs: Array
    authorities: Array
    iterations: int
    residual: float
    converged: bool


class Triangles(NamedTuple):
    """Result of `Graph.triangles`.

    Attributes
    ----------
    total : int
    per_vertex : ndarray of int64, shape (vertices,)
        Number of triangles that contain each vertex.
    degrees : ndarray of the graph's indices, shape (vertices,)
        Number of distinct neighbours, in either direction, without the vertex itself.
    """

    total: int
    per_vertex: Array
    degrees: Array


class Trusses(NamedTuple):
    """Result of `Graph.trusses`.

    Attributes
    ----------
    sources, targets : ndarray of the graph's indices, shape (edges,)
        The ends of each edge, the smaller first; edges ascend by them.
    numbers : ndarray of the graph's indices, shape (edges,)
    max_k : int
        The largest truss number, 0 without edges.
    algorithm : str
    """

    sources: Array
    targets: Array
    numbers: Array
    max_k: int
    algorithm: str


class Biconnectivity(NamedTuple):
    """Result of `Graph.biconnectivity`.

    Attributes
    ----------
    bridges : ndarray of the graph's indices, shape (bridges, 2)
        Edges without which the graph has more components, each with its smaller end first.
    articulation_points : ndarray of the graph's indices
        Vertices without which the graph has more components, in the order in which a depth-first search finds them.
    components : list of ndarray
        The vertices of each biconnected component, two or more, in no order; an articulation point is in several.
    """

    bridges: Array
    articulation_points: Array
    components: list[Array]


class Path(NamedTuple):
    """A path between two vertices.

    Attributes
    ----------
    vertices : ndarray of the graph's indices
        From the source to the target, both included; empty if no path leads to the target.
    length : int or float
        The sum of the weights; without weights the number of edges; inf if there is no path.
    expanded : int
        Vertices whose edges the search followed; 0 if unknown.
    """

    vertices: Array
    length: float
    expanded: int
