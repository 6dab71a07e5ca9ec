"""Files and generated data."""

from __future__ import annotations

import bz2
import gzip
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Union

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import VALUES, Array, indices_of, same_indices
from ._config import on_host, threads
from ._errors import Error, UnsupportedError
from ._scipy import assembled

if TYPE_CHECKING:
    from ._graph import Graph
    from ._matrix import Matrix

Source = Union[str, "os.PathLike[str]", IO[Any]]


def path_of(source: str | os.PathLike[str]) -> str:
    return os.fsdecode(os.fspath(source))


@contextmanager
def readable(source: Source) -> Iterator[str]:
    """A name under which the library can open `source`: its path, or that of memory that holds what it reads."""
    if isinstance(source, (str, os.PathLike)):
        path = path_of(source)
        if not path.endswith(".bz2"):
            yield path
            return
        with bz2.open(path, "rb") as inflated, readable(inflated) as name:
            yield name
        return
    read = getattr(source, "read", None)
    if read is None:
        raise TypeError(f"a path or a file is expected, and this is {type(source).__name__}")
    fd = os.memfd_create("spargo")
    try:
        with open(fd, "wb", closefd=False) as memory:
            while chunk := read(1 << 20):
                memory.write(chunk.encode() if isinstance(chunk, str) else chunk)
        path = f"/proc/self/fd/{fd}"
        try:
            yield path
        except Error as e:  # the caller knows the file by another name
            given: object = getattr(source, "name", None)
            e.file = given if isinstance(given, str) else f"<{type(source).__name__}>"
            e.args = (e.args[0].replace(path, e.file), *e.args[1:])
            raise
    finally:
        os.close(fd)


# --- Matrix Market ----------------------------------------------------------------------------------------------------


def mminfo(source: Source) -> tuple[int, int, int, str, str, str]:
    """What the first lines of a Matrix Market file say, as `scipy.io.mminfo` does.

    Parameters
    ----------
    source : str, path or file
        Plain, gzip or (by a name ending in ``.bz2``) bzip2; or an open file, binary or text.

    Returns
    -------
    rows, cols, entries : int
        Entries as the file declares them; of an array all of it.
    format : {'coordinate', 'array'}
    field : {'real', 'integer', 'complex', 'pattern'}
    symmetry : {'general', 'symmetric', 'skew-symmetric', 'hermitian'}

    Raises
    ------
    Error
        With ``.file``, ``.line`` and ``.column``, for what is no Matrix Market file.

    Examples
    --------
    >>> from io import StringIO
    >>> import spargo
    >>> spargo.mminfo(StringIO("%%MatrixMarket matrix coordinate real general\\n5 4 1\\n2 3 1.5\\n"))
    (5, 4, 1, 'coordinate', 'real', 'general')
    """
    with readable(source) as path:
        rows, cols, entries, layout, field, symmetry = _core.mm_info(path)
    return rows, cols, rows * cols if layout == "array" else entries, layout, field, symmetry


def _asked(dtype: npt.DTypeLike | None) -> tuple[str, np.dtype[Any] | None]:
    """The library's type to read into, and the one to convert to afterwards."""
    if dtype is None:
        return "", None
    wanted = np.dtype(dtype)
    if wanted in VALUES:
        return wanted.name, None
    if wanted.kind in "iu":
        return "float64", wanted
    raise UnsupportedError(f"mmread: the library does not read into {wanted}", "unsupported")


def _integers(values: Array, rounded: int, dtype: np.dtype[Any]) -> Array:
    if rounded:
        raise UnsupportedError(
            f"mmread: {rounded} integers are not exact in float64, in which the library reads; "
            "dtype='float64' takes them rounded",
            "unsupported",
        )
    if values.size > 0 and dtype.itemsize < 8:
        limits = np.iinfo(dtype)
        if values.min() < limits.min or values.max() > limits.max:
            raise Error(f"mmread: an integer that {dtype} does not hold")
    return values.astype(dtype)


