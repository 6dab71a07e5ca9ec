"""The functions of `scipy.sparse.csgraph`, with the same arguments, results and marks of unreached vertices.

>>> from scipy.sparse import csr_array
>>> from spargo.csgraph import shortest_path
>>> shortest_path(csr_array([[0, 2, 0], [0, 0, 3], [0, 0, 0]]), indices=0)
array([0., 2., 5.])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ._arrays import Array, dense, is_graph, whole
from ._graph import Graph
from ._matrix import Matrix
from ._results import Bfs, Sssp

__all__ = [
    "bellman_ford",
    "breadth_first_order",
    "breadth_first_tree",
    "connected_components",
    "dijkstra",
    "floyd_warshall",
    "johnson",
    "maximum_bipartite_matching",
    "minimum_spanning_tree",
    "reverse_cuthill_mckee",
    "shortest_path",
    "structural_rank",
    "yen",
]

NONE = -9999  # SciPy's mark of a vertex without predecessor


def _graph_of(csgraph: Any, directed: bool, weights: bool) -> Graph:
    """The graph of a matrix. Elements of a dense one that are 0, inf, nan or masked are not edges."""
    from scipy import sparse

    if is_graph(csgraph):
        graph = (csgraph if isinstance(csgraph, Graph) else Graph(csgraph))._on_host()
        return graph if directed else graph._as(False)
    if isinstance(csgraph, Matrix):
        csgraph = csgraph.to_scipy()
    is_sparse = hasattr(csgraph, "tocsr")
    if not is_sparse and not isinstance(csgraph, np.ma.MaskedArray):
        csgraph = np.asarray(csgraph, dtype=float)
    if len(csgraph.shape) != 2 or csgraph.shape[0] != csgraph.shape[1]:
        raise ValueError(f"compressed-sparse graph must be shape (N, N), and this is {csgraph.shape}")
    if isinstance(csgraph, np.ma.MaskedArray):
        lengths = np.asarray(csgraph.data, dtype=float)
        # An edge of length nan never makes a path shorter, so it is omitted.
        places = np.nonzero(~np.ma.getmaskarray(csgraph) & ~(np.isnan(lengths) & weights))
        csgraph = sparse.coo_array((lengths[places], places), shape=csgraph.shape)
    elif not is_sparse:
        csgraph = sparse.csr_array(np.where(np.isfinite(csgraph), csgraph, 0))
    elif csgraph.dtype == bool and weights:  # a stored False is an edge of length 0
        csgraph = csgraph.astype(float)
    return Graph.from_scipy(csgraph, directed=directed, weights=weights, device="cpu")


def _start(graph: Graph, i_start: int) -> int:
    n, number = graph.vertices, graph._vertex(i_start) if isinstance(i_start, str) else whole(i_start, "i_start")
    if not -n <= number < n:
        raise ValueError(f"vertex {number} is out of range: the graph has {n} vertices")
    return number % n


def breadth_first_order(
    csgraph: Any, i_start: int, directed: bool = True, return_predecessors: bool = True
) -> Any:
    """The order in which a breadth-first search visits the vertices.

    Parameters
    ----------
    csgraph : sparse array or matrix, `Matrix`, `Graph`, or array_like, shape (n, n)
    i_start : int
    directed : bool, optional
        False: edges lead both ways; neighbours are then visited in ascending order.
    return_predecessors : bool, optional

    Returns
    -------
    node_array : ndarray, shape (reached,)
    predecessors : ndarray, shape (n,)
        -9999 if there is none; only with ``return_predecessors``.

    Raises
    ------
    Error
        For a vertex that does not exist, or an invalid graph.
    """
    graph = _graph_of(csgraph, directed, False)
    order, predecessors = graph._called("bfs_order", False, _start(graph, i_start), NONE)
    return (order, predecessors) if return_predecessors else order


def breadth_first_tree(csgraph: Any, i_start: int, directed: bool = True) -> Any:
    """The tree of `breadth_first_order`, with the weights of `csgraph`.

    Parameters
    ----------
    csgraph : sparse array or matrix, or array_like, shape (n, n)
    i_start : int
    directed : bool, optional
        False: an edge stored in one direction only has its weight in both.

    Returns
    -------
    csr_array or csr_matrix, shape (n, n)
        Of float64; a csr_matrix if `csgraph` is a matrix.
    """
    from scipy import sparse

    if isinstance(csgraph, (Graph, Matrix)):
        csgraph = csgraph.to_scipy()
    graph = _graph_of(csgraph, directed, True)
    children, predecessors = breadth_first_order(graph if directed else csgraph, i_start, directed)
    children = children[1:]
    parents = predecessors[children]
    n = graph.vertices
    made = sparse.csr_matrix if isinstance(csgraph, sparse.spmatrix) else sparse.csr_array
    if children.size == 0:
        return made((n, n), dtype=np.float64)
    weights = made(graph.to_scipy())
    values = np.asarray(weights[parents, children], dtype=np.float64).ravel()
    return made((values, (parents, children)), shape=(n, n))


def connected_components(
    csgraph: Any, directed: bool = True, connection: str = "weak", return_labels: bool = True
) -> Any:
    """Connected components.

    Parameters
    ----------
    csgraph : sparse array or matrix, `Matrix`, `Graph`, or array_like, shape (n, n)
    directed : bool, optional
    connection : {'weak', 'strong'}, optional
    return_labels : bool, optional

    Returns
    -------
    n_components : int
    labels : ndarray, shape (n,)
        0 to n_components - 1 in the order of the components' smallest vertices; only with ``return_labels``. SciPy
        numbers strong components differently.
    """
    if connection.lower() not in ("weak", "strong"):
        raise ValueError("connection must be 'weak' or 'strong'")
    # Weak components do not need reverse edges.
    strong = directed and connection.lower() == "strong"
    graph = _graph_of(csgraph, True, False)
    count, labels = graph.connected_components(connection="strong" if strong else "weak")
    return (count, labels) if return_labels else count


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

    Parameters
    ----------
    csgraph : sparse array or matrix, `Matrix`, `Graph`, or array_like, shape (n, n)
    directed : bool, optional
        False: edges lead both ways, with the smaller of two weights.
    indices : int or array_like of int, optional
        The sources; by default all.
    return_predecessors : bool, optional
    unweighted : bool, optional
        Every edge has length 1.
    limit : float, optional
        Vertices farther away stay unreached.
    min_only : bool, optional
        Only the paths from the nearest source.

    Returns
    -------
    dist_matrix : ndarray of float64, shape (..., n), one row for each of `indices`; (n,) with ``min_only``
        inf if unreached.
    predecessors : ndarray, of the same shape
        -9999 if there is none; only with ``return_predecessors``. May differ from SciPy's among equally short paths.
    sources : ndarray, shape (n,)
        The nearest source, -9999 if none; only with ``return_predecessors`` and ``min_only``.

    Raises
    ------
    Error
        For a negative weight.
    """
    if not limit >= 0:
        raise ValueError("limit must be >= 0")
    graph = _graph_of(csgraph, directed, not unweighted)
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

    Parameters
    ----------
    csgraph : sparse array or matrix, `Matrix`, `Graph`, or array_like, shape (n, n)
    method : {'auto', 'FW', 'D', 'BF', 'J'}, optional
        Matters with negative weights only: 'D' refuses them, 'BF' is `bellman_ford`, the others `johnson`.
    directed, return_predecessors, unweighted, indices
        As for `dijkstra`.
    overwrite : bool, optional
        Ignored: nothing is overwritten.

    Returns
    -------
    dist_matrix, predecessors
        As from `dijkstra`.

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


