"""Edges in data frames: pandas', or of any library with the Arrow PyCapsule interface."""

from __future__ import annotations

import uuid
from collections.abc import Hashable, Sequence
from importlib import import_module
from typing import Any, NamedTuple, Union

import numpy as np

from . import _core
from ._arrays import Array, indices_of, same_indices
from ._config import threads
from ._errors import Error, UnsupportedError, warn
from ._io import two_kinds

Ids = Union[Array, "list[Hashable]"]  # of vertices, by vertex

_INTEGERS = dict(c="int8", C="uint8", s="int16", S="uint16", i="int32", I="uint32", l="int64", L="uint64")
_REALS = dict(e="float16", f="float32", g="float64")
_TEXTS = dict(u="string", U="large string", vu="string view")
_OTHERS = {
    "n": "null", "b": "boolean", "z": "binary", "Z": "large binary", "vz": "binary view", "w": "fixed-size binary",
    "d": "decimal", "td": "date", "tt": "time", "ts": "timestamp", "tD": "duration", "ti": "interval", "+l": "list",
    "+L": "large list", "+w": "fixed-size list", "+s": "struct", "+m": "map", "+r": "run-end encoded",
}  # fmt: skip
_UUID = "arrow.uuid"


class Edges(NamedTuple):
    """What a table has: the ends of each edge as vertices, ids of the vertices or None, and its direction if it says one."""

    sources: Array
    targets: Array
    weights: Array | None
    ids: Ids | None
    directed: bool | None


class _ArrowTable:
    """The columns of a table with the Arrow PyCapsule interface."""

    def __init__(self, table: Any, what: str) -> None:
        self._table = _core.ArrowTable(table, what)
        self._fields = self._table.columns()
        self._what = what
        self.names: list[Any] = [name for name, *_ in self._fields]
        self._places: dict[int, int] = {}

    def read(self, columns: list[int]) -> None:
        distinct = sorted(set(columns))
        self._places = {column: k for k, column in enumerate(distinct)}
        self._table.read(distinct)

    def kind(self, column: int) -> str:
        """'integer', 'real', 'text', 'uuid', or a type's name that is none of these."""
        _, format, values, extension = self._fields[column]
        values = values or format  # of a dictionary its values
        if extension == _UUID and values == "w:16":
            return "uuid"
        for kind, known in (("integer", _INTEGERS), ("real", _REALS), ("text", _TEXTS)):
            if values in known:
                return f"dictionary of {known[values]}" if kind == "real" and values is not format else kind
        return next((_OTHERS[start] for start in (values[:2], values[:1]) if start in _OTHERS), f"format '{values}'")

    def numbers(self, column: int) -> Array:
        parts = self._table.numbers(self._places[column])
        if not parts:
            format = self._fields[column][1]
            return np.empty(0, _INTEGERS.get(format) or _REALS.get(format) or "int64")
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def named(self, columns: Sequence[int], kind: str) -> tuple[list[Array], Ids]:
        """The rows of each column as numbers of names, and the names."""
        numbers, names = self._table.names([self._places[k] for k in columns], kind == "uuid", threads())
        return numbers, [uuid.UUID(bytes=name) for name in names] if kind == "uuid" else names


class _PandasTable:
    """The columns of a pandas data frame, which needs no pyarrow."""

    def __init__(self, table: Any, what: str) -> None:
        self._table = table
        self._what = what
        self.names: list[Any] = list(table.columns)

    def read(self, columns: list[int]) -> None:
        for column in set(columns):
            values = self._column(column)
            if isinstance(values.dtype, np.dtype) and values.dtype.kind == "f":
                continue  # NaN is a weight
            missing = np.flatnonzero(values.isna())
            if missing.size > 0:
                name = self.names[column]
                raise Error(
                    f"{self._what}: column {str(name)!r} is null in row {missing[0]} (expected a value)", "invalid_data"
                )

    def _column(self, column: int) -> Any:
        return self._table.iloc[:, column]

    def kind(self, column: int) -> str:
        dtype = self._column(column).dtype
        values = dtype.categories.dtype if hasattr(dtype, "categories") else dtype
        kind = getattr(values, "kind", "O")
        if kind in "iu":
            return "integer"
        if kind == "f":
            return "real"
        return "object" if kind in "OU" or str(values).startswith("str") else str(values)

    def numbers(self, column: int) -> Array:
        values = self._column(column)
        dtype = values.dtype
        if isinstance(dtype, np.dtype):
            return np.asarray(values.to_numpy())
        kind = self.kind(column)
        plain = getattr(dtype, "numpy_dtype", None)
        if kind == "real":
            return np.asarray(values.to_numpy(dtype=plain if isinstance(plain, np.dtype) else "float64", na_value=np.nan))
        wanted = plain if isinstance(plain, np.dtype) and plain.kind in "iu" else "int64"
        return np.asarray(values.to_numpy(dtype=wanted))

    def named(self, columns: Sequence[int], kind: str) -> tuple[list[Array], Ids]:
        try:  # pyarrow's strings take a tenth of the time
            texts = _ArrowTable(self._table.iloc[:, list(columns)], self._what)
            if all(texts.kind(k) == "text" for k in range(len(columns))):
                texts.read(list(range(len(columns))))
                return texts.named(range(len(columns)), "text")
        except (ImportError, NotImplementedError, TypeError, ValueError):
            pass  # no pyarrow, or objects that it does not take
        names = np.empty((len(self._table), len(columns)), object)
        for k, column in enumerate(columns):
            names[:, k] = self._column(column).astype(object).to_numpy()
        try:
            numbers, ids = import_module("pandas").factorize(names.ravel())
        except TypeError as e:
            raise Error(f"{self._what}: {e} (expected ids that can be keys of a dict)", "invalid_data") from None
        found = numbers.reshape(names.shape).astype(np.int32 if len(ids) < 2**31 else np.int64)
        return [np.ascontiguousarray(found[:, k]) for k in range(len(columns))], ids


