"""Linear systems: Krylov methods, which need only products with the matrix."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _core, _device
from ._arrays import Array, dense, whole
from ._config import threads
from ._errors import ConvergenceWarning, Error, UnsupportedError, warn
from ._matrix import Matrix, real_matrix

METHODS = ("auto", "cg", "minres", "bicgstab", "gmres")
PRECONDITIONERS = ("auto", "none", "jacobi", "block-jacobi", "ilu0", "ic0")


class Solution(NamedTuple):
    """Result of `solve`.

    Attributes
    ----------
    x : ndarray, shape (n,)
    iterations : int
    residual : float
        2-norm of b - A x divided by that of b, computed from this x.
    converged : bool
        Whether `residual` is at most the tolerance.
    method : {'cg', 'minres', 'bicgstab', 'gmres'}
        The method that ended the run.
    """

    x: Array
    iterations: int
    residual: float
    converged: bool
    method: str


def solve(
    a: Any,
    b: npt.ArrayLike,
    *,
    method: str = "auto",
    preconditioner: str = "auto",
    tolerance: float = 1e-8,
    max_iterations: int | None = None,
    guess: npt.ArrayLike | None = None,
    block_size: int = 8,
    restart: int = 50,
    triangular_sweeps: int = 0,
) -> Solution:
    """Solve A x = b by products with A.

    Parameters
    ----------
    a : Matrix or any argument of `Matrix`, shape (n, n)
        Integers and booleans become float64.
    b : array_like, shape (n,)
        For a matrix on a GPU also a CuPy or PyTorch array on it: then nothing is copied to the host.
    method : {'auto', 'cg', 'minres', 'bicgstab', 'gmres'}, optional
        cg: symmetric (Hermitian) positive definite matrices; minres: symmetric ones; bicgstab and gmres: any matrix.
        'auto' looks at the entries: cg for a symmetric matrix with a positive diagonal, and minres after it if the matrix
        is not positive definite; minres for other symmetric ones; else bicgstab, and gmres after it if that fails.
        On a GPU cg runs there, and 'auto' copies the matrix to the CPU to look at it; the others run on the CPU, for
        vectors in its memory.
    preconditioner : {'auto', 'none', 'jacobi', 'block-jacobi', 'ilu0', 'ic0'}, optional
        jacobi divides by the diagonal (cg and minres: its absolute values), block-jacobi by its blocks of `block_size`
        rows; ilu0: incomplete LU factors; ic0: incomplete Cholesky factors of a symmetric (Hermitian) positive definite
        matrix. The last three run on the CPU. 'auto': jacobi unless the diagonal has a zero, none for vectors on a GPU,
        where no preconditioner is supported.
    tolerance : float, optional
        For the 2-norm of the residual, relative to that of `b`.
    max_iterations : int, optional
        Maximum number of iterations; by default 10 n.
    guess : array_like, shape (n,), optional
        Initial x; by default 0.
    block_size : int, optional
        Rows of a block of block-jacobi, 1 to 256.
    restart : int, optional
        Vectors that gmres keeps until it restarts, 1 or more: memory and time of an iteration grow with them, and the
        number of iterations falls. At most n are kept.
    triangular_sweeps : int, optional
        Of ilu0 and ic0, up to 1000: sweeps of Jacobi's method in the place of each triangular solve, an approximation for
        factors whose rows mostly depend on each other. 0: exact solves.

    Returns
    -------
    Solution
        The best x found. ``converged`` is False if its residual exceeds the tolerance: after `max_iterations`, or
        earlier if rounding errors prevent further progress.

    Warns
    -----
    ConvergenceWarning
        If ``converged`` is False, with the reason.

    Raises
    ------
    Error
        For wrong shapes, values that are not finite, a zero on the diagonal with jacobi, a preconditioner that does not
        exist (a singular block, a pivot that is 0 or not positive), and a solution beyond the range of its type; with
        ``method="cg"`` also if the matrix turns out not to be positive definite.
    NotImplementedError
        For vectors on a GPU with a method other than cg, also one that 'auto' finds, a preconditioner, or a type that the
        matrix's cannot represent.

    Examples
    --------
    >>> import numpy as np, spargo
    >>> found = spargo.solve(spargo.Matrix("gen:laplacian2d:n=20"), np.ones(400))
    >>> found.converged, found.residual < 1e-8, found.method
    (True, True, 'cg')
    """
    if method not in METHODS:
        raise ValueError(f"method is {method!r}, and may be one of {str(METHODS)[1:-1]}")
    if preconditioner not in PRECONDITIONERS:
        raise ValueError(f"preconditioner is {preconditioner!r}, and may be one of {str(PRECONDITIONERS)[1:-1]}")
    if not tolerance >= 0:
        raise Error(f"solve: the tolerance is {tolerance} (expected 0 or more)")
    matrix = real_matrix(a, "solve")
    n = matrix.shape[0]
    right = _vector(matrix, b)
    start = None if guess is None else _vector(matrix, guess)
    if matrix.shape[1] != n or right.shape != (n,) or (start is not None and start.shape != (n,)):
        raise Error(f"solve: a matrix of {n} x {matrix.shape[1]} and a vector of shape {tuple(right.shape)}")
    most = 10 * n if max_iterations is None else whole(max_iterations, "solve: max_iterations", 0)
    m = (
        preconditioner,
        whole(block_size, "solve: block_size"),
        whole(triangular_sweeps, "solve: triangular_sweeps", 0),
        whole(restart, "solve: restart", 1),
    )
    if matrix.device == "cpu" and _device.kind_of(right) is None:
        found, reason = _on_host(matrix, right, start, method, m, tolerance, most)
    else:
        found, reason = _from_device(matrix, right, start, method, m, tolerance, most)
    if not found.converged:
        count = f"{found.iterations:,} iteration{'s' * (found.iterations != 1)}"
        warn(
            f"solve: not converged after {count} of {found.method}: the residual is {found.residual:.3g} of |b|, and "
            f"{tolerance:g} is wanted ({reason})",
            ConvergenceWarning,
        )
    return found


Options = tuple[str, int, int, int]  # the preconditioner, rows of its blocks, its sweeps; vectors of gmres


def _on_host(
    matrix: Matrix, right: Array, start: Array | None, method: str, m: Options, tolerance: float, most: int
) -> tuple[Solution, str]:
    """The solution, and why the run ended."""
    n = right.size
    offsets, indices, values = matrix._sorted_arrays()
    dtype = right.dtype if start is None else np.result_type(right, start)
    right, values = right.astype(dtype, copy=False), values.astype(dtype, copy=False)
    x = np.zeros(n, dtype) if start is None else start.astype(dtype)
    iterations, residual, outcome, reason, used = _core.solve(
        n, offsets, indices, values, right, x, method, *m, tolerance, most, threads()
    )
    if outcome == "not_positive_definite":
        raise Error(f"solve: {reason}")
    if outcome == "not_finite":
        raise Error(f"solve: products with the matrix exceed the range of {matrix.dtype}: {reason}")
    return Solution(x, iterations, residual, outcome == "converged", used), reason


def _from_device(
    matrix: Matrix, right: Any, start: Any, method: str, m: Options, tolerance: float, most: int
) -> tuple[Solution, str]:
    """Of a matrix on a GPU: there with conjugate gradients, else on the CPU."""
    preconditioner = m[0]
    on_gpu = _device.kind_of(right) is not None
    if on_gpu and (method not in ("auto", "cg") or preconditioner not in ("auto", "none")):
        what = preconditioner if method in ("auto", "cg") else method
        raise UnsupportedError(f"solve: {what} does not take vectors on a GPU (expected cg without a preconditioner)", "unsupported")
    fits = on_gpu or preconditioner in ("auto", "none", "jacobi")
    chosen = _method_for(matrix._on_host()) if method == "auto" and fits else method
    if on_gpu and chosen != "cg":
        raise UnsupportedError(
            f"solve: the matrix needs {chosen}, which does not take vectors on a GPU (expected vectors of NumPy)", "unsupported"
        )
    if chosen == "cg" and fits:
        try:
            found = _on_device(matrix, right, start, preconditioner != "none" and not on_gpu, tolerance, most)
            return found, "the limit of iterations" if found.iterations >= most else "cg makes no more progress"
        except _IndefiniteError as e:
            if method == "cg" or on_gpu:
                raise Error(str(e)) from None
            method = "minres"
    return _on_host(matrix._on_host(), right, start, method, m, tolerance, most)


def _method_for(matrix: Matrix) -> str:
    """What 'auto' begins with."""
    n = matrix.shape[0]
    offsets, indices, values = matrix._sorted_arrays()
    zero = np.zeros(n, values.dtype)
    method: str = _core.solve(n, offsets, indices, values, zero, zero.copy(), "auto", "none", 1, 0, 1, 0.0, 0, threads())[4]
    return method


class _IndefiniteError(Error):
    """A matrix that is not positive definite."""


def _on_device(
    matrix: Matrix, right: Any, start: Any, jacobi: bool, tolerance: float, most: int
) -> Solution:
    """Conjugate gradients with products on a GPU."""
    largest = [_largest(v, name) for v, name in ((right, "b"), (start, "guess")) if v is not None]
    if largest[0] == 0:
        return Solution(right * 0, 0, 0.0, True, "cg")
    # Powers of 2 bring the largest elements of b, and of a matrix far from 1, to 1: so squares stay in range.
    product = _Product(matrix)
    exponent = math.frexp(largest[0])[1]
    right = _times_power(right, -exponent)
    start = None if start is None else _times_power(start, product.exponent - exponent)
    wanted = tolerance * _norm(right)
    inverse = _inverse_diagonal(product) if jacobi else None
    with np.errstate(over="ignore", invalid="ignore"):  # seen below
        x, iterations = _conjugate_gradients(product, right, start, inverse, wanted, most)
        residual = _norm(right - product(x))
        x = _times_power(x, exponent - product.exponent)
    if not math.isfinite(residual):
        raise Error(f"solve: products with the matrix exceed the range of {matrix.dtype}, or are not finite")
    _largest(x, "the solution")
    return Solution(x, iterations, residual / _norm(right), residual <= wanted, "cg")


class _Product:
    """Products with a matrix divided by a power of 2, so that elements far from 1 stay in range."""

    def __init__(self, matrix: Matrix):
        self.matrix = matrix
        values = matrix._values
        exponent = math.frexp(_largest(values, "the matrix"))[1] if isinstance(values, np.ndarray) else 0
        self.exponent = exponent if abs(exponent) > 64 else 0

    def __call__(self, v: Any) -> Any:
        w = self.matrix.dot(v)
        return w if self.exponent == 0 else _times_power(w, -self.exponent)


def _vector(matrix: Matrix, v: Any) -> Any:
    """The vector in the type of the products."""
    kind = _device.kind_of(v)
    if kind is None:
        array = dense(v, "solve")
        if array.dtype.kind not in "biufc":
            raise TypeError(f"solve: a vector of numbers is expected, and this is {type(v).__name__}")
        dtype = np.result_type(matrix.dtype, array.dtype)
        if dtype.char not in "fdFD":
            known = "float32, float64, complex64 and complex128"
            raise UnsupportedError(f"solve: the library has {known}, and this vector is of {array.dtype}", "unsupported")
        return np.ascontiguousarray(array, dtype)
    array = _device.taken(kind, v)
    if np.result_type(matrix.dtype, kind.dtype(array)) != matrix.dtype:
        raise UnsupportedError(
            f"solve: {matrix.dtype} and {kind.dtype(array)} on a GPU; Matrix(a, dtype=...) converts", "unsupported"
        )
    return kind.contiguous(array, None if kind.dtype(array) == matrix.dtype else matrix.dtype)


def _largest(v: Any, name: str) -> float:
    """The largest absolute value; raises Error if one is not finite."""
    largest = float(abs(v).max()) if v.shape[0] > 0 else 0.0
    if not math.isfinite(largest):
        raise Error(f"solve: {name} has a value that is infinite, NaN or beyond the range of its type")
    return largest


def _times_power(v: Any, exponent: int) -> Any:
    """v * 2^exponent, in two steps: the power alone may be out of range."""
    half = exponent // 2
    return v * 2.0**half * 2.0 ** (exponent - half)


def _inner(u: Any, v: Any) -> float:
    """The real part of the inner product, for any library's arrays."""
    return float(np.vdot(u, v).real) if isinstance(u, np.ndarray) else float((u.conj() * v).sum().real)


