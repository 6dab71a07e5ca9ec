"""Shortest paths of `spargo.csgraph`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ._arrays import Array, dense, whole
from ._csgraph import NONE, graph_of
from ._graph import Graph
from ._results import Bfs, Sssp

Function = TypeVar("Function", bound=Callable[..., Any])

_PARAMETERS = {
    "csgraph": "sparse array or matrix, `Matrix`, `Graph`, or array_like, shape (n, n)",
    "directed": "bool, optional\n    False: edges lead both ways, with the smaller of two weights.",
    "indices": "int or array_like of int, optional\n    The sources; by default all.",
    "return_predecessors": "bool, optional",
    "unweighted": "bool, optional\n    Every edge has length 1.",
    "limit": "float, optional\n    Vertices farther away stay unreached.",
    "min_only": "bool, optional\n    Only the paths from the nearest source.",
    "method": "{'auto', 'FW', 'D', 'BF', 'J'}, optional\n"
    "    Matters with negative weights only: 'D' refuses them, 'BF' is `bellman_ford`, the others `johnson`.",
    "overwrite": "bool, optional\n    Ignored: nothing is overwritten.",
}
_RETURNS = """dist_matrix : ndarray of float64, shape (..., n), one row for each of the sources; (n,) for the nearest one
    inf if unreached.
predecessors : ndarray, of the same shape
    -9999 if there is none; only with ``return_predecessors``. May differ from SciPy's among equally short paths."""


def _documented(function: Function) -> Function:
    """Adds the parameters and results, which most functions share, after the summary."""
    summary, _, rest = inspect.cleandoc(function.__doc__ or "").partition("\n\n")
    rest = rest if rest.startswith("sources") else "\n" + rest  # a third result
    rows = "\n".join(f"{name} : {_PARAMETERS[name]}" for name in inspect.signature(function).parameters)
    function.__doc__ = f"{summary}\n\nParameters\n----------\n{rows}\n\nReturns\n-------\n{_RETURNS}\n{rest}\n"
    return function


def _indices(graph: Graph, indices: npt.ArrayLike | None) -> tuple[Array, tuple[int, ...]]:
    """The sources as a vector, and their shape."""
    if indices is None:
        return np.arange(graph.vertices), (graph.vertices,)
    chosen = dense(indices, "indices")
    if chosen.dtype.kind in "OU":
        chosen = np.array([graph._vertex(v) for v in chosen.flat]).reshape(chosen.shape)
    if chosen.dtype.kind not in "iu" and chosen.size > 0:
        raise ValueError("indices must be integers")
    flat = chosen.ravel().astype(np.int64)
    flat = np.where(flat < 0, flat + graph.vertices, flat)
    if flat.size > 0 and not (0 <= flat.min() and flat.max() < graph.vertices):
        raise ValueError(f"indices out of range 0...{graph.vertices - 1}")
    return flat, chosen.shape


def _unweighted(graph: Graph, sources: Array, predecessors: bool) -> tuple[Array, Array | None]:
    if not predecessors:
        levels = graph.multi_bfs(sources).levels
        assert levels is not None
        return np.where(levels < 0, np.inf, levels), None
    found = [graph.bfs(int(s), parents="smallest") for s in sources]
    n = graph.vertices
    distances = np.array([f.levels for f in found], dtype=np.float64).reshape(sources.size, n)
    distances[distances < 0] = np.inf
    return distances, _marked_rows(found, graph)


def _marked_rows(found: Sequence[Bfs | Sssp], graph: Graph) -> Array:
    """The parents of each search, with SciPy's marks."""
    rows = np.empty((len(found), graph.vertices), dtype=graph.indices.dtype)
    for row, search in zip(rows, found):
        assert search.parents is not None
        row[:] = np.where(search.parents < 0, NONE, search.parents)
        row[search.source] = NONE
    return rows