_IDS = ("integer", "real", "text", "uuid", "object")


def is_pandas(table: Any) -> bool:
    return type(table).__module__.partition(".")[0] == "pandas" and hasattr(table, "columns")


def is_polars(table: Any) -> bool:
    return type(table).__module__.partition(".")[0] == "polars"


def is_table(table: Any) -> bool:
    return is_pandas(table) or any(hasattr(table, f"__arrow_c_{way}__") for way in ("stream", "array"))


def edges_of(
    table: Any,
    what: str,
    source: Hashable,
    target: Hashable,
    weight: Hashable,
    weights: bool,
    by_number: bool,
) -> Edges:
    """The edges of a table. `by_number`: integers are vertices, not ids."""
    if not is_table(table):
        raise TypeError(
            f"{what}: a table is expected (a data frame of pandas or polars, or an object with __arrow_c_stream__), and "
            f"this is a {type(table).__name__}{' (.collect() makes a table)' if is_polars(table) else ''}"
        )
    if source is None and is_pandas(table) and 0 < len(table) == len(table.columns) and list(table.index) == list(table.columns):
        raise Error(
            f"{what}: rows and columns of the same names may be an adjacency matrix (expected source= and target= if a row is "
            "an edge, else Graph.from_scipy(scipy.sparse.csr_array(table.values)))"
        )
    frame: Any = _PandasTable(table, what) if is_pandas(table) else _ArrowTable(table, what)
    first, second, third, direction = _chosen(frame, what, source, target, weight, weights)
    kinds = [_expected(frame, what, k, _IDS, "ids: integers, strings or UUIDs") for k in (first, second)]
    kinds = ["integer" if kind == "real" else kind for kind in kinds]  # whole ones, as nullable columns have them
    if third is not None:
        _expected(frame, what, third, ("integer", "real"), "numbers")
    if kinds[0] != kinds[1]:
        raise Error(
            f"{what}: column {str(frame.names[first])!r} has ids of {kinds[0]} and {str(frame.names[second])!r} of "
            f"{kinds[1]} (expected one kind)",
            "invalid_data",
        )
    read = [k for k in (first, second, third, direction) if k is not None]
    frame.read(read)
    values = None if third is None else frame.numbers(third)
    directed = None if direction is None else _direction(frame, what, direction)
    if kinds[0] != "integer":
        if by_number:
            raise Error(f"{what}: vertices are given, and the ids are {kinds[0]} (expected integers)")
        (sources, targets), names = frame.named((first, second), kinds[0])
        return Edges(sources, targets, values, names, directed)
    ends = [_checked(frame.numbers(k), what, frame.names[k]) for k in (first, second)]
    sources, targets, ids = (*same_indices(*ends), None) if by_number else _renumbered(*same_indices(*ends))
    return Edges(sources, targets, values, ids, directed)


def _chosen(
    frame: Any, what: str, source: Hashable, target: Hashable, weight: Hashable, weights: bool
) -> tuple[int, int, int | None, int | None]:
    """The columns of source, target, weight and direction (Gephi's `Type`); None: no such column."""
    third = None if weight is None or not weights else _column(frame, what, weight)
    names = [str(name) for name in frame.names]
    types = [k for k, name in enumerate(names) if name.lower() == "type" and frame.kind(k) in ("text", "object")]
    direction = types[0] if len(types) == 1 else None
    if source is not None and target is not None:
        first, second = _column(frame, what, source), _column(frame, what, target)
        if len({first, second, third}) < 3:
            raise Error(f"{what}: a column is given twice (expected different ones)")
        return first, second, third, direction if direction not in (first, second) else None
    if source is not None or target is not None:
        raise Error(f"{what}: source and target are given together, or neither")
    try:
        first, second, found, named, two = _core.find_edge_columns(names)
    except Error as e:
        raise Error(f"{what}: {e} (expected source=, target= and, for a weight, weight=)", "invalid_data") from None
    if two and {frame.kind(first), frame.kind(second)} <= {"integer", "real"}:
        ends = f"source={frame.names[first]!r}, target={frame.names[second]!r}"
        warn(f"{what}: {two_kinds(names[first], names[second])} ({ends} if they are of one kind, else different ids)")
    if third is not None or not weights:
        found = -1
    elif found < 0 and named:
        _warn_of_unused(frame, what, (first, second))
    if third in (first, second):
        raise Error(f"{what}: a column is given twice (expected different ones)")
    return first, second, found if found >= 0 else third, direction if direction not in (first, second) else None


