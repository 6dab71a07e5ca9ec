"""Sparse matrices for products."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _algebra, _core, _device
from ._arrays import Array, csr_indices, dense, indices_of, same_indices, values_of, whole
from ._config import threads
from ._errors import Error, UnsupportedError, warn
from ._io import path_of
from ._scipy import as_sparse, assembled, spy
from ._snapshot import opened

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator


class Matrix:
    """A sparse matrix for products; shares the arrays of a SciPy matrix.

    Parameters
    ----------
    a : sparse array or matrix, tuple, array_like, str or path
        SciPy's CSR, CSC and COO matrices keep their format and arrays, with int32 or int64 indices; other formats and
        dense arrays are converted to CSR. A tuple is ``(data, indices, indptr)`` of CSR or ``(data, (row, col))``. A str
        names a Matrix Market file, a snapshot (``.spg``) or generated data (``gen:...``), read as CSR. A sparse matrix
        of CuPy or PyTorch, or a tuple of their arrays, stays on its GPU.
    shape : (int, int), optional
        Required with a tuple.
    dtype : {float32, float64, complex64, complex128}, optional
        Convert the entries to this type.
    device : {'auto', 'cpu', 'cuda', 'cuda:N'}, optional
        Where the matrix lives; arrays elsewhere are copied once. 'auto': as set by `config`, else the GPU that holds
        `a`, else the CPU.
    copy : bool, optional
        Copy the arrays instead of sharing them with `a`. Shared values of a CSR matrix may be changed in place, and the
        next product uses them; after changes to CSC and COO matrices, which the first product converts to CSR, call
        `update_values`. The pattern must not change.

    Attributes
    ----------
    shape : (int, int)
    dtype : dtype
    nnz : int
        Number of stored entries, duplicates included.
    format : {'csr', 'csc', 'coo'}
    device : str
        ``"cpu"``, or ``"cuda:0"`` and so on.

    Raises
    ------
    Error
        For inconsistent arrays, such as an index out of range or decreasing offsets.
    DeviceError
        For a GPU that does not exist.
    NotImplementedError
        For entries of other types, such as integers, unless ``dtype`` converts them.

    Notes
    -----
    The first product makes a plan, which is kept. Several threads may multiply by one matrix at the same time. Calls
    release the interpreter's lock while they compute. Products have the same bits for any number of threads.

    On a GPU, products with CuPy and PyTorch vectors return arrays of the same library without copies; NumPy vectors are
    copied to the GPU, and their products back. Events order a product after earlier and before later work on the current
    stream of CuPy or PyTorch; the host does not wait.

    Products and sums with a `Matrix` or a sparse matrix of SciPy, multiples and slices (``A @ B``, ``A + B``, ``2 * A``,
    ``A[10:20, mask]``) are matrices on the CPU, in CSR with sorted rows; ``to_scipy()`` converts.

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

    __slots__ = ("_csr", "_first", "_place", "_plans", "_second", "_values", "__weakref__", "format", "shape")
    __array_ufunc__ = None  # ndarray @ Matrix asks Matrix
    __iter__ = None  # slices are matrices, not elements

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
        if isinstance(a, (str, os.PathLike)):
            place = _device.place_for(device)
            self._read(path_of(a), dtype)
            if place is not None:
                self._move(place)
            return
        sparse = _device.unpacked(a)
        data: Any
        first: Any
        second: Any
        if isinstance(a, Matrix):
            kind, shape, data, first, second = a.format, a.shape, a._values, a._first, a._second
        elif sparse is not None:
            kind, shape, data, first, second = sparse
        elif isinstance(a, tuple):
            if shape is None:
                raise Error("Matrix: a tuple of arrays needs a shape")
            kind = "coo" if len(a) == 2 else "csr"
            data, first, second = (a[0], *a[1]) if kind == "coo" else (a[0], a[2], a[1])
        else:
            a = as_sparse(a)
            kind, shape = a.format, a.shape
            data, first, second = (a.data, a.row, a.col) if kind == "coo" else (a.data, a.indptr, a.indices)
        place = _device.place_for(device, data, first, second)
        if place is None:
            data, first, second = (_device.downloaded(v) if _device.ordinal_of(v) >= 0 else v for v in (data, first, second))
            first, second = indices_of(first, "Matrix"), indices_of(second, "Matrix")
            first, second = (same_indices if kind == "coo" else csr_indices)(first, second)
            values = values_of(data, "Matrix", dtype)
            if copy:
                first, second, values = first.copy(), second.copy(), values.copy()
        else:
            first, second = _device.index_vectors(first, second, place, "Matrix", kind == "coo")
            values = _device.values_vector(data, place, "Matrix", dtype)
            if copy:
                first, second, values = (_device.copied(v, place) for v in (first, second, values))
        rows, cols = (whole(n, "Matrix: a size in the shape") for n in shape)
        if rows < 0 or cols < 0:
            raise Error(f"Matrix: a shape of {rows} x {cols}")
        if values.size != second.size:
            raise Error(f"Matrix: {values.size} entries and {second.size} indices")
        if kind == "coo":
            _core.validate_coo(rows, cols, first, second, threads())
        else:
            _core.validate_csr(*((rows, cols) if kind == "csr" else (cols, rows)), first, second, threads())
        self._set(kind, (rows, cols), first, second, values)

    def _set(self, kind: str, shape: tuple[int, int], first: Array, second: Array, values: Array) -> None:
        self.format = kind
        self.shape = shape
        self._first = first  # indptr; of COO the rows. On a GPU all three are vectors of the library's
        self._second = second  # indices; of COO the columns
        self._values = values
        self._place = _device.place_at(_device.ordinal_of(values)) if _device.is_vector(values) else None
        self._csr: tuple[Array, Array, Array] | None = (first, second, values) if kind == "csr" else None
        self._plans: dict[int, list[Any]] = {}  # by the number of threads

    def _move(self, place: Any) -> None:
        """To a GPU."""
        first, second, values = map(place.upload, (self._first, self._second, self._values))
        self._set(self.format, self.shape, first, second, values)

    def _on_host(self) -> Matrix:
        """Itself, or a copy on the CPU."""
        if self._place is None:
            return self
        first, second, values = map(_device.downloaded, (self._first, self._second, self._values))
        return Matrix._of(self.format, self.shape, first, second, values)

    def _read(self, name: str, dtype: npt.DTypeLike | None) -> None:
        wanted = "" if dtype is None else np.dtype(dtype).name
        if _core.is_generator_spec(name):
            rows, cols, row, col, entries = _core.generate(name, wanted or "float64", threads())
            self._set("csr", (rows, cols), *_core.coo_to_csr(rows, cols, row, col, entries, threads()))
        elif _core.is_snapshot(name):
            found = opened(name)
            values = np.ones(found.indices.size, dtype=dtype) if found.values is None else found.values
            self._set("csr", found.shape, found.offsets, found.indices, values_of(values, "Matrix", dtype))
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
    def device(self) -> str:
        return _device.name_of(self._place)

    @property
    def nnz(self) -> int:
        return int(self._values.size)

    @property
    def ndim(self) -> int:
        """2, as of every matrix."""
        return 2

    @property
    def T(self) -> Matrix:
        """The transpose, with the same arrays. Keep the object for repeated products: it holds the plans."""
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

    def _sorted_arrays(self) -> tuple[Array, Array, Array]:
        """The matrix in CSR with ascending columns in each row: repeated entries are summed."""
        offsets, indices, values = self._csr_arrays()
        ascends = indices[1:] > indices[:-1]
        first = offsets[1:-1]  # of the rows but the first
        ascends[first[(first > 0) & (first < indices.size)] - 1] = True
        if ascends.all():
            return offsets, indices, values
        row = np.repeat(np.arange(self.shape[0], dtype=indices.dtype), np.diff(offsets))
        arrays: tuple[Array, Array, Array] = _core.coo_to_csr(*self.shape, row, indices, values, threads())
        return arrays

    def _make_plan(self, values: Array | None = None, copy: bool = False, products: int = 0) -> _core.Product:
        offsets, indices, own = self._csr_arrays()
        values = own if values is None else values
        return _core.product(*self.shape, offsets, indices, values, threads(), "automatic", copy, products)

    def _kept(self) -> list[Any]:
        """Idle plans for the current number of threads."""
        return self._plans.setdefault(threads() if self._place is None else 0, [])

    def _run(self, x: Array, y: Array) -> None:
        """y = A x of the matrix's type; a plan serves one thread at a time."""
        kept = self._kept()
        try:
            plan = kept.pop()
        except IndexError:
            plan = self._make_plan()
        if x.ndim == 1:
            plan.run(x, y)
        else:
            plan.run_many(x, y)
        kept.append(plan)

    def _run_on_device(self, x: int, y: int, columns: int | None, stream: int) -> None:
        """The same with addresses, ordered on the stream."""
        kept = self._kept()
        try:
            plan = kept.pop()
        except IndexError:
            plan = self._make_plan()
        if columns is None:
            plan.run(x, y, stream)
        else:
            plan.run_many(x, y, columns, stream)
        kept.append(plan)

    def _expect(self, shape: tuple[int, ...]) -> None:
        if len(shape) not in (1, 2) or shape[0] != self.shape[1]:
            rows, cols = self.shape
            raise Error(
                f"Matrix @ x: a matrix of {rows} x {cols} and an x of shape {tuple(shape)} "
                f"(expected ({cols},) or ({cols}, k))"
            )

    def _dot_on_device(self, kind: _device.Kind, x: Any, out: Any) -> Any:
        place, own = self._place, self._values.dtype
        x = _device.taken(kind, x)
        ordinal = kind.ordinal(x)
        self._expect(x.shape)
        if place is None or ordinal != place.ordinal:
            raise Error(f"Matrix @ x: x is on cuda:{ordinal}, and the matrix on {self.device}; device= says where")
        dtype = kind.dtype(x)
        same = dtype == own
        if not same and np.result_type(own, dtype) != own:
            raise UnsupportedError(f"Matrix @ x: {own} times {dtype} on a GPU; Matrix(a, dtype=...) converts", "unsupported")
        x = kind.contiguous(x, None if same else own)
        columns = None if x.ndim == 1 else int(x.shape[1])
        shape = (self.shape[0],) if columns is None else (self.shape[0], columns)
        if out is None:
            y = kind.empty(shape, own, ordinal)
        else:
            y = out
            if (
                _device.kind_of(y) is not kind
                or tuple(y.shape) != shape
                or kind.dtype(y) != own
                or not kind.is_contiguous(y)
                or kind.ordinal(y) != ordinal
            ):
                raise Error(f"Matrix.dot: out must be contiguous on {self.device}, of shape {shape} and type {own}")
        self._run_on_device(kind.address(x), kind.address(y), columns, kind.stream(ordinal))
        return y

    def _dot_from_host(self, x: Array, y: Array) -> None:
        place = self._place
        assert place is not None
        sent = place.upload(x.reshape(-1))
        made = place.empty(y.size, y.dtype.name)
        self._run_on_device(sent.address, made.address, None if x.ndim == 1 else x.shape[1], place.stream)
        made.fetch(y.reshape(-1))

    def dot(self, x: npt.ArrayLike, out: Array | None = None) -> Array:
        """The product with a vector or a dense matrix.

        Parameters
        ----------
        x : array_like, shape (cols,) or (cols, k)
            For a matrix on a GPU also an array on that GPU: of CuPy, PyTorch, or any library with the CUDA Array
            Interface or DLPack.
        out : ndarray, shape (rows,) or (rows, k), optional
            Array for the result: contiguous, of the result's type, not overlapping `x`.

        Returns
        -------
        ndarray, shape (rows,) or (rows, k)
            Its type is NumPy's result type of the entries and `x`; fastest if both are the same. A CuPy array for a CuPy
            `x`, a PyTorch tensor, without gradient, for a PyTorch `x`.

        Raises
        ------
        Error
            For a wrong shape or an unsuitable `out`.
        NotImplementedError
            For unsupported types, such as long double; on a GPU also for an `x` whose type the matrix's cannot represent.
        """
        kind = _device.kind_of(x)
        if kind is not None:
            on_device: Array = self._dot_on_device(kind, x, out)
            return on_device
        vector = dense(x, "Matrix @ x")
        self._expect(vector.shape)
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
        if self._place is not None:
            if dtype != self._values.dtype:
                raise UnsupportedError(
                    f"Matrix @ x: {self.dtype} times {vector.dtype} on a GPU; Matrix(a, dtype=...) converts", "unsupported"
                )
            self._dot_from_host(vector, out)
        elif dtype == self._values.dtype:
            self._run(vector, out)
        else:  # a plan of this call alone: its values are a copy
            plan = self._make_plan(self._csr_arrays()[2].astype(dtype))
            (plan.run if vector.ndim == 1 else plan.run_many)(vector, out)
        return out

    def __matmul__(self, other: Any) -> Any:
        kind = _device.kind_of(other)
        if kind is not None:
            on_device: Array = self._dot_on_device(kind, other, None)
            return on_device
        return _algebra.multiply(self, other) if _algebra.is_sparse(other) else self.dot(other)

    def __rmatmul__(self, other: Any) -> Any:
        if _algebra.is_sparse(other):
            return _algebra.multiply(other, self)
        kind = _device.kind_of(other)
        if kind is not None:
            x = _device.taken(kind, other)
            return kind.contiguous(self.T.dot(x.T).T, None) if x.ndim == 2 else self.T.dot(x)
        return np.ascontiguousarray(self.T.dot(dense(other, "x @ Matrix").T).T)

    def matvec(self, x: npt.ArrayLike) -> Array:
        """The same as ``A @ x``, for SciPy's solvers."""
        return self.dot(x)

    def rmatvec(self, x: npt.ArrayLike) -> Array:
        """The product of the conjugate transpose with a vector."""
        if self.dtype.kind != "c":
            return self.T.dot(x)
        if _device.kind_of(x) is not None:
            conjugate: Any = x
            return self.T.dot(conjugate.conj()).conj()
        return self.T.dot(np.conj(x)).conj()

    def prepare(self, *, products: int = 0) -> Matrix:
        """Make the plan now; it may keep a copy of the matrix in a faster format if that pays off.

        Parameters
        ----------
        products : int, optional
            Expected number of products; the copy must save more time than it takes. 0: many.

        Returns
        -------
        Matrix
            The matrix itself. Later changes of values in place have no effect until `update_values`.
        """
        plan = self._make_plan(copy=True, products=products)
        self._plans = {}
        self._kept().append(plan)
        return self

    def update_values(self, values: npt.ArrayLike | None = None) -> None:
        """Replace the values; the pattern and the plans are kept.

        Parameters
        ----------
        values : array_like, shape (nnz,), optional
            Of the matrix's type, in the order of its arrays; shared if contiguous. None: the current arrays, changed in
            place.

        Raises
        ------
        Error
            For a wrong number of values or another type.
        """
        if values is not None:
            data: Any
            if self._place is None:
                data = values_of(values, "Matrix.update_values")
            else:
                data = _device.values_vector(values, self._place, "Matrix.update_values")
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
        """The algorithm of products and the reason for it, in one sentence."""
        kept = self._kept()
        if not kept:
            kept.append(self._make_plan())
        converted = "" if self.format == "csr" else f"{self.format} is converted to csr; "
        return f"{converted}{kept[-1].algorithm}: {kept[-1].reason}"

    # --- Sparse results, on the CPU -----------------------------------------------------------------------------------

    def __add__(self, other: Any) -> Matrix:
        return _algebra.add(self, other, 1.0) if _algebra.is_sparse(other) else NotImplemented

    def __sub__(self, other: Any) -> Matrix:
        return _algebra.add(self, other, -1.0) if _algebra.is_sparse(other) else NotImplemented

    def __radd__(self, other: Any) -> Matrix:
        return _algebra.add(other, self, 1.0) if _algebra.is_sparse(other) else NotImplemented

    def __rsub__(self, other: Any) -> Matrix:
        return _algebra.add(other, self, -1.0) if _algebra.is_sparse(other) else NotImplemented

    def __mul__(self, factor: Any) -> Matrix:
        if not np.isscalar(factor):
            return NotImplemented
        here = _algebra.on_cpu(self, "Matrix * number")
        values = values_of(here._values * factor, "Matrix * number")
        return Matrix._of(here.format, here.shape, here._first, here._second, values)

    __rmul__ = __mul__

    def __truediv__(self, factor: Any) -> Matrix:
        if not np.isscalar(factor):
            return NotImplemented
        here = _algebra.on_cpu(self, "Matrix / number")
        values = values_of(here._values / factor, "Matrix / number")
        return Matrix._of(here.format, here.shape, here._first, here._second, values)

    def __neg__(self) -> Matrix:
        return self * -1

    def __getitem__(self, key: Any) -> Any:
        """Rows and columns by integers, slices, lists or masks: ``A[rows]`` and ``A[rows, cols]`` are matrices of every
        selected row and column, ``A[i, j]`` an element."""
        return _algebra.extract(self, key)

    # --- Conversions --------------------------------------------------------------------------------------------------

    def to_scipy(self) -> Any:
        """The matrix as SciPy's ``csr_array``, ``csc_array`` or ``coo_array``, with the same arrays; from a GPU a copy."""
        here = self._on_host()
        return assembled(here.format, here.shape, here._first, here._second, here._values)

    def toarray(self) -> Array:
        """The matrix as a dense array."""
        dense: Array = self.to_scipy().toarray()
        return dense

    def __reduce__(self) -> tuple[Any, ...]:
        here = self._on_host()
        return Matrix._restored, (self.device, here.format, here.shape, here._first, here._second, here._values)

    @classmethod
    def _restored(cls, device: str, *parts: Any) -> Matrix:
        made = cls._of(*parts)
        place = _device.place_for(device)
        if place is not None:
            made._move(place)
        return made

    def __repr__(self) -> str:
        return (
            f"<spargo.Matrix: {self.shape[0]:,} x {self.shape[1]:,}, {self.nnz:,} entries, "
            f"{self.dtype}, {self.format}, on {'the CPU' if self._place is None else self.device}>"
        )

    def _repr_html_(self) -> str:
        return f"<p><code>{repr(self)[1:-1]}</code></p>{spy(self._on_host())}"


