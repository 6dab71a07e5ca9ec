"""Files and generated data."""

from __future__ import annotations

import bz2
import gzip
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any, NamedTuple, Union

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import VALUES, Array, dense, indices_of, is_graph, same_indices
from ._config import on_host, threads
from ._errors import Error, FileError, UnsupportedError, warn
from ._scipy import assembled

Source = Union[str, "os.PathLike[str]", IO[Any]]


def path_of(source: str | os.PathLike[str]) -> str:
    path = os.fsdecode(os.fspath(source))
    if "\0" in path:
        raise Error(f"{path!r}: a file's name has no NUL")
    try:
        path.encode()
    except UnicodeEncodeError:
        raise UnsupportedError(f"{path!r}: a file's name that is not UTF-8", "unsupported") from None
    return path


def _name_again(e: Error, path: str, name: str) -> None:
    """Replace a temporary path in an error by the name that the caller knows."""
    e.file = name
    e.args = (e.args[0].replace(path, name), *e.args[1:])
    if isinstance(e, FileError):
        e.filename = name


@contextmanager
def readable(source: Source) -> Iterator[str]:
    """A name under which the library can open `source`: its path, or that of memory with its content."""
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
        except Error as e:
            given: object = getattr(source, "name", None)
            _name_again(e, path, given if isinstance(given, str) else f"<{type(source).__name__}>")
            raise
    finally:
        os.close(fd)


# --- Matrix Market ----------------------------------------------------------------------------------------------------


def mminfo(source: Source) -> tuple[int, int, int, str, str, str]:
    """Read the header of a Matrix Market file, like `scipy.io.mminfo`.

    Parameters
    ----------
    source : str, path or file
        Plain, gzip or (by a name ending in ``.bz2``) bzip2; or an open file, binary or text.

    Returns
    -------
    rows, cols, entries : int
        Number of entries that the file declares; for an array all elements.
    format : {'coordinate', 'array'}
    field : {'real', 'integer', 'complex', 'pattern'}
    symmetry : {'general', 'symmetric', 'skew-symmetric', 'hermitian'}

    Raises
    ------
    Error
        With ``.file``, ``.line`` and ``.column``, if it is not a Matrix Market file.

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
    """The type that the library reads into, and the type to convert to afterwards."""
    if dtype is None:
        return "", None
    wanted = np.dtype(dtype)
    if wanted in VALUES:
        return wanted.name, None
    if wanted.kind in "iu":
        return "float64", wanted
    raise UnsupportedError(f"mmread: the library does not read into {wanted}", "unsupported")


def _integers_again(path: str, row: Array, col: Array, symmetry: str) -> Array:
    """Read a file's integers exactly, one by one: int64, or uint64 if one exceeds 2^63 - 1."""
    if not os.path.isfile(path):
        raise UnsupportedError(
            "mmread: integers beyond 2^53 in a stream, which cannot be read twice; dtype='float64' rounds them", "unsupported"
        )
    with open(path, "rb") as start:
        opened: Any = gzip.open if start.read(2) == b"\x1f\x8b" else open
    with opened(path, "rt", encoding="latin-1") as text:
        lines = (line for line in text if line.strip() and not line.lstrip().startswith("%"))
        next(lines)  # the sizes
        stored = [int(line.split()[-1]) for line in lines]
    values = np.array(stored, dtype=np.uint64 if max(stored) > np.iinfo(np.int64).max else np.int64)
    if symmetry == "general":
        return values
    mirrored = values[row[: values.size] != col[: values.size]]
    return np.concatenate((values, -mirrored if symmetry == "skew-symmetric" else mirrored))


def _as_integers(values: Array, dtype: np.dtype[Any]) -> Array:
    limits = np.iinfo(dtype)
    if values.size > 0 and not (limits.min <= int(values.min()) and int(values.max()) <= limits.max):
        raise Error(f"mmread: an integer that {dtype} does not hold")
    return values.astype(dtype)