def mmread(
    source: Source, *, spmatrix: bool = False, dtype: npt.DTypeLike | None = None, device: str = "cpu"
) -> Any:
    """Read a Matrix Market file, in parallel, as `scipy.io.mmread` does.

    Parameters
    ----------
    source : str, path or file
        Plain, gzip or (by a name ending in ``.bz2``) bzip2; or an open file, binary or text.
    spmatrix : bool, optional
        ``coo_matrix`` instead of ``coo_array``.
    dtype : dtype, optional
        float32, float64, complex64 or complex128; of integer files the integers, too. By default what the file's field
        is: float64 (patterns, too, whose entries are 1), int64 or complex128.
    device : {'auto', 'cpu'}, optional

    Returns
    -------
    coo_array, coo_matrix or ndarray, shape (rows, cols)
        Dense where the file is an array. Symmetric halves are expanded, the mirrored entries last; duplicates are kept.
        Indices are int32, or int64 where the shape needs it.

    Raises
    ------
    Error
        With ``.file``, ``.line`` and ``.column``, for what the format does not allow.
    FileError
        Also an ``OSError``, for what cannot be read.
    NotImplementedError
        For a complex file into real numbers, and integers beyond 2^53 unless ``dtype`` is floating.

    Examples
    --------
    >>> from io import StringIO
    >>> import spargo
    >>> a = spargo.mmread(StringIO("%%MatrixMarket matrix coordinate real symmetric\\n2 2 2\\n1 1 4\\n2 1 -1\\n"))
    >>> a.toarray()
    array([[ 4., -1.],
           [-1.,  0.]])
    """
    on_host(device, "mmread")
    name, exact = _asked(dtype)
    with readable(source) as path:
        header, (rows, cols, row, col, values), rounded = _core.mm_read(path, name, threads())
    if exact is None and dtype is None and header[4] == "integer":
        exact = np.dtype(np.int64)
    if exact is not None:
        if header[4] not in ("integer", "pattern"):
            raise UnsupportedError(f"mmread: a {header[4]} file into {exact}", "unsupported")
        values = _integers(values, rounded, exact)
    if header[3] == "array":
        dense = np.zeros((rows, cols), dtype=values.dtype)
        dense[row, col] = values
        return dense
    return assembled("coo", (rows, cols), row, col, values, "matrix" if spmatrix else "array")


def _symmetry_of(a: Any) -> str:
    """The narrowest symmetry that a matrix of SciPy has by its values."""
    if a.shape[0] != a.shape[1]:
        return "general"
    a = a.tocsr()
    turned = a.T.tocsr()
    if (a != turned).nnz == 0:
        return "symmetric"
    if (a != -turned).nnz == 0:
        return "skew-symmetric"
    if a.dtype.kind == "c" and (a != turned.conj()).nnz == 0:
        return "hermitian"
    return "general"


def _with_field(values: Array, field: str | None, exact: bool = False) -> tuple[Array, bool]:
    """Values in one of the library's types, and whether they are written as integers; `exact`: which then stay such."""
    if field is None and values.dtype.kind in "biu":
        field = "integer"
    if field == "integer":
        whole = values.real.astype(np.int64) if values.dtype.kind in "fc" else values
        if exact:
            return whole.astype(np.uint64 if whole.dtype == np.uint64 else np.int64), True
        if whole.size and max(abs(int(whole.min())), abs(int(whole.max()))) > 2**53:
            raise UnsupportedError("mmwrite: integers beyond 2^53", "unsupported")
        return np.ascontiguousarray(whole, dtype=np.float64), True
    if field == "complex" and values.dtype.kind != "c":
        values = values.astype(np.complex64 if values.dtype == np.float32 else np.complex128)
    if field == "real" and values.dtype.kind == "c":
        values = values.real
    if field not in (None, "real", "complex"):
        raise Error(f"mmwrite: field is {field!r}, and may be 'real', 'complex', 'pattern' or 'integer'")
    if values.dtype not in VALUES:
        values = values.astype(np.complex128 if values.dtype.kind == "c" else np.float64)
    return np.ascontiguousarray(values), False