def johnson(
    csgraph: Any,
    directed: bool = True,
    indices: npt.ArrayLike | None = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
) -> Any:
    """Shortest paths from some or all vertices; weights may be negative.

    Parameters
    ----------
    csgraph, directed, indices, return_predecessors, unweighted
        As for `shortest_path`.

    Returns
    -------
    dist_matrix, predecessors
        As from `dijkstra`.

    Raises
    ------
    NegativeCycleError
        SciPy's, for a cycle of negative weight.

    Notes
    -----
    Without negative weights, and unweighted, as `dijkstra`; with them Johnson's algorithm, whose sums are rounded otherwise
    than along a path.
    """
    graph = _graph_of(csgraph, directed, not unweighted)
    if not _has_negative(graph):
        return dijkstra(graph, directed, indices, return_predecessors, unweighted)
    graph, high = _reweighted(graph)
    distances, parents = dijkstra(graph, True, indices, True)
    sources, shape = _indices(graph, indices)
    distances = distances + (high[None, :] - high[sources][:, None]).reshape(*shape, graph.vertices)
    return (distances, parents) if return_predecessors else distances


def bellman_ford(
    csgraph: Any,
    directed: bool = True,
    indices: npt.ArrayLike | None = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
) -> Any:
    """Shortest paths from some or all vertices; weights may be negative.

    Parameters
    ----------
    csgraph, directed, indices, return_predecessors, unweighted
        As for `shortest_path`.

    Returns
    -------
    dist_matrix, predecessors
        As from `dijkstra`.

    Raises
    ------
    NegativeCycleError
        SciPy's, for a cycle of negative weight that a source reaches.

    Notes
    -----
    Without negative weights, and unweighted, as `dijkstra`. With them one search per source, as `Graph.bellman_ford`;
    `johnson` is faster for many sources.
    """
    graph = _graph_of(csgraph, directed, not unweighted)
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


