"""What the functions of `spargo.csgraph` share: the graph of a matrix as SciPy sees it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arrays import is_graph, whole
from ._graph import Graph
from ._matrix import Matrix

NONE = -9999  # SciPy's mark of a vertex without predecessor


def as_scipy(a: Any) -> Any:
    """A matrix or graph, networkx's too, as SciPy's matrix; anything else unchanged."""
    if is_graph(a):
        a = a if isinstance(a, Graph) else Graph(a)
    return a.to_scipy() if isinstance(a, (Graph, Matrix)) else a


def graph_of(csgraph: Any, directed: bool, weights: bool) -> Graph:
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


def start_of(graph: Graph, i_start: int) -> int:
    n, number = graph.vertices, graph._vertex(i_start) if isinstance(i_start, str) else whole(i_start, "i_start")
    if not -n <= number < n:
        raise ValueError(f"vertex {number} is out of range: the graph has {n} vertices")
    return number % n
