"""The largest singular values of sparse matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._arrays import Array, seed_number, whole
from ._config import threads
from ._errors import Error
from ._matrix import Matrix, real_matrix

_PARTS = (True, False, "u", "vh")


def svds(
    a: Any,
    k: int = 6,
    *,
    which: str = "LM",
    tol: float = 0.0,
    return_singular_vectors: bool | str = True,
    max_products: int = 100_000,
    seed: int = 0,
) -> Any:
    """The `k` largest singular values of a matrix, with their vectors; `scipy.sparse.linalg.svds` on the CPU.

    Parameters
    ----------
    a : Matrix or any argument of `Matrix`, shape (m, n)
        Integers and booleans become float64.
    k : int, optional
        At most min(m, n).
    which : {'LM'}, optional
        The largest; the smallest are SciPy's.
    tol : float, optional
        Of the residuals, relative to the largest singular value; at least 32 times the type's machine epsilon.
    return_singular_vectors : {True, False, 'u', 'vh'}, optional
        Both, none (only the values are returned), or those of one side; the other is None.
    max_products : int, optional
        Stop after about this many products with A and its conjugate transpose.
    seed : int, optional
        Of the start vector, 0 to 2^64-1.

    Returns
    -------
    u : ndarray, shape (m, k)
    s : ndarray, shape (k,)
        Descending, as of `numpy.linalg.svd`; float32 for matrices of single precision, else float64.
    vh : ndarray, shape (k, n)

    Raises
    ------
    Error
        For a `k` out of range, values that are not finite, and if a residual exceeds the tolerance at the end.

    Notes
    -----
    Golub and Kahan's bidiagonalisation with thick restarts. The same bits for any number of threads. Equal singular
    values may be found fewer times than they occur.

    Examples
    --------
    >>> import numpy as np, spargo
    >>> spargo.svds(np.diag([3.0, 1.0, 2.0]), 2, return_singular_vectors=False).round(6)
    array([3., 2.])
    """
    if which != "LM":
        raise ValueError(f"which is {which!r}, and may be 'LM'")
    if return_singular_vectors not in _PARTS:
        raise ValueError(f"return_singular_vectors is {return_singular_vectors!r}, and may be one of {str(_PARTS)[1:-1]}")
    matrix = real_matrix(a, "svds")
    if matrix.device != "cpu":
        matrix = Matrix(matrix.to_scipy(), device="cpu")
    k = whole(k, "svds: k", 1)
    rows, cols = matrix.shape
    offsets, indices, values = matrix._csr_arrays()
    found, residuals, left, right, converged, products = _core.svds(
        rows, cols, offsets, indices, values, k, float(tol), whole(max_products, "svds: max_products", 1), seed_number(seed, "svds"), threads()
    )
    if not converged:
        raise Error(
            f"svds: not converged after {products} products: residuals up to {max(residuals):.3g} for the largest singular "
            f"value {found[0]:.6g} (raise max_products or tol)"
        )
    s: Array = np.array(found, np.float32 if values.dtype.itemsize == (8 if values.dtype.kind == "c" else 4) else np.float64)
    if not return_singular_vectors:
        return s
    u = None if return_singular_vectors == "vh" else np.ascontiguousarray(left.reshape(k, rows).T)
    vh = None if return_singular_vectors == "u" else right.reshape(k, cols).conj()
    return u, s, vh
