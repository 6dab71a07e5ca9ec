"""Sparse matrices for products."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import Array, csr_indices, indices_of, same_indices, values_of
from ._config import check_device, threads
from ._errors import Error, UnsupportedError

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator


class Matrix:
    """A sparse matrix that is multiplied, over the arrays of a matrix of SciPy's.

    Parameters
    ----------
    a : sparse array or matrix, tuple, array_like, str or path
        SciPy's CSR, CSC and COO are taken as they are, with their arrays, of int32 or int64 indices; other formats and
        dense arrays are converted to CSR. A tuple is ``(data, indices, indptr)`` of CSR or ``(data, (row, col))``. A name
        is that of a Matrix Market file, a snapshot (``.spg``) or generated data (``gen:...``), which are read into CSR.
    shape : (int, int), optional
        Needed with a tuple.
    dtype : {float32, float64, complex64, complex128}, optional
        What entries are converted to.
    device : {'auto', 'cpu'}, optional
    copy : bool, optional
        Copy the arrays. Without, they are shared with `a`: values of a CSR matrix may be changed in place and the next
        product follows; those of CSC and COO, which the first product converts to CSR, need `update_values`. The pattern
        must not change.

    Attributes
    ----------
    shape : (int, int)
    dtype : dtype
    nnz : int
        Stored entries; duplicates count each.
    format : {'csr', 'csc', 'coo'}

    Raises
    ------
    Error
        For arrays that are no matrix: an index out of range, offsets that decrease.
    NotImplementedError
        For entries of other types, such as integers, unless ``dtype`` converts them; and for a GPU.

    Notes
    -----
    The plan of a product is made at the first one and kept. Several threads may multiply by one matrix at a time. No
    call holds the interpreter's lock while it computes. Products have the same bits for any number of threads.

    Examples
    --------
    >>> import numpy as np, spargo
    >>> from scipy.sparse import csr_array
    >>> a = spargo.Matrix(csr_array([[2.0, 0.0], [1.0, 3.0]]))
    >>> a @ np.ones(2)
    array([2., 4.])
    >>> a.T @ np.ones(2)
    array([3., 3.])
    """

    __slots__ = ("_csr", "_first", "_plans", "_second", "_values", "__weakref__", "format", "shape")
    __array_ufunc__ = None  # ndarray @ Matrix asks Matrix

    format: str
    shape: tuple[int, int]

    def __init__(
        self,
        a: Any,
        *,
        shape: tuple[int, int] | None = None,
        dtype: npt.DTypeLike | None = None,
        device: str = "auto",
        copy: bool = False,
    ) -> None:
        check_device(device)
        if isinstance(a, (str, os.PathLike)):
            self._read(os.fsdecode(os.fspath(a)), dtype)
            return
        if isinstance(a, Matrix):
            a = a.to_scipy()
        first: npt.ArrayLike
        if isinstance(a, tuple):
            if shape is None:
                raise Error("Matrix: arrays need a shape")
            kind = "coo" if len(a) == 2 else "csr"
            data, first, second = (a[0], *a[1]) if kind == "coo" else (a[0], a[2], a[1])
        else:
            a = _as_sparse(a)
            kind, shape = a.format, a.shape
            data, first, second = (a.data, a.row, a.col) if kind == "coo" else (a.data, a.indptr, a.indices)
        arrays = (indices_of(first, "Matrix"), indices_of(second, "Matrix"))
        values = values_of(data, "Matrix", dtype)
        if copy:
            arrays = (arrays[0].copy(), arrays[1].copy())
            values = values.copy()
        rows, cols = (int(n) for n in shape)
        if rows < 0 or cols < 0:
            raise Error(f"Matrix: a shape of {rows} x {cols}")
        if values.size != arrays[1].size:
            raise Error(f"Matrix: {values.size} entries and {arrays[1].size} indices")
        if kind == "coo":
            arrays = same_indices(*arrays)
            _core.validate_coo(rows, cols, *arrays, threads())
        else:
            arrays = csr_indices(*arrays)
            _core.validate_csr(*((rows, cols) if kind == "csr" else (cols, rows)), *arrays, threads())
        self._set(kind, (rows, cols), *arrays, values)

    def _set(self, kind: str, shape: tuple[int, int], first: Array, second: Array, values: Array) -> None:
        self.format = kind
        self.shape = shape
        self._first = first  # indptr; of COO the rows
        self._second = second  # indices; of COO the columns
        self._values = values
        self._csr: tuple[Array, Array, Array] | None = (first, second, values) if kind == "csr" else None
        self._plans: dict[int, list[_core.Product]] = {}  # by the number of threads

    def _read(self, name: str, dtype: npt.DTypeLike | None) -> None:
        wanted = "" if dtype is None else np.dtype(dtype).name
        if _core.is_generator_spec(name):
            rows, cols, row, col, entries = _core.generate(name, wanted or "float64", threads())
            self._set("csr", (rows, cols), *_core.coo_to_csr(rows, cols, row, col, entries, threads()))
        elif _core.is_snapshot(name):
            rows, cols, offsets, indices, values, _, _ = _core.load(name, threads())
            if values is None:
                values = np.ones(indices.size, dtype=dtype)
            self._set("csr", (rows, cols), offsets, indices, values_of(values, "Matrix", dtype))
        else:
            rows, cols, *arrays = _core.mm_read_csr(name, wanted, threads())
            self._set("csr", (rows, cols), *arrays)

    @classmethod
    def _of(cls, kind: str, shape: tuple[int, int], first: Array, second: Array, values: Array) -> Matrix:
        made = cls.__new__(cls)
        made._set(kind, shape, first, second, values)
        return made

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._values.dtype

    @property
    def nnz(self) -> int:
        return int(self._values.size)

    @property
    def ndim(self) -> int:
        return 2

    @property
    def T(self) -> Matrix:
        """The transpose, over the same arrays. Keep it where it is multiplied often: plans belong to the object."""
        kind = {"csr": "csc", "csc": "csr", "coo": "coo"}[self.format]
        first, second = (self._second, self._first) if kind == "coo" else (self._first, self._second)
        return Matrix._of(kind, self.shape[::-1], first, second, self._values)

    def transpose(self) -> Matrix:
        """The same as `T`."""
        return self.T

    # --- Products -----------------------------------------------------------------------------------------------------

    def _csr_arrays(self) -> tuple[Array, Array, Array]:
        """The matrix in CSR; of CSC and COO a copy, which is kept."""
        if self._csr is None:
            if self.format == "coo":
                self._csr = _core.coo_to_csr(*self.shape, self._first, self._second, self._values, threads())
            else:
                self._csr = _core.csr_transpose(*self.shape[::-1], self._first, self._second, self._values, threads())
        return self._csr

    def _make_plan(self, values: Array | None = None, copy: bool = False, products: int = 0) -> _core.Product:
        offsets, indices, own = self._csr_arrays()
        values = own if values is None else values
        return _core.product(*self.shape, offsets, indices, values, threads(), "automatic", copy, products)

    def _run(self, x: Array, y: Array) -> None:
        """y = A x of the matrix's type; a plan serves one thread at a time."""
        kept = self._plans.setdefault(threads(), [])
        try:
            plan = kept.pop()
        except IndexError:
            plan = self._make_plan()
        if x.ndim == 1:
            plan.run(x, y)
        else:
            plan.run_many(x, y)
        kept.append(plan)

    def dot(self, x: npt.ArrayLike, out: Array | None = None) -> Array:
        """The product with a vector, or with the columns of a dense matrix.

        Parameters
        ----------
        x : array_like, shape (cols,) or (cols, k)
        out : ndarray, shape (rows,) or (rows, k), optional
            Where the result goes: contiguous, of the result's type, and apart from `x`.

        Returns
        -------
        ndarray, shape (rows,) or (rows, k)
            Of the type that NumPy gives to the entries' and `x`'s. It is fastest where `x` has the matrix's.

        Raises
        ------
        Error
            For another shape, or an `out` that does not fit.
        NotImplementedError
            For types that the library does not have, such as long double.
        """
        vector = np.asarray(x)
        if vector.ndim not in (1, 2) or vector.shape[0] != self.shape[1]:
            raise Error(f"Matrix @ x: a matrix of {self.shape[0]} x {self.shape[1]} and an x of shape {vector.shape}")
        dtype = self._values.dtype
        if vector.dtype != dtype:
            dtype = np.result_type(dtype, vector.dtype)
        if dtype not in (np.float32, np.float64, np.complex64, np.complex128):
            raise UnsupportedError(f"Matrix @ x: a result of {dtype}", "unsupported")
        vector = np.ascontiguousarray(vector, dtype=dtype)
        shape = (self.shape[0], *vector.shape[1:])
        if out is None:
            out = np.empty(shape, dtype=dtype)
        elif out.shape != shape or out.dtype != dtype or not out.flags.c_contiguous or not out.flags.writeable:
            raise Error(f"Matrix.dot: out must be writable and contiguous, of shape {shape} and type {dtype}")
        if dtype == self._values.dtype:
            self._run(vector, out)
        else:  # a plan of this call alone: its values are a copy
            plan = self._make_plan(self._csr_arrays()[2].astype(dtype))
            (plan.run if vector.ndim == 1 else plan.run_many)(vector, out)
        return out

    def __matmul__(self, other: Any) -> Array:
        if isinstance(other, Matrix) or hasattr(other, "tocsr"):
            raise UnsupportedError("Matrix @ Matrix: the library does not multiply sparse matrices", "unsupported")
        return self.dot(other)

    def __rmatmul__(self, other: Any) -> Array:
        if hasattr(other, "tocsr"):
            raise UnsupportedError("Matrix @ Matrix: the library does not multiply sparse matrices", "unsupported")
        return np.ascontiguousarray(self.T.dot(np.asarray(other).T).T)

    def matvec(self, x: npt.ArrayLike) -> Array:
        """The same as ``A @ x``, for SciPy's solvers."""
        return self.dot(x)

    def rmatvec(self, x: npt.ArrayLike) -> Array:
        """The product of the conjugate transpose with a vector."""
        return self.T.dot(np.conj(x)).conj()

    def prepare(self, *, products: int = 0) -> Matrix:
        """Make the plan now, and let it keep a copy of the matrix in a faster form where that pays.

        Parameters
        ----------
        products : int, optional
            How many are to come: the copy must save more time than its making takes. 0: many.

        Returns
        -------
        Matrix
            Itself. Values that are changed in place are then not followed; see `update_values`.
        """
        self._plans = {threads(): [self._make_plan(copy=True, products=products)]}
        return self

    def update_values(self, values: npt.ArrayLike | None = None) -> None:
        """Other values for the same pattern; plans are kept.

        Parameters
        ----------
        values : array_like, shape (nnz,), optional
            Of the matrix's type, in the order of its arrays; shared where they are contiguous. None: the arrays that are
            there, which were changed in place.

        Raises
        ------
        Error
            For another number or type of them.
        """
        if values is not None:
            data = values_of(values, "Matrix.update_values")
            if data.size != self.nnz or data.dtype != self.dtype:
                raise Error(
                    f"Matrix.update_values: {self.nnz} values of {self.dtype} are expected, "
                    f"and these are {data.size} of {data.dtype}"
                )
            self._values = data
        if self.format == "csr":
            self._csr = (self._first, self._second, self._values)
            for kept in self._plans.values():
                for plan in kept:
                    plan.update_values(self._values)
        else:
            self._csr = None
            self._plans = {}

    @property
    def plan_reason(self) -> str:
        """Which algorithm products use, and why: one sentence."""
        kept = self._plans.setdefault(threads(), [])
        if not kept:
            kept.append(self._make_plan())
        converted = "" if self.format == "csr" else f"{self.format} is converted to csr; "
        return f"{converted}{kept[-1].algorithm}: {kept[-1].reason}"

    # --- What it is to others -----------------------------------------------------------------------------------------

    def to_scipy(self) -> Any:
        """The matrix as SciPy's ``csr_array``, ``csc_array`` or ``coo_array``, over the same arrays."""
        return assembled(self.format, self.shape, self._first, self._second, self._values)

    def toarray(self) -> Array:
        """The matrix as a dense array."""
        dense: Array = self.to_scipy().toarray()
        return dense

    def __reduce__(self) -> tuple[Any, ...]:
        return Matrix._of, (self.format, self.shape, self._first, self._second, self._values)

    def __repr__(self) -> str:
        return (
            f"<spargo.Matrix: {self.shape[0]:,} x {self.shape[1]:,}, {self.nnz:,} entries, "
            f"{self.dtype}, {self.format}, on the CPU>"
        )

    def _repr_html_(self) -> str:
        return f"<p><code>{repr(self)[1:-1]}</code></p>{_spy(self)}"


