"""Linear systems, by products alone."""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _device
from ._arrays import Array
from ._errors import Error, UnsupportedError
from ._matrix import Matrix, aslinearoperator

SCIPYS = ("minres", "bicgstab", "gmres")


class Solution(NamedTuple):
    """What `solve` returns.

    Attributes
    ----------
    x : ndarray, shape (n,)
    iterations : int
    residual : float
        The 2-norm of b - A x over that of b, of this x.
    converged : bool
    """

    x: Array
    iterations: int
    residual: float
    converged: bool


def solve(
    a: Any,
    b: npt.ArrayLike,
    *,
    method: str = "cg",
    tolerance: float = 1e-8,
    max_iterations: int | None = None,
    guess: npt.ArrayLike | None = None,
) -> Solution:
    """Solve A x = b by products with A.

    Parameters
    ----------
    a : Matrix, or what `Matrix` takes, shape (n, n)
    b : array_like, shape (n,)
        For a matrix on a GPU an array of CuPy's or PyTorch's on it, too: then everything stays there.
    method : {'cg', 'minres', 'bicgstab', 'gmres'}, optional
        cg, for symmetric (Hermitian) positive definite matrices, is the library's; the others are SciPy's over our
        products, minres for symmetric matrices and two for all.
    tolerance : float, optional
        Of the residual's 2-norm, relative to that of `b`.
    max_iterations : int, optional
        By default 10 n.
    guess : array_like, shape (n,), optional
        What the iteration starts with; by default 0.

    Returns
    -------
    Solution
        Of what the last iteration had, if it has not converged.

    Raises
    ------
    Error
        For shapes that do not fit, and by cg for a matrix that is not positive definite, as far as that shows.
    NotImplementedError
        For another method of vectors on a GPU, or types that the matrix does not hold there.

    Examples
    --------
    >>> import numpy as np, spargo
    >>> found = spargo.solve(spargo.Matrix("gen:laplacian2d:n=20"), np.ones(400))
    >>> found.converged, found.residual < 1e-7
    (True, True)
    """
    if method not in ("cg", *SCIPYS):
        raise ValueError(f"method is {method!r}, and may be one of 'cg', 'minres', 'bicgstab', 'gmres'")
    matrix = a if isinstance(a, Matrix) else Matrix(a)
    n = matrix.shape[0]
    right = _vector(matrix, b)
    start = None if guess is None else _vector(matrix, guess)
    if matrix.shape[1] != n or right.shape != (n,) or (start is not None and start.shape != (n,)):
        raise Error(f"solve: a matrix of {n} x {matrix.shape[1]} and a vector of shape {tuple(right.shape)}")
    most = 10 * n if max_iterations is None else max_iterations
    norm = _norm(right)
    if not norm > 0:
        if norm == 0:
            return Solution(right * 0, 0, 0.0, True)
        raise Error("solve: b has a NaN")
    if method == "cg":
        x, iterations, converged = _conjugate_gradients(matrix, right, start, tolerance * norm, most)
    elif _device.kind_of(right) is not None:
        raise UnsupportedError(f"solve: vectors on a GPU by {method}; cg has them", "unsupported")
    else:
        x, iterations, converged = _scipys(method, matrix, right, start, tolerance, most)
    return Solution(x, iterations, _norm(right - matrix.dot(x)) / norm, converged)


def _vector(matrix: Matrix, v: Any) -> Any:
    """Of the type of the products."""
    kind = _device.kind_of(v)
    if kind is None:
        array = np.asarray(v)
        return np.ascontiguousarray(array, np.result_type(matrix.dtype, array.dtype))
    array = _device.taken(kind, v)
    if np.result_type(matrix.dtype, kind.dtype(array)) != matrix.dtype:
        raise UnsupportedError(
            f"solve: {matrix.dtype} and {kind.dtype(array)} on a GPU; Matrix(a, dtype=...) converts", "unsupported"
        )
    return kind.contiguous(array, None if kind.dtype(array) == matrix.dtype else matrix.dtype)


def _inner(u: Any, v: Any) -> float:
    """The real part of the inner product: of NumPy's arrays and others alike."""
    return float(np.vdot(u, v).real) if isinstance(u, np.ndarray) else float((u.conj() * v).sum().real)


def _norm(v: Any) -> float:
    return float(_inner(v, v) ** 0.5)


def _conjugate_gradients(matrix: Matrix, b: Any, guess: Any, tolerance: float, most: int) -> tuple[Any, int, bool]:
    """Hestenes and Stiefel, 1952. Of arrays on a GPU each iteration waits for two numbers."""
    x = b * 0 if guess is None else guess * 1
    r = b * 1 if guess is None else b - matrix.dot(x)
    p = r * 1
    rho = _inner(r, r)
    for done in range(most):
        if rho**0.5 <= tolerance:
            return x, done, True
        q = matrix.dot(p)
        curvature = _inner(p, q)
        if not curvature > 0:
            raise Error(f"solve: the matrix is not positive definite (iteration {done + 1}); other methods take others")
        x += (rho / curvature) * p
        r -= (rho / curvature) * q
        before, rho = rho, _inner(r, r)
        p = r + (rho / before) * p
    return x, most, rho**0.5 <= tolerance


def _scipys(method: str, matrix: Matrix, b: Array, guess: Any, tolerance: float, most: int) -> tuple[Any, int, bool]:
    from scipy.sparse import linalg

    solver = getattr(linalg, method)
    counted = 0

    def count(_: Any) -> None:
        nonlocal counted
        counted += 1

    options: dict[str, Any] = {"maxiter": most, "callback": count, "x0": guess}
    options["rtol" if "rtol" in inspect.signature(solver).parameters else "tol"] = tolerance  # since SciPy 1.12
    if method == "gmres":  # counts restarts
        restart = max(1, min(30, b.size))
        options.update(restart=restart, maxiter=-(-most // restart), callback_type="pr_norm")
    x, failed = solver(aslinearoperator(matrix), b, **options)
    return x, counted, failed == 0