def real_matrix(a: Any, what: str, device: str = "auto", *, rounds: bool = True) -> Matrix:
    """`a` or a Matrix of it. Integers and booleans become float64, as for NumPy's and SciPy's solvers; with `rounds`
    those that change are warned of."""
    if isinstance(a, Matrix):
        return a
    if isinstance(a, (str, os.PathLike, tuple)) or _device.unpacked(a) is not None:
        return Matrix(a, device=device)
    a = as_sparse(a, what)
    if a.dtype.kind not in "biu":
        return Matrix(a, device=device)
    if rounds and a.dtype.kind != "b" and a.dtype.itemsize == 8 and np.any((a.data > 2**53) | (a.data < -(2**53))):
        warn(f"{what}: the matrix has integers beyond 2^53, which float64 rounds")
    return Matrix(a, dtype=np.float64, device=device)


def aslinearoperator(a: Any) -> LinearOperator:
    """A matrix for SciPy's solvers: ``scipy.sparse.linalg.cg(spargo.aslinearoperator(a), b)``.

    Parameters
    ----------
    a : Matrix or any argument of `Matrix`

    Returns
    -------
    scipy.sparse.linalg.LinearOperator
        With products by the matrix and by its conjugate transpose, whose plans it keeps.
    """
    from scipy.sparse.linalg import LinearOperator

    matrix = a if isinstance(a, Matrix) else Matrix(a)
    transposed = matrix.T  # products with NumPy's vectors, also of a matrix on a GPU

    def adjoint(x: Array) -> Array:
        return transposed.dot(x.conj()).conj() if matrix.dtype.kind == "c" else transposed.dot(x)

    return LinearOperator(
        shape=matrix.shape, dtype=matrix.dtype, matvec=matrix.dot, matmat=matrix.dot, rmatvec=adjoint, rmatmat=adjoint
    )