def _is_sparse(a: Any) -> bool:
    from scipy import sparse

    return bool(sparse.issparse(a))


def _as_sparse(a: Any) -> Any:
    """A matrix of SciPy's in one of the formats that are taken as they are."""
    from scipy import sparse

    if not _is_sparse(a):
        a = np.asarray(a)
        if a.ndim != 2:
            raise Error(f"Matrix: two dimensions are expected, and this has {a.ndim}")
        return sparse.csr_array(a)
    if len(a.shape) != 2:
        raise Error(f"Matrix: two dimensions are expected, and this has {len(a.shape)}")
    return a if a.format in ("csr", "csc", "coo") else a.tocsr()


def assembled(kind: str, shape: tuple[int, int], first: Array, second: Array, values: Array, suffix: str = "array") -> Any:
    """SciPy's matrix over these very arrays, whose indices its constructors might narrow."""
    from scipy import sparse

    made = getattr(sparse, f"{kind}_{suffix}")(shape, dtype=values.dtype)
    if kind == "coo":
        made.row, made.col, made.data = first, second, values
    else:
        made.indptr, made.indices, made.data = first, second, values
    return made


def _spy(matrix: Matrix, side: int = 160, most: int = 40, sample: int = 200_000) -> str:
    """A picture of where the entries are, of at most `sample` of them: darker where they are more."""
    rows, cols = matrix.shape
    if rows == 0 or cols == 0:
        return ""
    chosen = np.arange(0, matrix.nnz, max(1, matrix.nnz // sample))
    second = matrix._second[chosen]
    if matrix.format == "coo":
        row, col = matrix._first[chosen], second
    else:
        major = np.searchsorted(matrix._first, chosen, side="right") - 1
        row, col = (major, second) if matrix.format == "csr" else (second, major)
    cells = min(most, max(rows, cols))
    down, across = max(1, cells * rows // max(rows, cols)), max(1, cells * cols // max(rows, cols))
    counts = np.zeros((down, across), dtype=np.int64)
    np.add.at(counts, (row.astype(np.int64) * down // rows, col.astype(np.int64) * across // cols), 1)
    cell = side / cells
    squares = "".join(
        f'<rect x="{j * cell:.1f}" y="{i * cell:.1f}" width="{cell:.1f}" height="{cell:.1f}" '
        f'fill-opacity="{0.2 + 0.8 * counts[i, j] / counts.max():.2f}"/>'
        for i, j in zip(*np.nonzero(counts))
    )
    width, height = across * cell, down * cell
    return (
        f'<svg width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.1f} {height:.1f}" fill="#124" '
        f'style="border:1px solid #999">{squares}</svg>'
    )


def aslinearoperator(a: Any) -> LinearOperator:
    """A matrix as SciPy's solvers take it, ``scipy.sparse.linalg.cg(spargo.aslinearoperator(a), b)``.

    Parameters
    ----------
    a : Matrix, or what `Matrix` takes

    Returns
    -------
    scipy.sparse.linalg.LinearOperator
        With products by the matrix and by its conjugate transpose, whose plans it keeps.
    """
    from scipy.sparse.linalg import LinearOperator

    matrix = a if isinstance(a, Matrix) else Matrix(a)
    transposed = matrix.T

    def adjoint(x: Array) -> Array:
        return transposed.dot(x.conj()).conj() if matrix.dtype.kind == "c" else transposed.dot(x)

    return LinearOperator(
        shape=matrix.shape, dtype=matrix.dtype, matvec=matrix.dot, matmat=matrix.dot, rmatvec=adjoint, rmatmat=adjoint
    )