def _write_dense(path: str, a: Array, field: str | None, symmetry: str | None) -> None:
    from scipy import sparse

    if field == "pattern":
        raise Error("mmwrite: an array is no pattern")
    if a.ndim != 2:
        raise Error(f"mmwrite: two dimensions are expected, and this has {a.ndim}")
    if symmetry is None:
        symmetry = _symmetry_of(sparse.coo_array(a)) if max(a.shape) < 100 else "general"
    values, integers = _with_field(a.ravel(), field, exact=True)
    values = values.reshape(a.shape)
    if symmetry == "general" and not integers:
        _core.mm_write_array(path, values)
        return
    if a.shape[0] != a.shape[1] and symmetry != "general":
        raise Error(f"mmwrite: {a.shape[0]} x {a.shape[1]} is not {symmetry}")
    # What the library does not write: column by column, of a symmetry the lower triangle.
    kind = "integer" if integers else "complex" if values.dtype.kind == "c" else "real"
    first = {"general": -a.shape[0], "skew-symmetric": 1}.get(symmetry, 0)
    with open(path, "w") as out:
        out.write(f"%%MatrixMarket matrix array {kind} {symmetry}\n{a.shape[0]} {a.shape[1]}\n")
        for j in range(a.shape[1]):
            column = values[max(0, j + first) :, j].tolist()
            out.writelines(f"{v.real!r} {v.imag!r}\n" if kind == "complex" else f"{v!r}\n" for v in column)


def _write_sparse(path: str, a: Any, field: str | None, symmetry: str | None) -> None:
    a = a.tocoo()
    symmetry = _symmetry_of(a) if symmetry is None else symmetry
    row, col = same_indices(indices_of(a.row, "mmwrite"), indices_of(a.col, "mmwrite"))
    values = a.data
    if symmetry != "general":
        lower = row >= col if symmetry != "skew-symmetric" else row > col
        row, col, values = row[lower], col[lower], values[lower]
    rows, cols = a.shape
    if field == "pattern":
        _core.mm_write_pattern(path, rows, cols, row, col, symmetry)
        return
    values, integers = _with_field(values, field)
    _core.mm_write(path, rows, cols, row, col, values, symmetry, integers)


def mmwrite(
    target: Source,
    a: Any,
    comment: str = "",
    field: str | None = None,
    precision: int | None = None,
    symmetry: str | None = None,
) -> None:
    """Write a Matrix Market file, as `scipy.io.mmwrite` does.

    Parameters
    ----------
    target : str, path or file
        A name is used as it is; one that ends in ``.gz`` is compressed. Files are written whole or not at all.
    a : sparse matrix or array, `Matrix`, or array_like, shape (rows, cols)
        Sparse as coordinates, dense as an array.
    comment : str, optional
        Lines behind the banner.
    field : {'real', 'complex', 'pattern', 'integer'}, optional
        By default what the values are.
    precision : None
        Numbers are the shortest that read back to the same bits.
    symmetry : {'general', 'symmetric', 'skew-symmetric', 'hermitian'}, optional
        By default what the values have (which takes a transpose to find); of dense ones beyond 100 rows general.

    Raises
    ------
    Error
        For a field or symmetry that such a matrix cannot have.
    FileError
        Also an ``OSError``, for what cannot be written.
    NotImplementedError
        For a precision, and for a sparse matrix with integers beyond 2^53.

    Examples
    --------
    >>> from io import StringIO
    >>> import spargo
    >>> from scipy.sparse import coo_array
    >>> text = StringIO()
    >>> spargo.mmwrite(text, coo_array(([1.5, 2.0], ([0, 1], [2, 0])), shape=(2, 3)))
    >>> print(text.getvalue(), end="")
    %%MatrixMarket matrix coordinate real general
    2 3 2
    1 3 1.5
    2 1 2
    """
    from scipy.sparse import issparse

    from ._matrix import Matrix

    if precision is not None:
        raise UnsupportedError("mmwrite: a precision; numbers are written so that they read back exactly", "unsupported")
    if isinstance(a, Matrix):
        a = a.to_scipy()
    if isinstance(target, (str, os.PathLike)) and not comment:
        return _write(path_of(target), a, field, symmetry, issparse(a))
    fd = os.memfd_create("spargo")
    try:
        _write(f"/proc/self/fd/{fd}", a, field, symmetry, issparse(a))
        os.lseek(fd, 0, os.SEEK_SET)
        with open(fd, "rb", closefd=False) as written:
            if isinstance(target, (str, os.PathLike)):
                path = path_of(target)
                with gzip.open(path, "wb") if path.endswith(".gz") else open(path, "wb") as out:
                    _copy(written, out, comment)
            else:
                _copy(written, target, comment)
    finally:
        os.close(fd)


