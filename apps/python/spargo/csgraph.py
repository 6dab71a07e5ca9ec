"""The functions of `scipy.sparse.csgraph`, with the same arguments, results and marks of unreached vertices.

Conversions (``csgraph_from_dense``, ``reconstruct_path`` ...) and ``NegativeCycleError`` are SciPy's own, and take a
`Graph` or a `Matrix` as well. There is no algorithm for ``maximum_flow`` and ``min_weight_full_bipartite_matching``.

>>> from scipy.sparse import csr_array
>>> from spargo.csgraph import shortest_path
>>> shortest_path(csr_array([[0, 2, 0], [0, 0, 3], [0, 0, 0]]), indices=0)
array([0., 2., 5.])
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ._csgraph import NONE, as_scipy, graph_of, start_of
from ._csgraph_matrices import (
    laplacian,
    maximum_bipartite_matching,
    minimum_spanning_tree,
    reverse_cuthill_mckee,
    structural_rank,
)
from ._csgraph_paths import bellman_ford, dijkstra, floyd_warshall, johnson, shortest_path, yen

__all__ = [
    "bellman_ford",
    "breadth_first_order",
    "breadth_first_tree",
    "connected_components",
    "depth_first_order",
    "depth_first_tree",
    "dijkstra",
    "floyd_warshall",
    "johnson",
    "laplacian",
    "maximum_bipartite_matching",
    "minimum_spanning_tree",
    "reverse_cuthill_mckee",
    "shortest_path",
    "structural_rank",
    "yen",
]

_CONVERSIONS = (
    "construct_dist_matrix",
    "csgraph_from_dense",
    "csgraph_from_masked",
    "csgraph_masked_from_dense",
    "csgraph_to_dense",
    "csgraph_to_masked",
    "reconstruct_path",
)
_ABSENT = ("maximum_flow", "min_weight_full_bipartite_matching")


def __getattr__(name: str) -> Any:  # `import spargo` does not import SciPy
    if name in _ABSENT:
        raise AttributeError(f"spargo.csgraph has no {name}: the library has no such algorithm (scipy.sparse.csgraph.{name} is SciPy's)")
    if name not in (*_CONVERSIONS, "NegativeCycleError"):
        raise AttributeError(f"module 'spargo.csgraph' has no attribute '{name}'")
    from scipy.sparse import csgraph as scipys

    found = getattr(scipys, name)
    if name == "NegativeCycleError":
        return found

    @functools.wraps(found)
    def converted(*args: Any, **kwargs: Any) -> Any:
        return found(*map(as_scipy, args), **{key: as_scipy(value) for key, value in kwargs.items()})

    return converted


def _documented_as(breadth_first: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def documented(depth_first: Callable[..., Any]) -> Callable[..., Any]:
        depth_first.__doc__ = (breadth_first.__doc__ or "").replace("breadth", "depth")
        return depth_first

    return documented


def breadth_first_order(
    csgraph: Any, i_start: int, directed: bool = True, return_predecessors: bool = True
) -> Any:
    """The order in which a breadth-first search visits the vertices.

    Neighbours are visited in the order in which the rows of a CSR matrix store them, as SciPy does. In other formats, and
    with ``directed=False``, they are visited in ascending order, where SciPy documents none.

    Parameters
    ----------
    csgraph : sparse array or matrix, `Matrix`, `Graph`, or array_like, shape (n, n)
    i_start : int
    directed : bool, optional
        False: edges lead both ways.
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
    return _order("bfs_order", csgraph, i_start, directed, return_predecessors)


@_documented_as(breadth_first_order)
def depth_first_order(
    csgraph: Any, i_start: int, directed: bool = True, return_predecessors: bool = True
) -> Any:
    return _order("dfs_order", csgraph, i_start, directed, return_predecessors)


def _order(method: str, csgraph: Any, i_start: int, directed: bool, return_predecessors: bool) -> Any:
    graph = graph_of(csgraph, directed, False)
    order, predecessors = graph._called(method, False, start_of(graph, i_start), NONE)
    return (order, predecessors) if return_predecessors else order


def breadth_first_tree(csgraph: Any, i_start: int, directed: bool = True) -> Any:
    """The tree of `breadth_first_order`, with the weights of `csgraph`.

    Parameters
    ----------
    csgraph : sparse array or matrix, `Matrix`, `Graph`, or array_like, shape (n, n)
    i_start : int
    directed : bool, optional
        False: an edge stored in one direction only has its weight in both.

    Returns
    -------
    csr_array or csr_matrix, shape (n, n)
        Of float64; a csr_matrix if `csgraph` is a matrix.
    """
    return _tree(csgraph, i_start, directed, breadth_first_order)


@_documented_as(breadth_first_tree)
def depth_first_tree(csgraph: Any, i_start: int, directed: bool = True) -> Any:
    return _tree(csgraph, i_start, directed, depth_first_order)


def _tree(csgraph: Any, i_start: int, directed: bool, order: Callable[..., Any]) -> Any:
    from scipy import sparse

    csgraph = as_scipy(csgraph)
    graph = graph_of(csgraph, directed, True)
    children, predecessors = order(graph if directed else csgraph, i_start, directed)
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
    graph = graph_of(csgraph, True, False)
    count, labels = graph.connected_components(connection="strong" if strong else "weak")
    return (count, labels) if return_labels else count