def floyd_warshall(
    csgraph: Any,
    directed: bool = True,
    return_predecessors: bool = False,
    unweighted: bool = False,
    overwrite: bool = False,
) -> Any:
    """Shortest paths between all pairs of vertices, as `johnson` finds them.

    Parameters
    ----------
    csgraph, directed, return_predecessors, unweighted, overwrite
        As for `shortest_path`.

    Returns
    -------
    dist_matrix, predecessors
        As from `dijkstra`.

    Raises
    ------
    NegativeCycleError
        SciPy's, for a cycle of negative weight that is no loop.
    """
    graph = _graph_of(csgraph, directed, not unweighted)
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
    graph = _graph_of(csgraph, directed, not unweighted)
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


def maximum_bipartite_matching(graph: Any, perm_type: str = "row") -> Array:
    """A maximum matching of the bipartite graph of a matrix's rows and columns, joined by its stored elements.

    Parameters
    ----------
    graph : sparse array or matrix or `Matrix`, shape (m, n)
    perm_type : {'row', 'column'}, optional

    Returns
    -------
    ndarray
        'row': of each column the matched row, 'column': of each row the matched column; -1 if there is none. It may be
        another of several maximum matchings than SciPy's.

    Raises
    ------
    TypeError
        For a dense matrix, as in SciPy.
    """
    if perm_type not in ("row", "column"):
        raise ValueError("perm_type must be 'row' or 'column'")
    rows, mates = _matched(graph)
    return np.where(mates[:rows] < 0, -1, mates[:rows] - rows) if perm_type == "column" else mates[rows:]


def structural_rank(graph: Any) -> int:
    """The largest rank of a matrix with these stored elements: the size of a maximum matching of rows and columns.

    Parameters
    ----------
    graph : sparse array or matrix or `Matrix`, shape (m, n)

    Returns
    -------
    int
    """
    rows, mates = _matched(graph)
    return int(np.count_nonzero(mates[:rows] >= 0))