def _write(path: str, a: Any, field: str | None, symmetry: str | None, sparse: bool) -> None:
    if sparse:
        _write_sparse(path, a, field, symmetry)
    else:
        _write_dense(path, np.asarray(a), field, symmetry)


def _copy(written: IO[bytes], out: Any, comment: str) -> None:
    lines = "".join(f"%{line}\n" for line in comment.split("\n")) if comment else ""
    chunk = written.readline() + lines.encode()
    text = hasattr(out, "encoding")
    while chunk:
        out.write(chunk.decode() if text else chunk)
        chunk = written.read(1 << 20)


# --- Edge lists, snapshots, generated data ----------------------------------------------------------------------------


class EdgeList(NamedTuple):
    """What `read_edgelist` returns.

    Attributes
    ----------
    sources, targets : ndarray of int32 or int64, shape (edges,)
        In the order of the file; loops and duplicates are kept.
    weights : ndarray of float64, shape (edges,), or None
    ids : ndarray of int64 or of str, shape (vertices,)
        ``ids[v]`` is what the file calls vertex v; integers ascend, names come in the order in which they first occur.
    """

    sources: Array
    targets: Array
    weights: Array | None
    ids: Array


def columns_text(columns: str | Sequence[str | int] | None) -> str:
    """As the library takes them: names or numbers, joined by commas."""
    if columns is None:
        return ""
    return columns if isinstance(columns, str) else ",".join(map(str, columns))


def read_edgelist(
    path: Source,
    *,
    weights: str = "auto",
    ids: str = "renumber",
    columns: str | Sequence[str | int] | None = None,
    kind: str = "auto",
) -> EdgeList:
    """Read an edge list as SNAP, networkx and spreadsheets write it; `Graph.read` makes a graph of one.

    Parameters
    ----------
    path : str, path or file
        Plain, gzip or (by a name ending in ``.bz2``) bzip2; or an open file.
    weights : {'auto', 'ignore', 'require'}, optional
        A third column: taken where the file has one, left out, or a must.
    ids : {'renumber', 'keep'}, optional
        Whether ``sources`` and ``targets`` are numbers from 0 on, in the order of the ids, or the file's own ids.
    columns : str or sequence, optional
        The columns of source, target and perhaps weight, each by its name or its number from 1. By default as the
        header line says, else the first three.
    kind : {'auto', 'integers', 'names'}, optional
        What the file calls its vertices, as for `Graph.read`.

    Returns
    -------
    EdgeList

    Raises
    ------
    Error
        With ``.file``, ``.line`` and ``.column``, for a line that is no edge; or without weights that must be there.

    Examples
    --------
    >>> from io import StringIO
    >>> import spargo
    >>> edges = spargo.read_edgelist(StringIO("10 30\\n30 20\\n"))
    >>> edges.sources, edges.targets, edges.ids
    (array([0, 2], dtype=int32), array([2, 1], dtype=int32), array([10, 20, 30]))
    """
    if weights not in ("auto", "ignore", "require"):
        raise ValueError(f"weights is {weights!r}, and may be 'auto', 'ignore' or 'require'")
    if ids not in ("renumber", "keep"):
        raise ValueError(f"ids is {ids!r}, and may be 'renumber' or 'keep'")
    with readable(path) as name:
        _, sources, targets, values, names, _ = _core.read_edges(name, columns_text(columns), kind, threads())
        if values is None and weights == "require":
            raise Error(f"{name}: the edges have no weights", "invalid_data", name)
    if ids == "keep":
        sources, targets = names[sources], names[targets]
    return EdgeList(sources, targets, None if weights == "ignore" else values, names)