def mmread(
    source: Source, *, spmatrix: bool = False, dtype: npt.DTypeLike | None = None, device: str = "cpu"
) -> Any:
    """Read a Matrix Market file in parallel, like `scipy.io.mmread`.

    Parameters
    ----------
    source : str, path or file
        Plain, gzip or (by a name ending in ``.bz2``) bzip2; or an open file, binary or text.
    spmatrix : bool, optional
        ``coo_matrix`` instead of ``coo_array``.
    dtype : dtype, optional
        float32, float64, complex64 or complex128; for integer files also integers. By default the file's field
        decides: float64 (for a pattern all 1), int64 or complex128.
    device : {'auto', 'cpu'}, optional

    Returns
    -------
    coo_array, coo_matrix or ndarray, shape (rows, cols)
        Dense if the file is an array. Symmetric halves are expanded, mirrored entries last; duplicates are kept.
        Indices are int32, or int64 if the shape needs it.

    Raises
    ------
    Error
        With ``.file``, ``.line`` and ``.column``, for a malformed file.
    FileError
        Also an ``OSError``, for a file that cannot be read.
    NotImplementedError
        For a complex file with a real `dtype`, and for integers beyond 2^53 from a pipe unless `dtype` is floating.

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
        integers = header[4] in ("integer", "unsigned-integer")
        if exact is None and dtype is None and integers:
            exact = np.dtype(np.int64 if header[4] == "integer" else np.uint64)
        if exact is not None:
            if not integers and header[4] != "pattern":
                raise UnsupportedError(f"mmread: a {header[4]} file into {exact}", "unsupported")
            values = _as_integers(_integers_again(path, row, col, header[5]) if rounded else values, exact)
    if header[3] == "array":
        dense = np.zeros((rows, cols), dtype=values.dtype)
        dense[row, col] = values
        return dense
    return assembled("coo", (rows, cols), row, col, values, "matrix" if spmatrix else "array")


def _symmetry_of(a: Any, field: str | None = None) -> str:
    """The symmetry of a SciPy matrix, from its stored entries; a pattern has no signs."""
    if a.shape[0] != a.shape[1]:
        return "general"
    if a.dtype.kind in "biu" and a.dtype.itemsize < 8:  # sums and negatives of small types wrap
        a = a.astype(np.int64)
    a = a.tocsr()
    turned = a.T.tocsr()
    a.sort_indices()
    turned.sort_indices()
    if not (np.array_equal(a.indptr, turned.indptr) and np.array_equal(a.indices, turned.indices)):
        return "general"
    ours, theirs = a.data, turned.data
    if np.array_equal(ours, theirs):
        return "symmetric"
    if field == "pattern" or ours.dtype.kind == "u" or (ours.dtype.kind == "i" and np.any(ours == np.iinfo(ours.dtype).min)):
        return "general"
    if np.array_equal(ours, -theirs):
        return "skew-symmetric"
    return "hermitian" if ours.dtype.kind == "c" and np.array_equal(ours, theirs.conj()) else "general"


def _with_field(values: Array, field: str | None) -> Array:
    """Values in a type that the library writes: int64 or uint64 for integers, otherwise real or complex."""
    if field not in (None, "real", "complex", "integer"):
        raise Error(f"mmwrite: field is {field!r}, and may be 'real', 'complex', 'pattern' or 'integer'")
    if values.dtype.kind not in "biufc":
        raise UnsupportedError(f"mmwrite: values of {values.dtype}", "unsupported")
    if field == "integer" or (field is None and values.dtype.kind in "biu"):
        if values.dtype.kind in "fc":
            values = values.real
            if not np.all(np.abs(values) < 2.0**63):
                raise Error("mmwrite: a value beyond 64-bit integers")
        return np.ascontiguousarray(values, dtype=np.uint64 if values.dtype.kind == "u" and values.itemsize >= 4 else np.int64)
    if field == "complex" and values.dtype.kind != "c":
        values = values.astype(np.complex64 if values.dtype == np.float32 else np.complex128)
    if field == "real" and values.dtype.kind == "c":
        values = values.real
    if values.dtype not in VALUES:
        values = values.astype(np.complex128 if values.dtype.kind == "c" else np.float64)
    return np.ascontiguousarray(values)


def _write_dense(path: str, a: Array, field: str | None, symmetry: str | None, comment: str) -> None:
    from scipy import sparse

    if field == "pattern":
        raise Error("mmwrite: a dense array cannot be written as a pattern")
    if a.ndim == 1:
        a = a[:, np.newaxis]
    if a.ndim != 2:
        raise Error(f"mmwrite: one or two dimensions are expected, and this has {a.ndim}")
    values = _with_field(a, field)
    if symmetry is None:
        symmetry = _symmetry_of(sparse.coo_array(values)) if max(a.shape) < 100 else "general"
    _core.mm_write_array(path, values, symmetry, comment)


def _write_sparse(path: str, a: Any, field: str | None, symmetry: str | None, comment: str) -> None:
    a = a.tocoo()
    if len(a.shape) == 1:
        a = a.reshape((-1, 1))
    symmetry = _symmetry_of(a, field) if symmetry is None else symmetry
    row, col = same_indices(indices_of(a.row, "mmwrite"), indices_of(a.col, "mmwrite"))
    values = a.data
    if symmetry != "general":
        lower = row >= col if symmetry != "skew-symmetric" else row > col
        row, col, values = row[lower], col[lower], values[lower]
    rows, cols = a.shape
    if field == "pattern":
        _core.mm_write_pattern(path, rows, cols, row, col, symmetry, comment)
    else:
        _core.mm_write(path, rows, cols, row, col, _with_field(values, field), symmetry, comment)


def _adjacency(graph: Any, field: str | None, symmetry: str | None) -> tuple[Any, str | None, str | None]:
    """A graph's adjacency matrix, with the default field and symmetry."""
    from ._graph import Graph

    graph = Graph(graph)
    a = graph.to_scipy()
    if graph.is_multigraph():
        a = (a if graph.weights is not None else a.astype(np.int64)).tocoo().tocsr()  # sums parallel edges
    elif graph.weights is None:
        field = field or "pattern"
    return a, field, symmetry or ("general" if graph.directed else None)


