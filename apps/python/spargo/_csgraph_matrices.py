"""Functions of `spargo.csgraph` that make matrices, matchings and orders of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ._algebra import add
from ._arrays import VALUES, Array
from ._csgraph import as_scipy, graph_of
from ._errors import Error, UnsupportedError
from ._graph import Graph
from ._matrix import Matrix


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

    graph = graph_of(csgraph, True, True)
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
        csgraph = graph_of(csgraph, True, True).to_scipy()
    if not symmetric_mode and len(csgraph.shape) == 2 and csgraph.shape[0] == csgraph.shape[1]:
        csgraph = csgraph + csgraph.T  # entries that cancel are not edges, as in SciPy
    found = graph_of(csgraph, True, False)
    n = found.vertices
    rows = np.repeat(np.arange(n), np.diff(found.offsets))
    degrees = np.diff(found.offsets).astype(np.int32)  # SciPy's type, on which the order of ties depends
    degrees[np.unique(rows[rows == found.indices])] += 1
    starts = np.argsort(degrees).astype(found.indices.dtype)
    order: Array = found._called("cuthill_mckee", False, starts, degrees.astype(np.int64))
    return order[::-1].astype(np.int32, copy=False)


def laplacian(
    csgraph: Any,
    normed: bool = False,
    return_diag: bool = False,
    use_out_degree: bool = False,
    *,
    copy: bool = True,
    form: str = "array",
    dtype: npt.DTypeLike | None = None,
    symmetrized: bool = False,
) -> Any:
    """The Laplacian: degrees on the diagonal, minus the weights of the edges; loops do not count.

    Parameters
    ----------
    csgraph : sparse array or matrix, `Matrix`, `Graph`, or array_like, shape (n, n)
    normed : bool, optional
        Divide elements (i, j) by the roots of both degrees; vertices of degree 0 then have a 0 on the diagonal, others a 1.
    return_diag : bool, optional
    use_out_degree : bool, optional
        Degrees are sums of rows. False: of columns.
    copy : bool, optional
        Ignored: nothing is overwritten.
    form : {'array', 'function', 'lo'}, optional
        The matrix, a function that multiplies by it, or a ``LinearOperator``.
    dtype : dtype, optional
        By default of `csgraph`, float64 for bools and, with ``normed``, integers.
    symmetrized : bool, optional
        Use ``csgraph + csgraph.T``.

    Returns
    -------
    lap : coo_array or coo_matrix, ndarray for a dense `csgraph`, or as `form` says, shape (n, n)
    diag : ndarray, shape (n,)
        The degrees, with ``normed`` their roots, and 1 for vertices of degree 0; only with ``return_diag``.

    Raises
    ------
    Error
        For a negative degree, with ``normed``.
    UnsupportedError
        For complex numbers and those of more than 64 bits.
    """
    from scipy import sparse
    from scipy.sparse.linalg import aslinearoperator

    if form not in ("array", "function", "lo"):
        raise ValueError(f"Unrecognized form: {form!r}")
    csgraph = as_scipy(csgraph)
    given: Any = csgraph if sparse.issparse(csgraph) else np.asarray(csgraph)
    if given.ndim != 2 or given.shape[0] != given.shape[1]:
        raise ValueError("csgraph must be a square matrix or array")
    if given.dtype.kind not in "biuf" or given.dtype.itemsize > 8:
        raise UnsupportedError(f"laplacian: a matrix of {given.dtype} (expected real numbers of at most 64 bits)", "unsupported")
    floating = given.dtype.kind == "f"
    wanted = np.dtype(dtype if dtype is not None else given.dtype if floating or (given.dtype.kind != "b" and not normed) else float)
    entries = sparse.coo_array(given, dtype=given.dtype if given.dtype in VALUES else np.float64)
    if symmetrized:
        entries = (entries + entries.T).tocoo()
    proper = entries.row != entries.col
    ends = entries.row[proper], entries.col[proper]
    a = sparse.csr_array((entries.data[proper], ends), shape=entries.shape)
    degrees = np.asarray(a.sum(axis=1 if use_out_degree else 0)).ravel()
    if given.dtype.kind in "iu" and max(abs(degrees).max(initial=0), abs(a.data).max(initial=0)) > 2**53:
        raise Error("laplacian: weights or degrees beyond 2^53, which float64 rounds")
    diagonal, entry = degrees, degrees
    if normed:
        if degrees.min(initial=0) < 0:
            v = int(np.argmin(degrees))
            raise Error(f"laplacian: vertex {v} has degree {degrees[v]:g} (expected 0 or more with normed)")
        # Unlike the library's Laplacian, which is networkx's, SciPy's keeps the edges of vertices of degree 0.
        diagonal, entry = np.where(degrees == 0, 1, np.sqrt(degrees)), (degrees != 0).astype(a.dtype)
        a.data /= np.repeat(diagonal, np.diff(a.indptr)) * diagonal[a.indices]
    made = add(sparse.diags_array(entry).tocsr(), a, -1.0).to_scipy().astype(wanted)
    diagonal = diagonal if normed else degrees.astype(wanted)
    found: Any = made.toarray() if isinstance(given, np.ndarray) else made.tocoo()
    if isinstance(given, sparse.spmatrix):
        found = sparse.coo_matrix(found)
    if form != "array":
        product = made.tocsr()
        found = aslinearoperator(product) if form == "lo" else lambda v: product @ v
    return (found, diagonal) if return_diag else found