def _column(frame: Any, what: str, wanted: Hashable) -> int:
    places = [k for k, name in enumerate(frame.names) if type(name) is type(wanted) and name == wanted or name is wanted]
    if len(places) != 1:
        many = "no column is" if not places else "several columns are"
        shown = ", ".join(map(repr, map(str, frame.names[:20]))) + (", ..." if len(frame.names) > 20 else "")
        raise Error(f"{what}: {many} called {wanted!r} (the table has {shown})")
    return places[0]


def _expected(frame: Any, what: str, column: int, kinds: tuple[str, ...], expected: str) -> str:
    found: str = frame.kind(column)
    if found not in kinds:
        shown = "text" if found == "object" else f"type {found}"
        raise UnsupportedError(f"{what}: column {str(frame.names[column])!r} is of {shown} (expected {expected})", "unsupported")
    return found


def _warn_of_unused(frame: Any, what: str, ends: tuple[int, int]) -> None:
    unused = [
        repr(str(name))
        for k, name in enumerate(frame.names)
        if k not in ends and str(name).lower() not in _NO_WEIGHTS and frame.kind(k) in ("integer", "real")
    ]
    if unused:
        warn(f"{what}: column{'s' * (len(unused) > 1)} of numbers not used as weights: {', '.join(unused)} (weight={unused[0]} uses it)")


_NO_WEIGHTS = ("id", "edge", "edgeid", "edge_id", "index", "time", "timestamp", "date", "type", "label", "name")


def _direction(frame: Any, what: str, column: int) -> bool | None:
    """What a column `Type` says, as in `read`: None if it is about something else."""
    _, names = frame.named((column,), frame.kind(column))
    said = {str(name).lower() for name in names}
    if not said or not said <= {"directed", "undirected"}:
        return None
    if len(said) > 1:
        raise Error(f"{what}: column {str(frame.names[column])!r} has directed and undirected edges (expected one kind)", "invalid_data")
    return said == {"directed"}


def _checked(ids: Array, what: str, name: Any) -> Array:
    if ids.dtype.kind == "f":
        exact = 2 ** min(np.finfo(ids.dtype).nmant + 1, 63)  # larger integers may be rounded ones, or not fit
        wrong = ~((np.floor(ids) == ids) & (np.abs(ids) < exact))  # also of NaN
        if wrong.any():
            row = int(np.argmax(wrong))
            limit = f"an integer; those in {ids.dtype} are exact below {exact:,}"
            shown, expected = ("null", "a value") if np.isnan(ids[row]) else (ids[row], limit)
            raise Error(f"{what}: column {str(name)!r} is {shown} in row {row} (expected {expected})", "invalid_data")
        ids = ids.astype(np.int64)
    if ids.dtype.kind == "u" and ids.dtype.itemsize == 8 and ids.size > 0 and ids.max() >= 2**63:
        row = int(np.argmax(ids >= 2**63))
        raise Error(f"{what}: column {str(name)!r} is {ids[row]} in row {row} (expected at most 2^63 - 1)", "invalid_data")
    ids = indices_of(ids, what)
    if ids.size > 0 and ids.min() < 0:
        row = int(np.argmax(ids < 0))
        raise Error(f"{what}: column {str(name)!r} is {ids[row]} in row {row} (expected an id of 0 or more)", "invalid_data")
    return ids


def _renumbered(sources: Array, targets: Array) -> tuple[Array, Array, Array | None]:
    """Vertices by ascending id, and the ids; the arrays themselves and None if all ids from 0 on occur."""
    if sources.size == 0:
        return sources, targets, None
    largest = max(int(sources.max()), int(targets.max()))
    if largest < 8 * sources.size + 1024:
        seen = np.zeros(largest + 1, bool)
        seen[sources] = True
        seen[targets] = True
        if seen.all():
            return sources, targets, None
        ids = np.flatnonzero(seen)
        numbers = (np.cumsum(seen) - 1).astype(sources.dtype)
        return numbers[sources], numbers[targets], ids
    found, ids = _core.number_ids(np.concatenate((sources, targets), dtype=np.int64), threads())
    found = found.astype(np.int32 if ids.size < 2**31 else np.int64, copy=False)
    return found[: sources.size], found[sources.size :], ids