def save(path: str | os.PathLike[str], a: Matrix | Graph | Any) -> None:
    """Write a snapshot (``.spg``), which `load` maps into memory instead of reading it.

    Parameters
    ----------
    path : str or path
        Written whole or not at all.
    a : Matrix, Graph, or sparse matrix or array
        A graph's direction and its weights, which must be float32 or float64, are kept.

    Raises
    ------
    Error
        For a matrix that breaks the rules of its format.
    NotImplementedError
        For integer weights, and in a library that was built without xxHash.

    Examples
    --------
    >>> import os, tempfile, spargo
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     spargo.save(os.path.join(folder, "grid.spg"), spargo.generate("gen:laplacian2d:n=3"))
    ...     spargo.load(os.path.join(folder, "grid.spg"))
    <spargo.Matrix: 9 x 9, 33 entries, float64, csr, on the CPU>
    """
    from ._graph import Graph
    from ._matrix import Matrix

    if isinstance(a, Graph):
        if a.weights is not None and a.weights.dtype not in VALUES:
            raise UnsupportedError(f"save: weights of {a.weights.dtype}; float32 and float64 can be saved", "unsupported")
        arrays = (a.vertices, a.vertices, a.offsets, a.indices, a.weights, a.directed)
    else:
        matrix = a._on_host() if isinstance(a, Matrix) else Matrix(a, device="cpu")
        arrays = (*matrix.shape, *matrix._csr_arrays(), True)
    _core.save(path_of(path), *arrays, threads())


def load(path: str | os.PathLike[str]) -> Matrix | Graph:
    """Open a snapshot (``.spg``): mapped, checked in one pass, and without a copy.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    Matrix or Graph
        A graph where the snapshot has no values; `Graph.read` makes one of any snapshot. Its arrays are read-only.

    Raises
    ------
    Error
        For a damaged file.
    NotImplementedError
        In a library that was built without xxHash.
    """
    from ._graph import Graph
    from ._matrix import Matrix

    rows, cols, offsets, indices, values, _, directed = _core.load(path_of(path), threads())
    if values is None:
        return Graph._of(offsets, indices, None, directed)
    return Matrix._of("csr", (rows, cols), offsets, indices, values)


def generate(spec: str, *, dtype: npt.DTypeLike = np.float64) -> Any:
    """Synthetic matrices and graphs, the same on every machine and for any number of threads.

    Parameters
    ----------
    spec : str
        ``gen:NAME:key=value,...``: rmat (scale, degree, seed), uniform (rows, cols, degree, seed), grid2d and grid3d,
        laplacian2d and laplacian3d (n, m, k, points), banded, powerlaw, path, star, complete.
    dtype : {float32, float64, complex64, complex128}, optional

    Returns
    -------
    coo_array, shape (rows, cols)
        Duplicates are not summed.

    Raises
    ------
    Error
        For a spec that is none.

    Examples
    --------
    >>> import spargo
    >>> spargo.generate("gen:path:n=3").toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """
    rows, cols, row, col, values = _core.generate(spec, np.dtype(dtype).name, threads())
    return assembled("coo", (rows, cols), row, col, values)