@_documented
def dijkstra(
    csgraph: Any,
    directed: bool = True,
    indices: npt.ArrayLike | None = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
    limit: float = np.inf,
    min_only: bool = False,
) -> Any:
    """Shortest paths with weights of 0 or more, from some or all vertices.

    sources : ndarray, shape (n,)
        The nearest source, -9999 if none; only with ``return_predecessors`` and ``min_only``.

    Raises
    ------
    Error
        For a negative weight.
    """
    if not limit >= 0:
        raise ValueError("limit must be >= 0")
    graph = graph_of(csgraph, directed, not unweighted)
    sources, shape = _indices(graph, indices)
    if min_only:
        found_of_all = _from_nearest(graph, sources, unweighted, limit)
        return found_of_all if return_predecessors else found_of_all[0]
    parents: Array | None
    if unweighted or graph.weights is None:
        distances, parents = _unweighted(graph, sources, return_predecessors)
        beyond = distances > limit
        distances[beyond] = np.inf
        if parents is not None:
            parents[beyond] = NONE
    else:
        if graph.weights.dtype.kind == "i":
            graph = Graph._of(graph.offsets, graph.indices, graph.weights.astype(np.float64), graph.directed)
        which = "smallest" if return_predecessors else None
        found = [graph.sssp(int(s), cutoff=limit, parents=which) for s in sources]
        n = graph.vertices
        distances = np.array([f.distances for f in found], dtype=np.float64).reshape(sources.size, n)
        parents = _marked_rows(found, graph) if return_predecessors else None
    shape = (*shape, graph.vertices)
    distances = distances.reshape(shape)
    return (distances, parents.reshape(shape)) if parents is not None else distances


def _from_nearest(graph: Graph, sources: Array, unweighted: bool, limit: float) -> tuple[Array, Array, Array]:
    """One search from an additional vertex with edges of length 0 to the sources."""
    n = graph.vertices
    weights = np.ones(graph.indices.size) if unweighted or graph.weights is None else graph.weights.astype(np.float64)
    offsets = np.append(graph.offsets, graph.offsets[-1:] + sources.size).astype(graph.offsets.dtype)
    indices = np.append(graph.indices, sources).astype(graph.indices.dtype)
    extended = Graph._of(offsets, indices, np.append(weights, np.zeros(sources.size)), True)
    found = extended.sssp(n, cutoff=limit)
    assert found.parents is not None
    parents = found.parents[:n]
    first = (parents < 0) | (parents == n)
    nearest = np.where(parents == n, np.arange(n), np.where(parents < 0, NONE, parents))
    while True:  # each step halves the distance to the source
        further = np.where(nearest < 0, NONE, nearest[np.maximum(nearest, 0)])
        if np.array_equal(further, nearest):
            break
        nearest = further
    return found.distances[:n], np.where(first, NONE, parents), nearest


@_documented
def shortest_path(
    csgraph: Any,
    method: str = "auto",
    directed: bool = True,
    return_predecessors: bool = False,
    unweighted: bool = False,
    overwrite: bool = False,
    indices: npt.ArrayLike | None = None,
) -> Any:
    """Shortest paths from some or all vertices.

    Raises
    ------
    NegativeCycleError
        SciPy's, for a cycle of negative weight: with 'BF' one that a source reaches, otherwise any.
    """
    if method not in ("auto", "D", "FW", "BF", "J"):
        raise ValueError(f"unrecognized method '{method}'")
    if method == "FW" and indices is not None:
        raise ValueError("Cannot specify indices with method == 'FW'")
    if method == "D":
        return dijkstra(csgraph, directed, indices, return_predecessors, unweighted)
    if method == "FW":
        return floyd_warshall(csgraph, directed, return_predecessors, unweighted)
    return (bellman_ford if method == "BF" else johnson)(csgraph, directed, indices, return_predecessors, unweighted)


def _has_negative(graph: Graph) -> bool:
    return graph.weights is not None and bool(np.any(graph.weights < 0))


def _refuse_cycle(cycle: Array) -> None:
    from scipy.sparse.csgraph import NegativeCycleError

    if cycle.size > 0:
        raise NegativeCycleError(f"Negative cycle detected on node {cycle[0]}")


def _reweighted(graph: Graph) -> tuple[Graph, Array]:
    """The graph with weights of 0 or more, and potentials: a path from u to v got longer by those of u minus v."""
    potentials, _, _, cycle = graph._of_any_sign(None)
    _refuse_cycle(cycle)
    assert graph.weights is not None
    high = potentials.astype(np.float64)
    lengths = graph.weights + high[graph._sources()] - high[graph.indices]
    # Rounding may leave less than 0.
    return Graph._of(graph.offsets, graph.indices, np.maximum(lengths, 0), graph.directed), high


