"""What `Graph`'s methods return."""

from __future__ import annotations

from typing import NamedTuple

from ._arrays import Array


class Bfs(NamedTuple):
    """What `Graph.bfs` returns.

    Attributes
    ----------
    levels : ndarray of int32, shape (vertices,)
        Edges from the source; -1 where it does not reach, or past a target or depth.
    parents : ndarray of the graph's indices, shape (vertices,), or None
        A neighbour one level nearer; -1 where not reached. The source is its own parent.
    source : int
    reached : int
        Vertices, the source included.
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


class MultiBfs(NamedTuple):
    """What `Graph.multi_bfs` returns, one of each for every source.

    Attributes
    ----------
    levels : ndarray of int32, shape (sources, vertices), or None
        Edges from the source; -1 where it does not reach. A vertex's levels lie together: the array is in Fortran order.
    reached : ndarray of int64, shape (sources,)
    distance_sums : ndarray of int64, shape (sources,)
    eccentricities : ndarray of int32, shape (sources,)
    """

    levels: Array | None
    reached: Array
    distance_sums: Array
    eccentricities: Array


class Sssp(NamedTuple):
    """What `Graph.sssp` returns.

    Attributes
    ----------
    distances : ndarray, shape (vertices,)
        int64 for integer weights, where 2^63 - 1 says that the source does not reach; else float64, and inf.
    parents : ndarray of the graph's indices, shape (vertices,), or None
        -1 where not reached. The source is its own parent.
    source : int
    reached : int
        Vertices, the source included.
    algorithm, reason : str
    """

    distances: Array
    parents: Array | None
    source: int
    reached: int
    algorithm: str
    reason: str


class PageRank(NamedTuple):
    """What `Graph.pagerank` returns.

    Attributes
    ----------
    ranks : ndarray of float32 or float64, shape (vertices,)
    iterations : int
    residual : float
        What the last step changed.
    converged : bool
    algorithm : str
    """

    ranks: Array
    iterations: int
    residual: float
    converged: bool
    algorithm: str


class Triangles(NamedTuple):
    """What `Graph.triangles` returns.

    Attributes
    ----------
    total : int
    per_vertex : ndarray of int64, shape (vertices,)
        Triangles that each vertex is in.
    degrees : ndarray of the graph's indices, shape (vertices,)
        Neighbours, in or out, each once and the vertex itself never.
    """

    total: int
    per_vertex: Array
    degrees: Array
