"""Arrays for the library: contiguous, of its types, in native byte order; copied only if necessary."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ._errors import Error, UnsupportedError

Array = npt.NDArray[Any]

VALUES = (np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.complex64), np.dtype(np.complex128))
INDICES = (np.dtype(np.int32), np.dtype(np.int64))
WEIGHTS = (*INDICES, np.dtype(np.float32), np.dtype(np.float64))


def whole(n: Any, what: str, least: int | None = None) -> int:
    """A 64-bit integer, also from an integral float."""
    number = _integer(n, what)
    if not -(2**63) <= number < 2**63:
        raise Error(f"{what} is {number} (expected an integer of 64 bits)")
    if least is not None and number < least:
        raise Error(f"{what} is {number} (expected {least} or more)")
    return number


def seed_number(n: Any, name: str) -> int:
    """The seed of what is called `name`: what the commands take for one."""
    number = _integer(n, f"{name}: seed")
    if not 0 <= number < 2**64:
        raise Error(f"{name}: seed is {number} (expected 0 to 2^64-1)")
    return number


def _integer(n: Any, what: str) -> int:
    try:
        number = int(n)
        is_whole = bool(number == n)
    except (OverflowError, TypeError, ValueError):
        is_whole = False
    if not is_whole:
        kind = Error if isinstance(n, (float, np.floating)) else TypeError
        raise kind(f"{what} is {n!r} (expected an integer)")
    return number


def is_graph(a: Any) -> bool:
    """Whether it is a `Graph` or a networkx graph."""
    return hasattr(a, "is_multigraph")


def dense(a: npt.ArrayLike, what: str) -> Array:
    """A NumPy array. Refuses masked entries and graphs, which NumPy would convert silently."""
    if not isinstance(a, np.ndarray) and is_graph(a):
        raise TypeError(f"{what}: an array is expected, and this is a graph")
    if isinstance(a, np.ma.MaskedArray) and np.ma.is_masked(a):
        raise Error(f"{what}: an array with masked entries (a.filled(0), for example, gives them a value)")
    return np.asarray(a)


def flat(a: npt.ArrayLike, what: str) -> Array:
    """A contiguous vector; copied only if necessary."""
    array = dense(a, what)
    if array.ndim != 1:
        raise Error(f"{what}: one dimension is expected, and this has {array.ndim}")
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return np.ascontiguousarray(array)


def values_of(a: npt.ArrayLike, what: str, dtype: npt.DTypeLike | None = None) -> Array:
    """Entries of a matrix in a type of the library, or in the wanted type."""
    array = flat(a, what)
    if dtype is not None:
        array = np.ascontiguousarray(array, dtype=dtype)
    if array.dtype not in VALUES:
        raise UnsupportedError(
            f"{what}: the library has float32, float64, complex64 and complex128, and this is {array.dtype}; "
            "dtype= converts",
            "unsupported",
        )
    return array


def indices_of(a: npt.ArrayLike, what: str) -> Array:
    """Indices as int32 or int64; other types are converted to int64 if that can represent them."""
    array = flat(a, what)
    if array.dtype in INDICES:
        return array
    if array.dtype == object and array.size > 0 and all(isinstance(n, (int, np.integer)) for n in array):
        far = next((n for n in array if not -(2**63) <= n < 2**63), None)
        if far is not None:
            raise Error(f"{what}: {far} is beyond 64 bits")
        return array.astype(np.int64)
    if array.dtype.kind not in "iu" and array.size > 0:
        raise Error(f"{what}: integers are expected, and this is {array.dtype}")
    if array.dtype == np.uint64 and array.size > 0 and int(array.max()) > np.iinfo(np.int64).max:
        raise Error(f"{what}: {array.max()} is beyond 2^63 - 1")
    return array.astype(np.int64)


def same_indices(first: Array, second: Array) -> tuple[Array, Array]:
    """Indices of a common type: int64 if one of them is."""
    if first.dtype != second.dtype:
        first, second = (np.ascontiguousarray(a, dtype=np.int64) for a in (first, second))
    return first, second


def csr_indices(offsets: Array, indices: Array) -> tuple[Array, Array]:
    """Offsets at least as wide as indices, which the library requires."""
    if offsets.dtype == np.int32 and indices.dtype == np.int64:
        offsets = offsets.astype(np.int64)
    return offsets, indices


def numbered(sources: Any, targets: Any) -> tuple[Any, Any, Array | None]:
    """Names replaced by numbers in order of first occurrence, and the names; anything else unchanged."""
    ends = [dense(e, "Graph.from_edges") for e in (sources, targets)]
    if not any(e.size > 0 and (e.dtype.kind in "UT" or isinstance(e.flat[0], str)) for e in ends):
        return sources, targets, None
    if ends[0].shape != ends[1].shape or ends[0].ndim != 1:
        raise Error(f"Graph.from_edges: names of shapes {ends[0].shape} and {ends[1].shape}")
    numbers: dict[str, int] = {}
    both = [number for pair in zip(*(e.tolist() for e in ends)) for number in pair]
    if not all(isinstance(name, str) for name in both):
        raise TypeError("Graph.from_edges: names and numbers mixed (expected only str, or only integers)")
    pairs = np.fromiter((numbers.setdefault(name, len(numbers)) for name in both), np.int64, len(both))
    nodes = np.empty(len(numbers), dtype=object)
    nodes[:] = list(numbers)
    return pairs[0::2], pairs[1::2], nodes


def weights_of(values: npt.ArrayLike) -> Array:
    """The weights, converted to a type of the library."""
    array = flat(values, "weights")
    if array.dtype in WEIGHTS:
        return array
    if array.dtype.kind in "biu" and array.dtype.itemsize < 8:
        return array.astype(np.int64)
    if array.dtype == np.uint64 and (array.size == 0 or array.max() <= np.iinfo(np.int64).max):
        return array.astype(np.int64)
    if array.dtype == np.float16:
        return array.astype(np.float32)
    raise UnsupportedError(
        f"weights of {array.dtype}; the library has int32, int64, float32 and float64", "unsupported"
    )