def _norm(v: Any) -> float:
    return math.sqrt(_inner(v, v))


def _inverse_diagonal(product: _Product) -> Array:
    diagonal = product.matrix.to_scipy().diagonal()
    if not np.all(diagonal.real > 0):
        row = int(np.argmin(diagonal.real > 0))
        raise _IndefiniteError(
            f"solve: the matrix is not positive definite (row {row} has {diagonal[row]} on the diagonal; "
            "expected another method)"
        )
    size = np.abs(_times_power(diagonal, -product.exponent))
    inverse: Array = 1 / np.where(size > 0, size, 1)
    return inverse


def _conjugate_gradients(
    product: _Product, b: Any, guess: Any, inverse: Array | None, wanted: float, most: int
) -> tuple[Any, int]:
    """Preconditioned conjugate gradients (Hestenes and Stiefel, 1952), restarted from the true residual while it falls.

    The residual of the recurrence drifts from b - A x; once it is small enough, the true residual replaces it. Returns the
    x with the smallest true residual. On a GPU the host waits for three numbers in each iteration.
    """
    x = b * 0 if guess is None else guess * 1
    r = b * 1 if guess is None else b - product(x)
    best, least = x * 1, _norm(r)
    done = 0
    while least > wanted and done < most:
        z = r if inverse is None else r * inverse
        p = z * 1
        rho = _inner(r, z)
        while done < most and _norm(r) > wanted:
            q = product(p)
            curvature = _inner(p, q)
            if not math.isfinite(curvature):
                break
            if not curvature > 0:
                if _norm(r) <= np.finfo(product.matrix.dtype).eps * _norm(b):
                    break  # rounding
                raise _IndefiniteError(f"solve: the matrix is not positive definite (found in iteration {done + 1}; expected another method)")
            done += 1
            x = x + (rho / curvature) * p
            r = r - (rho / curvature) * q
            z = r if inverse is None else r * inverse
            before, rho = rho, _inner(r, z)
            p = z + (rho / before) * p
        r = b - product(x)
        before, true = least, _norm(r)
        if true < least:
            best, least = x * 1, true
        if not true < before / 2:
            break
    return best, done