@_documented
def johnson(
    csgraph: Any,
    directed: bool = True,
    indices: npt.ArrayLike | None = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
) -> Any:
    """Shortest paths from some or all vertices; weights may be negative.

    Raises
    ------
    NegativeCycleError
        SciPy's, for a cycle of negative weight.

    Notes
    -----
    Without negative weights, and unweighted, as `dijkstra`. With them Johnson's algorithm, whose sums are rounded
    otherwise than along a path.
    """
    graph = graph_of(csgraph, directed, not unweighted)
    if not _has_negative(graph):
        return dijkstra(graph, directed, indices, return_predecessors, unweighted)
    graph, high = _reweighted(graph)
    distances, parents = dijkstra(graph, True, indices, True)
    sources, shape = _indices(graph, indices)
    distances = distances + (high[None, :] - high[sources][:, None]).reshape(*shape, graph.vertices)
    return (distances, parents) if return_predecessors else distances


@_documented
def bellman_ford(
    csgraph: Any,
    directed: bool = True,
    indices: npt.ArrayLike | None = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
) -> Any:
    """Shortest paths from some or all vertices; weights may be negative.

    Raises
    ------
    NegativeCycleError
        SciPy's, for a cycle of negative weight that a source reaches.

    Notes
    -----
    Without negative weights, and unweighted, as `dijkstra`. With them one search per source, as
    `Graph.bellman_ford`; `johnson` is faster for many sources.
    """
    graph = graph_of(csgraph, directed, not unweighted)
    if not _has_negative(graph):
        return dijkstra(graph, directed, indices, return_predecessors, unweighted)
    sources, shape = _indices(graph, indices)
    distances = np.empty((sources.size, graph.vertices))
    parents = np.empty(distances.shape, dtype=graph.indices.dtype)
    for k, source in enumerate(sources):
        row, found, _, cycle = graph._of_any_sign(sources[k : k + 1])
        _refuse_cycle(cycle)
        distances[k] = np.where(found < 0, np.inf, row)
        parents[k] = np.where(found < 0, NONE, found)
        parents[k, source] = NONE
    distances, parents = (a.reshape(*shape, graph.vertices) for a in (distances, parents))
    return (distances, parents) if return_predecessors else distances


@_documented
def floyd_warshall(
    csgraph: Any,
    directed: bool = True,
    return_predecessors: bool = False,
    unweighted: bool = False,
    overwrite: bool = False,
) -> Any:
    """Shortest paths between all pairs of vertices, as `johnson` finds them.

    Raises
    ------
    NegativeCycleError
        SciPy's, for a cycle of negative weight that is no loop.
    """
    graph = graph_of(csgraph, directed, not unweighted)
    if _has_negative(graph):  # as in SciPy, loops do not count
        assert graph.weights is not None
        loops = graph._sources() == graph.indices
        graph = Graph._of(graph.offsets, graph.indices, np.where(loops, 0, graph.weights), graph.directed)
    return johnson(graph, directed, None, return_predecessors, unweighted)


def yen(
    csgraph: Any,
    source: int,
    sink: int,
    K: int,
    *,
    directed: bool = True,
    return_predecessors: bool = False,
    unweighted: bool = False,
) -> Any:
    """The K shortest paths between two vertices that repeat no vertex.

    Parameters
    ----------
    csgraph : sparse array or matrix, `Matrix`, `Graph`, or array_like, shape (n, n)
    source, sink : int
    K : int
    directed : bool, optional
        False: edges lead both ways, with the smaller of two weights.
    return_predecessors : bool, optional
    unweighted : bool, optional
        Every edge has length 1.

    Returns
    -------
    dist_array : ndarray of float64, shape (M,)
        The lengths, ascending; M is below K if there are fewer paths.
    predecessors : ndarray, shape (M, n)
        Of the vertices on each path; -9999 if there is none; only with ``return_predecessors``. May differ from SciPy's
        among equally long paths.

    Raises
    ------
    NegativeCycleError
        SciPy's, for a cycle of negative weight.
    """
    graph = graph_of(csgraph, directed, not unweighted)
    n, count = graph.vertices, whole(K, "K")
    if not (0 <= source < n and 0 <= sink < n):
        raise ValueError(f"must have 0 <= source < {n} and 0 <= sink < {n}, and they are {source} and {sink}")
    if count < 0:
        raise ValueError(f"K is {count} (expected 0 or more)")
    longer = 0.0
    if _has_negative(graph):
        graph, high = _reweighted(graph)
        longer = high[source] - high[sink]
    found = graph.k_shortest_paths(source, sink, count, weighted=graph.weights is not None)
    lengths = np.array([path.length for path in found], np.float64) - longer
    if not return_predecessors:
        return lengths
    predecessors = np.full((len(found), n), NONE, graph.indices.dtype)
    for row, path in zip(predecessors, found):
        row[path.vertices[1:]] = path.vertices[:-1]
    return lengths, predecessors