def _matched(graph: Any) -> tuple[int, Array]:
    """The rows of a matrix, and the mates of vertices: rows, then columns."""
    if isinstance(graph, Matrix):
        graph = graph.to_scipy()
    if not hasattr(graph, "tocsr"):
        raise TypeError("graph must be in CSC, CSR, or COO format.")
    matrix = graph.tocsr()
    rows, columns = matrix.shape
    offsets = np.append(matrix.indptr, np.full(columns, matrix.indptr[-1], matrix.indptr.dtype))
    from scipy import sparse

    square = sparse.csr_array(
        (np.ones(matrix.indices.size, bool), matrix.indices + rows, offsets), shape=(rows + columns, rows + columns)
    )
    made = Graph.from_scipy(square, directed=True, weights=False, device="cpu")
    return rows, made.bipartite_matching()[0]


def minimum_spanning_tree(csgraph: Any, overwrite: bool = False) -> Any:
    """A spanning tree of least weight, or one of each component; directions are ignored.

    Parameters
    ----------
    csgraph : sparse array or matrix, `Matrix`, `Graph`, or array_like, shape (n, n)
        Of two entries (i, j) and (j, i) the smaller one counts.
    overwrite : bool, optional
        Ignored: nothing is overwritten.

    Returns
    -------
    csr_array or csr_matrix, shape (n, n)
        Of float64; the entries of `csgraph` that are edges of the tree, without those that are 0. A csr_matrix if
        `csgraph` is a matrix. May differ from SciPy's among trees of equal weight.

    Raises
    ------
    Error
        For a weight that is no number.
    """
    from scipy import sparse

    graph = _graph_of(csgraph, True, True)
    n = graph.vertices
    values = np.ones(graph.indices.size) if graph.weights is None else graph.weights.astype(np.float64)
    rows, columns = graph._sources().astype(np.int64), graph.indices.astype(np.int64)
    entries = Graph.from_edges(rows, columns, values, vertices=n, device="cpu")  # the smallest of repeated entries
    found = entries._as(False).spanning_forest()
    ends = np.stack((found.sources, found.targets)).astype(np.int64)
    stored = entries._sources().astype(np.int64) * n + entries.indices
    places = np.minimum(np.searchsorted(stored, ends[0] * n + ends[1]), max(stored.size - 1, 0))
    assert entries.weights is not None
    forward = (stored[places] == ends[0] * n + ends[1]) & (entries.weights[places] == found.weights)
    kept = found.weights != 0
    made = sparse.csr_matrix if isinstance(csgraph, sparse.spmatrix) else sparse.csr_array
    placed = np.where(forward, ends, ends[::-1])[:, kept]
    return made((found.weights[kept].astype(np.float64), tuple(placed)), shape=(n, n))


def reverse_cuthill_mckee(graph: Any, symmetric_mode: bool = False) -> Array:
    """An order of rows and columns that reduces the bandwidth of a sparse matrix.

    Parameters
    ----------
    graph : sparse array or matrix, `Matrix`, `Graph`, or array_like, shape (n, n)
    symmetric_mode : bool, optional
        The pattern is symmetric. False: use the pattern of ``graph + graph.T``.

    Returns
    -------
    ndarray of int32, shape (n,)
        ``a[order][:, order]`` is the reordered matrix.

    Notes
    -----
    O(entries log(largest degree)) on one thread. The order is SciPy's.
    """
    csgraph = graph.to_scipy() if isinstance(graph, (Graph, Matrix)) else graph
    if not hasattr(csgraph, "tocsr"):
        csgraph = _graph_of(csgraph, True, True).to_scipy()
    if not symmetric_mode and len(csgraph.shape) == 2 and csgraph.shape[0] == csgraph.shape[1]:
        csgraph = csgraph + csgraph.T  # entries that cancel are not edges, as in SciPy
    found = _graph_of(csgraph, True, False)
    n = found.vertices
    rows = np.repeat(np.arange(n), np.diff(found.offsets))
    degrees = np.diff(found.offsets).astype(np.int32)  # SciPy's type, on which the order of ties depends
    degrees[np.unique(rows[rows == found.indices])] += 1
    starts = np.argsort(degrees).astype(found.indices.dtype)
    order: Array = found._called("cuthill_mckee", False, starts, degrees.astype(np.int64))
    return order[::-1].astype(np.int32, copy=False)
