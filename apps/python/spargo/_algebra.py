"""Sparse matrices from sparse matrices: products, sums and slices in CSR on the CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from ._arrays import VALUES, Array
from ._config import threads
from ._errors import Error, UnsupportedError

if TYPE_CHECKING:
    from ._matrix import Matrix


def is_sparse(a: Any) -> bool:
    """Whether it is a `Matrix` or a sparse matrix of SciPy."""
    from ._matrix import Matrix

    return isinstance(a, Matrix) or hasattr(a, "tocsr")


def on_cpu(a: Any, what: str) -> Matrix:
    """As a `Matrix`; of SciPy's integers and bools those that a product with float64 would have."""
    from ._matrix import Matrix

    if not isinstance(a, Matrix):
        dtype = None if a.dtype in VALUES else np.result_type(a.dtype, np.float64)
        a = Matrix(a, dtype=dtype, device="cpu")
    if a._place is not None:
        raise UnsupportedError(f"{what}: a matrix on {a.device} (expected the CPU, for sparse results)", "unsupported")
    matrix: Matrix = a
    return matrix


def _common(a: Matrix, b: Matrix) -> tuple[tuple[Array, Array, Array], tuple[Array, Array, Array]]:
    """The CSR arrays of both in common types, with 64-bit offsets."""
    both = a._csr_arrays(), b._csr_arrays()
    values = np.result_type(a.dtype, b.dtype)
    index = np.result_type(both[0][1], both[1][1])

    def cast(offsets: Array, indices: Array, data: Array) -> tuple[Array, Array, Array]:
        return offsets.astype(np.int64, copy=False), indices.astype(index, copy=False), data.astype(values, copy=False)

    return cast(*both[0]), cast(*both[1])


def _made(shape: tuple[int, int], offsets: Array, indices: Array, values: Array) -> Matrix:
    """A CSR matrix, with offsets of the indices' type if they fit, as SciPy prefers."""
    from ._matrix import Matrix

    if values.size <= np.iinfo(indices.dtype).max:
        offsets = offsets.astype(indices.dtype, copy=False)
    return Matrix._of("csr", shape, offsets, indices, values)


def multiply(a: Any, b: Any) -> Matrix:
    x, y = on_cpu(a, "Matrix @ Matrix"), on_cpu(b, "Matrix @ Matrix")
    if x.shape[1] != y.shape[0]:
        raise Error(f"Matrix @ Matrix: shapes {x.shape} and {y.shape}")
    left, right = _common(x, y)
    factors: Any = (*x.shape, *left, *y.shape, *right, threads())
    made = _core.csr_multiply(*factors)
    return _made((x.shape[0], y.shape[1]), *made)


def add(a: Any, b: Any, beta: float) -> Matrix:
    """a + beta b"""
    x, y = on_cpu(a, "Matrix + Matrix"), on_cpu(b, "Matrix + Matrix")
    if x.shape != y.shape:
        raise Error(f"Matrix + Matrix: shapes {x.shape} and {y.shape}")
    left, right = _common(x, y)
    terms: Any = (*x.shape, *left, *y.shape, *right, beta, threads())
    return _made(x.shape, *_core.csr_add(*terms))


def _selection(index: Any, size: int, dtype: Any) -> tuple[tuple[str, int, int, Array], int]:
    """Kind, range and list, and the number of the selected rows or columns."""
    none = np.empty(0, dtype)
    if isinstance(index, slice):
        start, stop, step = index.indices(size)
        if step == 1:
            last = max(start, stop)
            return ("all" if (start, last) == (0, size) else "range", start, last, none), last - start
        chosen = np.arange(start, stop, step)
    else:
        chosen = np.atleast_1d(np.asarray(index))
        if chosen.dtype == bool:
            if chosen.shape != (size,):
                raise IndexError(f"Matrix[...]: a mask of shape {chosen.shape} for {size} rows or columns")
            chosen = np.flatnonzero(chosen)
        elif chosen.size == 0:
            chosen = chosen.astype(np.int64)
        if chosen.ndim != 1 or chosen.dtype.kind not in "iu":
            raise IndexError("Matrix[...]: integers, slices, and lists or masks of one dimension are expected")
        if chosen.size > 0 and (chosen.min() < -size or chosen.max() >= size):
            raise IndexError(f"Matrix[...]: an index is out of range for {size} rows or columns")
        chosen = np.where(chosen < 0, chosen + size, chosen)
    return ("list", 0, 0, np.ascontiguousarray(chosen, dtype=dtype)), int(chosen.size)


def extract(a: Matrix, key: Any) -> Any:
    a = on_cpu(a, "Matrix[...]")
    rows, cols = key if isinstance(key, tuple) else (key, slice(None))
    offsets, indices, values = a._csr_arrays()
    row_selection, row_count = _selection(rows, a.shape[0], indices.dtype)
    col_selection, col_count = _selection(cols, a.shape[1], indices.dtype)
    wide = offsets.astype(np.int64, copy=False)
    arguments: Any = (*a.shape, wide, indices, values, *row_selection, *col_selection, threads())
    made = _core.csr_extract(*arguments)
    if all(isinstance(k, (int, np.integer)) for k in (rows, cols)):
        return made[2].sum(dtype=values.dtype)
    return _made((row_count, col_count), *made)