def mmwrite(
    target: Source,
    a: Any,
    comment: str = "",
    field: str | None = None,
    precision: int | None = None,
    symmetry: str | None = None,
) -> None:
    """Write a Matrix Market file, like `scipy.io.mmwrite`.

    Parameters
    ----------
    target : str, path or file
        The file's name, without an added suffix; ``.gz`` and ``.bz2`` compress. Files appear complete or not at all.
    a : sparse matrix or array, `Matrix`, graph, or array_like, shape (rows, cols) or (rows,)
        Sparse matrices are written as coordinates, dense ones as an array, vectors as one column. Integers and booleans
        have the field ``integer``, uint32 and uint64 SciPy's ``unsigned-integer``. A `Graph` or networkx graph is
        written as its adjacency matrix: a pattern if it has no weights, general if it is directed. Ids are lost: row i
        is vertex i.
    comment : str, optional
        Comment lines after the banner.
    field : {'real', 'complex', 'pattern', 'integer'}, optional
        By default as the values' type.
    precision : None
        Numbers are always the shortest that read back to the same bits.
    symmetry : {'general', 'symmetric', 'skew-symmetric', 'hermitian'}, optional
        By default the matrix's own, which takes a transpose to find; general for dense arrays beyond 100 rows.

    Raises
    ------
    Error
        For a field or symmetry that does not fit the matrix.
    FileError
        Also an ``OSError``, for a file that cannot be written.
    NotImplementedError
        For a precision, and for values that are not numbers, such as Python integers beyond 64 bits.

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
    from ._matrix import Matrix

    if precision is not None:
        raise UnsupportedError("mmwrite: precision is not supported; numbers are written so that they read back exactly", "unsupported")
    if isinstance(a, Matrix):
        a = a.to_scipy()
    elif is_graph(a):
        a, field, symmetry = _adjacency(a, field, symmetry)
    path = path_of(target) if isinstance(target, (str, os.PathLike)) else None
    if path is not None and not path.endswith(".bz2"):
        return _write(path, a, field, symmetry, comment)
    fd = os.memfd_create("spargo")
    try:
        try:
            _write(f"/proc/self/fd/{fd}", a, field, symmetry, comment)
        except FileError as e:
            _name_again(e, f"/proc/self/fd/{fd}", path or f"<{type(target).__name__}>")
            raise
        os.lseek(fd, 0, os.SEEK_SET)
        with open(fd, "rb", closefd=False) as written:
            if path is not None:
                _core.write_file(path, bz2.compress(written.read()))
                return
            text = hasattr(target, "encoding")
            while chunk := written.read(1 << 20):
                target.write(chunk.decode() if text else chunk)  # type: ignore[union-attr]
    finally:
        os.close(fd)


def _write(path: str, a: Any, field: str | None, symmetry: str | None, comment: str) -> None:
    from scipy.sparse import issparse

    if issparse(a):
        _write_sparse(path, a, field, symmetry, comment)
    else:
        _write_dense(path, dense(a, "mmwrite"), field, symmetry, comment)


# --- Edge lists, generated data ----------------------------------------------------------------------------


class EdgeList(NamedTuple):
    """Result of `read_edgelist`.

    Attributes
    ----------
    sources, targets : ndarray of int32 or int64, shape (edges,)
        In file order; loops and duplicates are kept.
    weights : ndarray of float64, shape (edges,), or None
    ids : ndarray of int64 or of str, shape (vertices,)
        ``ids[v]`` is the id of vertex v in the file; integers ascend, names are in order of first occurrence.
    """

    sources: Array
    targets: Array
    weights: Array | None
    ids: Array


def columns_text(columns: str | Sequence[str | int] | None) -> str:
    """Column names or numbers, joined by commas."""
    if columns is None:
        return ""
    return columns if isinstance(columns, str) else ",".join(map(str, columns))


def warn_of_input(source: Source, rounded: int, doubts: _core.Doubts | None, weights: bool) -> None:
    """Warn of doubts about a file. `weights`: whether its weights are used."""
    name = source if isinstance(source, (str, os.PathLike)) else getattr(source, "name", "a file")
    possible, columns, kinds, matrix, (padded, line) = doubts or ([], [], [], 0, ("", 0))
    if possible:
        given = _columns_argument([(text, k + 1) for k, text in enumerate(possible)])
        warn(
            f"{name}: the first line, {', '.join(map(repr, possible))}, is read as an edge ({given} if it names the columns, "
            "columns='1,2' if it does not)"
        )
    if matrix:
        warn(
            f"{name}: {matrix} lines of {matrix} numbers are read as weighted edges, and may be an adjacency matrix "
            "(columns='1,2,3' if they are edges)"
        )
    if kinds:
        same = _columns_argument(kinds)
        apart = same[:9] + "bip:" + same[9:]  # after the quote
        warn(f"{name}: {two_kinds(kinds[0][0], kinds[1][0])} ({same} if they are of one kind, {apart} keeps integers apart)")
    if padded:
        warn(
            f"{name}: line {line}: vertex id {padded} is read as {int(padded)}, and both are one vertex "
            "(read as names, ids stay as they are written)"
        )
    if weights and columns:
        warn(f"{name}: {_unused_weights(columns)}")
    if weights and rounded > 0:
        integers = "weight is an integer" if rounded == 1 else "weights are integers"
        warn(f"{name}: {rounded:,} {integers} that float64 cannot represent, rounded to nearest")


def two_kinds(source: str, target: str) -> str:
    """The sentence about columns whose names are of different things."""
    return f"{source!r} and {target!r} may number different things, but equal ids are one vertex"


def _unused_weights(columns: list[tuple[str, int]]) -> str:
    """`columns`: source, target and the unused ones."""
    source, target, first, *rest = columns
    shown = ", ".join(repr(text) for text, _ in (first, *rest))
    return (
        f"column{'s' if rest else ''} of numbers not used as weights: {shown} ("
        f"{_columns_argument([source, target, first])} uses {first[0]!r}, {_columns_argument([source, target])} none)"
    )


def _columns_argument(columns: Sequence[tuple[str, int]]) -> str:
    """By name, by number where a name has a comma."""
    return f"columns={','.join(str(k) if ',' in text else text for text, k in columns)!r}"


def read_edgelist(
    path: Source,
    *,
    weights: str = "auto",
    ids: str = "renumber",
    columns: str | Sequence[str | int] | None = None,
    kind: str = "auto",
) -> EdgeList:
    """Read an edge list, as SNAP, networkx and spreadsheets write them. `Graph.read` builds a graph.

    Parameters
    ----------
    path : str, path or file
        Plain, gzip or (by a name ending in ``.bz2``) bzip2; or an open file.
    weights : {'auto', 'ignore', 'require'}, optional
        The weight column: used if there is one, ignored, or required.
    ids : {'renumber', 'keep'}, optional
        Return ``sources`` and ``targets`` as vertex numbers, from 0 in the order of the ids, or as the file's ids.
    columns : str or sequence, optional
        The columns of source, target and, optionally, weight, each by its name or its number from 1. By default the
        header line decides, or the first three. ``"bip:user_id,item_id"``: equal ids in the two columns are different
        vertices; those on the right follow those on the left.
    kind : {'auto', 'integers', 'names'}, optional
        Kind of vertex ids, as for `Graph.read`.

    Returns
    -------
    EdgeList

    Raises
    ------
    Error
        With ``.file``, ``.line`` and ``.column``, for a malformed line; for a file without required weights.

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
        try:
            found = _core.read_edges(name, columns_text(columns), kind, threads())
        except Error as e:
            e.args = (e.args[0].replace("; ids='names' takes", "; kind='names' takes"), *e.args[1:])
            raise
        _, sources, targets, values, names, _, rounded, doubts = found
        if values is None and weights == "require":
            unused = f"; {_unused_weights(doubts[1])}" if doubts[1] else ""
            raise Error(f"{name}: the edges have no weights{unused}", "invalid_data", name)
    if ids == "keep":
        sources, targets = names[sources], names[targets]
    warn_of_input(path, rounded, doubts, weights != "ignore")
    return EdgeList(sources, targets, None if weights == "ignore" else values, names)


def generate(spec: str, *, dtype: npt.DTypeLike = np.float64) -> Any:
    """Generate a matrix or graph, the same on every machine and for any number of threads.

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
        For an invalid `spec`.

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
