"""Results as tables: for pandas, and for any library with the Arrow PyCapsule interface."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from . import _core, _device
from ._arrays import Array
from ._errors import Error, UnsupportedError


class Column(NamedTuple):
    """Values of a table's column: an array, or a list of ids; `valid`: which are not null, None if all."""

    values: Any
    valid: Array | None = None


class Table:
    """Columns of one length, for other libraries. `Graph.table`, ``to_arrow`` of results and of graphs return it.

    Any library that reads Arrow's PyCapsule interface takes it, without a copy of numbers: ``polars.DataFrame(t)``,
    ``pyarrow.table(t)``, ``duckdb.sql("select ... from t")``.

    Attributes
    ----------
    columns : list of str
    """

    __slots__ = ("_columns", "_export", "_rows")

    def __init__(self, columns: Mapping[str, Column]) -> None:
        self._columns = dict(columns)
        self._rows = len(next(iter(self._columns.values())).values) if self._columns else 0
        self._export: Any = None

    @property
    def columns(self) -> list[str]:
        return list(self._columns)

    def __len__(self) -> int:
        return self._rows

    def __repr__(self) -> str:
        return f"<spargo.Table: {self._rows:,} rows of {', '.join(self._columns)}>"

    def to_pandas(self) -> Any:
        """The table as a ``pandas.DataFrame``, which must be installed; a column ``id`` is its index.

        Columns of integers with missing values are of pandas' nullable types.
        """
        pandas: Any = import_module("pandas")
        made: dict[str, Any] = {}
        for name, (values, valid) in self._columns.items():
            if valid is None:
                made[name] = values
            elif values.dtype.kind == "i":
                made[name] = pandas.arrays.IntegerArray(np.array(values), ~valid)
            else:
                made[name] = np.where(valid, values, np.nan if values.dtype.kind == "f" else None)
        index = made.pop("id", None)
        return pandas.DataFrame(made, index=None if index is None else pandas.Index(index, name="id"))

    def _exported(self) -> Any:
        if self._export is None:
            columns = [(name, *_buffers(column, self._rows)) for name, column in self._columns.items()]
            self._export = _core.ArrowExport(self._rows, columns)
        return self._export

    def __arrow_c_schema__(self) -> Any:
        return self._exported().schema()

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        return self._exported().array()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._exported().stream()


_FORMATS = {
    "bool": "b", "int8": "c", "uint8": "C", "int16": "s", "uint16": "S", "int32": "i", "uint32": "I", "int64": "l",
    "uint64": "L", "float16": "e", "float32": "f", "float64": "g",
}  # fmt: skip


def _buffers(column: Column, rows: int) -> tuple[str, int, list[Array | None]]:
    """(format, nulls, buffers) as the Arrow C data interface has them."""
    values, valid = column
    bits = None if valid is None else np.packbits(valid, bitorder="little")
    nulls = 0 if valid is None else int(rows - np.count_nonzero(valid))
    if isinstance(values, np.ndarray) and values.dtype != object:
        format = _FORMATS[values.dtype.name]
        held = np.packbits(values, bitorder="little") if format == "b" else np.ascontiguousarray(values)
        return format, nulls, [bits, held if held.size > 0 else np.zeros(1, held.dtype)]
    texts = [_text(value) for value in values]
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text) for text in texts], out=offsets[1:])
    return "U", nulls, [bits, offsets, np.frombuffer(b"".join(texts) or b"\0", np.uint8)]


def _text(value: Any) -> bytes:
    """UTF-8; bytes of names that are none are written ``\\xNN``, and ids of other types as `str` has them."""
    if value is None:
        return b""
    text = value if isinstance(value, str) else str(value)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace").encode()


# --- Columns by vertex

class Ids:
    """The ids of a graph's vertices, for results."""

    __slots__ = ("_nodes", "_vertices")

    def __init__(self, nodes: Sequence[Hashable] | Array | None, vertices: int) -> None:
        self._nodes = nodes
        self._vertices = vertices

    def all(self) -> Any:
        """An array: of int64 if all ids are integers."""
        if self._nodes is None:
            return np.arange(self._vertices)
        if isinstance(self._nodes, np.ndarray):
            return self._nodes
        if all(type(id) is int and -(2**63) <= id < 2**63 for id in self._nodes):
            return np.array(self._nodes, np.int64)
        ids = np.empty(len(self._nodes), object)
        ids[:] = list(self._nodes)
        return ids

    def of(self, vertices: Array) -> Column:
        """The ids of vertices; null for -1."""
        valid = vertices >= 0
        if self._nodes is None:
            return Column(vertices, None if valid.all() else valid)
        values: Any = self.all()[np.where(valid, vertices, 0)] if self._vertices > 0 else np.zeros(0, np.int64)
        if valid.all():
            return Column(values)
        if values.dtype == object:
            values[~valid] = None
        return Column(values, valid)


def reached(values: Array) -> Column:
    """Levels or distances; null where unreached."""
    if values.dtype.kind == "f":
        valid = values < np.inf
    else:
        valid = values >= 0 if values.dtype == np.int32 else values < np.iinfo(values.dtype).max
    return Column(values, None if valid.all() else valid)


def on_host(values: Any) -> Array:
    return np.asarray(_device.downloaded(values) if _device.kind_of(values) is not None else values)


def by_vertex(ids: Ids, columns: Mapping[str, Any]) -> Table:
    known = ids.all()
    made = {"id": Column(known)}
    for name, given in columns.items():
        values = on_host(given)
        if values.ndim != 1 or values.size != known.size:
            raise Error(f"Graph.table: {name} has shape {values.shape} for {known.size} vertices")
        if values.dtype.name not in _FORMATS:
            raise UnsupportedError(f"Graph.table: {name} has values of {values.dtype} (expected numbers)", "unsupported")
        if name in made:
            raise Error(f"Graph.table: a column {name!r}, which holds the ids (expected another name)")
        made[name] = Column(values)
    return Table(made)
