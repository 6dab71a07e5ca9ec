"""Spectral embeddings and Fiedler vectors of undirected graphs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import _core
from ._arrays import Array, seed_number, whole
from ._config import threads
from .csgraph import connected_components
from ._errors import Error, UnsupportedError
from ._matrix import Matrix, real_matrix


class Embedding(NamedTuple):
    """Result of `spectral_embedding`.

    Attributes
    ----------
    values : ndarray, shape (dimensions,)
        Eigenvalues of the Laplacian, ascending, without the 0 that every graph has.
    positions : ndarray, shape (vertices, dimensions)
        Their eigenvectors as columns, of norm 1.
    """

    values: Array
    positions: Array


def spectral_embedding(
    a: Any,
    dimensions: int = 2,
    *,
    normalized: bool = True,
    tolerance: float = 1e-8,
    max_products: int = 100_000,
    seed: int = 0,
) -> Embedding:
    """Vertices as points: the Laplacian's eigenvectors of the smallest eigenvalues, without the trivial one.

    Parameters
    ----------
    a : Graph, Matrix or any argument of `Matrix`, shape (n, n)
        The adjacency matrix, symmetric, with real weights of 0 or more; integers become float64.
    dimensions : int, optional
        Less than n.
    normalized : bool, optional
        I - D^-1/2 A D^-1/2 with the row sums D, or else D - A.
    tolerance : float, optional
        Of the residuals, relative to the largest sum of magnitudes of the Laplacian's rows.
    max_products : int, optional
        Stop after about this many products with the Laplacian.
    seed : int, optional
        Of the start vector, 0 to 2^64-1.

    Returns
    -------
    Embedding
        A graph of c components has c - 1 further values 0.

    Raises
    ------
    Error
        For matrices that are not symmetric, weights that are negative or not finite, dimensions out of range, and if a
        residual exceeds the tolerance at the end.

    Notes
    -----
    Lanczos' method with thick restarts, on the CPU. The same bits for any number of threads; signs are arbitrary. Equal
    eigenvalues may be found fewer times than they occur.

    Examples
    --------
    >>> import spargo
    >>> path = spargo.Graph([(0, 1), (1, 2), (2, 3)], directed=False)
    >>> spargo.spectral_embedding(path, 2, normalized=False).values.round(4)
    array([0.5858, 2.    ])
    """
    return _embedded("spectral_embedding", _adjacency(a, "spectral_embedding"), dimensions, normalized, tolerance, max_products, seed)


def fiedler_vector(
    a: Any, *, normalized: bool = False, tolerance: float = 1e-8, max_products: int = 100_000, seed: int = 0
) -> Array:
    """The Laplacian's eigenvector of the second smallest eigenvalue, of a connected graph.

    Parameters
    ----------
    a, normalized, tolerance, max_products, seed
        As of `spectral_embedding`.

    Returns
    -------
    ndarray, shape (n,)
        Of norm 1; its sign is arbitrary.

    Raises
    ------
    Error
        As `spectral_embedding`, and for a graph that is not connected; edges of weight 0 do not connect.
    """
    matrix = _adjacency(a, "fiedler_vector")
    rows, cols = matrix.shape
    if rows != cols or rows < 2:
        raise Error(f"fiedler_vector: a matrix of {rows} x {cols} (expected a square one of 2 rows or more)")
    entries = matrix.to_scipy().tocsr(copy=True)
    entries.eliminate_zeros()
    count = connected_components(entries, directed=False)[0]
    if count > 1:
        raise Error(f"fiedler_vector: the graph has {count} components (expected a connected one)")
    return _embedded("fiedler_vector", matrix, 1, normalized, tolerance, max_products, seed).positions[:, 0].copy()


def _adjacency(a: Any, name: str) -> Matrix:
    matrix = real_matrix(a, name, "cpu")
    return matrix if matrix.device == "cpu" else Matrix(matrix.to_scipy(), device="cpu")


def _embedded(
    name: str, matrix: Matrix, dimensions: int, normalized: bool, tolerance: float, max_products: int, seed: int
) -> Embedding:
    rows, cols = matrix.shape
    offsets, indices, values = matrix._sorted_arrays()
    if values.dtype.kind == "c":
        raise UnsupportedError(f"{name}: a matrix of {values.dtype} (expected real weights)", "unsupported")
    k = whole(dimensions, f"{name}: dimensions", 1)
    most = whole(max_products, f"{name}: max_products", 1)
    found, residuals, vectors, converged, products = _core.spectral_embedding(
        rows, cols, offsets, indices, values, k, normalized, float(tolerance), most, seed_number(seed, name), threads()
    )
    if not converged:
        raise Error(
            f"{name}: not converged after {products} products: residuals up to {max(residuals):.3g} "
            "(raise max_products or tolerance)"
        )
    return Embedding(np.array(found), np.ascontiguousarray(vectors.reshape(k, rows).T))
