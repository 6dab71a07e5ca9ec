"""Orders of the rows of a matrix or the vertices of a graph."""

from __future__ import annotations

from typing import Any

from . import _core, _device
from ._arrays import Array, is_graph, seed_number
from ._config import threads
from ._errors import Error
from ._graph import Graph
from ._matrix import real_matrix


def reorder(a: Any, method: str = "rcm", *, seed: int = 1) -> Array:
    """An order of the rows and columns of a square matrix, or of a graph's vertices, for small bandwidth or locality.

    Parameters
    ----------
    a : Graph, graph of networkx, Matrix or any argument of `Matrix`, shape (n, n)
        Only where the entries are counts: those of A and of its transpose, without the diagonal.
    method : {'rcm', 'degree', 'rabbit', 'random'}, optional
        rcm: reverse Cuthill-McKee, for small bandwidth; degree: by descending degree, ties by number; rabbit: communities
        side by side, for social networks and web graphs (Arai et al., 2016).
    seed : int, optional
        Of 'random', 0 to 2^64-1.

    Returns
    -------
    ndarray of int, shape (n,)
        ``order[k]`` is the row, or the vertex, that becomes number k: ``a[order][:, order]`` of a SciPy matrix is the
        reordered one.

    Raises
    ------
    Error
        For a matrix that is not square.

    Notes
    -----
    A graph on a GPU is ordered there, but for 'rabbit'; a matrix on the CPU. The same order for any number of threads,
    and on a GPU; `scipy.sparse.csgraph.reverse_cuthill_mckee` starts elsewhere, and may give other orders than rcm.

    Examples
    --------
    >>> import spargo
    >>> spargo.reorder(spargo.Graph([(0, 2), (2, 1)], directed=False)).tolist()
    [1, 2, 0]
    """
    if is_graph(a):
        a = Graph(a)
    if isinstance(a, Graph):
        rows = cols = a.vertices
        offsets, indices = (a.offsets, a.indices) if method == "rabbit" else a._arrays()
    else:
        matrix = real_matrix(a, "reorder", "cpu", rounds=False)._on_host()
        rows, cols = matrix.shape
        offsets, indices, _ = matrix._csr_arrays()
    if rows != cols:
        raise Error(f"reorder: a matrix of {rows} x {cols} (expected a square one)")
    order = _core.reorder(rows, offsets, indices, str(method), seed_number(seed, "reorder"), threads())
    return _device.downloaded(order)
