"""Arrays on GPUs: of CuPy, of PyTorch, and of others through the CUDA Array Interface or DLPack.

Nothing is copied that is contiguous and of the right type. The library works on a stream of its own, which waits for
the caller's current stream and which that stream then waits for: by events, so that the host goes on. CuPy and PyTorch
are imported where an argument is theirs, or a result is to be.
"""

from __future__ import annotations

import sys
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import INDICES, VALUES, WEIGHTS, Array, indices_of, values_of
from ._config import array_kind, parsed, settings_device
from ._errors import Error, UnsupportedError

DTYPES = (*INDICES, *VALUES)


class Kind(Protocol):
    """Operations of an array library."""

    name: str

    def ordinal(self, a: Any) -> int:
        """The GPU that holds the array; -1 if none."""

    def taken(self, a: Any) -> Any:
        """The array itself, or its data."""

    def unpacked(self, a: Any) -> Any:
        """An array over memory given by DLPack."""

    def over(self, a: Any) -> Any:
        """An array over memory given by the CUDA Array Interface."""

    def dtype(self, a: Any) -> np.dtype[Any]: ...

    def address(self, a: Any) -> int: ...

    def contiguous(self, a: Any, dtype: np.dtype[Any] | None) -> Any:
        """The array itself if contiguous and of the type, otherwise a copy, made on the current stream."""

    def is_contiguous(self, a: Any) -> bool: ...

    def stream(self, ordinal: int) -> int:
        """The current stream."""

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any], ordinal: int) -> Any: ...

    def host(self, a: Any) -> Array:
        """A copy as a NumPy array."""


class _CuPy:
    name = "cupy"

    def __init__(self) -> None:
        import cupy  # type: ignore[import-not-found,import-untyped,unused-ignore]

        self._cupy = cupy
        self._current = cupy.cuda.get_current_stream

    def ordinal(self, a: Any) -> int:
        return int(a.device.id)

    def taken(self, a: Any) -> Any:
        return a

    def unpacked(self, a: Any) -> Any:
        return self._cupy.from_dlpack(a)

    def over(self, a: Any) -> Any:
        return self._cupy.asarray(a)

    def dtype(self, a: Any) -> np.dtype[Any]:
        kind: np.dtype[Any] = a.dtype
        return kind

    def address(self, a: Any) -> int:
        return int(a.data.ptr)

    def contiguous(self, a: Any, dtype: np.dtype[Any] | None) -> Any:
        return self._cupy.ascontiguousarray(a, dtype)

    def is_contiguous(self, a: Any) -> bool:
        return bool(a.flags.c_contiguous)

    def stream(self, ordinal: int) -> int:
        return int(self._current(ordinal).ptr)

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any], ordinal: int) -> Any:
        if self._cupy.cuda.runtime.getDevice() == ordinal:
            return self._cupy.empty(shape, dtype)
        with self._cupy.cuda.Device(ordinal):
            return self._cupy.empty(shape, dtype)

    def host(self, a: Any) -> Array:
        copy: Array = self._cupy.asnumpy(a)
        return copy


class _Torch:
    name = "torch"

    def __init__(self) -> None:
        import torch  # type: ignore[import-not-found,unused-ignore]

        self._torch = torch
        self._names = {getattr(torch, t.name): t for t in DTYPES}
        self._types = {t: getattr(torch, t.name) for t in DTYPES}
        self._devices: dict[int, Any] = {}
        # The stream's address without an object for it, which takes 1.4 us: as Triton asks.
        self._raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)

    def ordinal(self, a: Any) -> int:
        return int(a.get_device()) if a.is_cuda else -1

    def taken(self, a: Any) -> Any:
        if a.layout is not self._torch.strided:
            raise UnsupportedError("a sparse tensor where a dense one is expected", "unsupported")
        if a.is_complex():
            a = a.resolve_conj()
        return a.resolve_neg() if a.is_neg() else a

    def unpacked(self, a: Any) -> Any:
        return self._torch.from_dlpack(a)

    def over(self, a: Any) -> Any:
        return self._torch.as_tensor(a, device="cuda")

    def dtype(self, a: Any) -> np.dtype[Any]:
        known = self._names.get(a.dtype)
        if known is not None:
            return known
        try:
            return np.dtype(str(a.dtype).removeprefix("torch."))
        except TypeError:
            raise UnsupportedError(f"a tensor of {a.dtype}", "unsupported") from None

    def address(self, a: Any) -> int:
        return int(a.data_ptr())

    def contiguous(self, a: Any, dtype: np.dtype[Any] | None) -> Any:
        if dtype is not None:
            a = a.detach().to(self._types[dtype])
        return a if a.is_contiguous() else a.detach().contiguous()

    def is_contiguous(self, a: Any) -> bool:
        return bool(a.is_contiguous())

    def stream(self, ordinal: int) -> int:
        if self._raw is not None:
            return int(self._raw(ordinal))
        return int(self._torch.cuda.current_stream(ordinal).cuda_stream)

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any], ordinal: int) -> Any:
        device = self._devices.get(ordinal)
        if device is None:
            device = self._devices[ordinal] = self._torch.device("cuda", ordinal)
        return self._torch.empty(shape, dtype=self._types[dtype], device=device)

    def host(self, a: Any) -> Array:
        copy: Array = a.detach().cpu().numpy()
        return copy


_VECTORS: tuple[type, ...] = tuple(getattr(_core, name) for name in dir(_core) if name.startswith("DeviceVector_"))
_OURS = (np.ndarray, *_VECTORS)  # types that need no library

NUMPY: Any = object()  # for objects that return NumPy arrays, whatever `config` says
_made: dict[str, Kind] = {}
_names: dict[type, str] = {}  # the library of a type: "cupy", "torch", "other", or "" for none


def kind_named(name: str) -> Kind:
    kind = _made.get(name)
    if kind is None:
        kind = _made[name] = _CuPy() if name == "cupy" else _Torch()
    return kind


def _name_of(a: Any) -> str:
    kind = type(a)
    for name, array in (("cupy", "ndarray"), ("torch", "Tensor")):
        if name in sys.modules and issubclass(kind, getattr(sys.modules[name], array, ())):
            return name
    if issubclass(kind, _OURS):
        return ""
    if hasattr(a, "__cuda_array_interface__") or hasattr(a, "__dlpack_device__"):
        return "other"
    return ""


def _kind_for(a: Any) -> Kind:
    """The library of results for arrays of others: CuPy, or PyTorch if only that is imported."""
    for name in ("torch", "cupy") if "torch" in sys.modules and "cupy" not in sys.modules else ("cupy", "torch"):
        try:
            return kind_named(name)
        except ImportError:
            continue
    raise UnsupportedError(f"{type(a).__name__} on a GPU: CuPy or PyTorch is needed to work with it", "unsupported")


def kind_of(a: Any) -> Kind | None:
    """The library of an array on a GPU; None for everything else."""
    name = _names.get(type(a))
    if name is None:
        name = _name_of(a)
        if name or isinstance(a, _OURS):  # another object of the type may support a protocol
            _names[type(a)] = name
    if not name:
        return None
    if name == "other":
        return _kind_for(a) if _is_on_gpu(a) else None
    kind = kind_named(name)
    return kind if name == "cupy" or kind.ordinal(a) >= 0 else None


def _is_on_gpu(a: Any) -> bool:
    if hasattr(a, "__dlpack_device__"):
        return int(a.__dlpack_device__()[0]) in (2, 13)  # CUDA's memory, managed or not
    return hasattr(a, "__cuda_array_interface__")


def taken(kind: Kind, a: Any) -> Any:
    """The array as one of the kind, over the same memory, synchronised as its protocol requires."""
    if _names[type(a)] != "other":
        return kind.taken(a)
    interface = getattr(a, "__cuda_array_interface__", None)
    if interface is None or (kind.name == "torch" and hasattr(a, "__dlpack__")):
        return kind.unpacked(a)
    array = kind.over(_WithoutStream(a, interface))  # CuPy would block the host, PyTorch would not wait
    stream = interface.get("stream")
    if stream is not None:
        ordinal = kind.ordinal(array)
        place = place_at(ordinal)
        place.after({1: 0}.get(stream, stream))
        place.before(kind.stream(ordinal))
    return array


class _WithoutStream:
    """An array whose stream is already synchronised."""

    def __init__(self, owner: Any, interface: dict[str, Any]) -> None:
        self.owner = owner
        self.__cuda_array_interface__ = {**interface, "stream": None}


# --- Where things are -------------------------------------------------------------------------------------------------

_places: dict[int, Any] = {}


def place_at(ordinal: int) -> Any:
    """The library's context of a GPU, created once."""
    found = _places.get(ordinal)
    if found is None:
        found = _places.setdefault(ordinal, _core.DevicePlace(ordinal))
    return found


def place_for(device: str, *arrays: Any) -> Any:
    """The device of a call: the context of a GPU, or None for the CPU.

    'auto': as set by `config`, else the GPU that holds an argument, else the CPU.
    """
    ordinal = parsed(device)
    if ordinal is None:
        ordinal = parsed(settings_device())
    if ordinal is None:
        ordinal = next((found for found in map(ordinal_of, arrays) if found >= 0), -1)
    return None if ordinal < 0 else place_at(ordinal)


def ordinal_of(a: Any) -> int:
    """The number of the GPU that holds an argument; -1 if none."""
    if is_vector(a):
        return int(a.ordinal)
    held = getattr(a, "_place", None)
    if held is not None:  # a Matrix or a Graph
        return int(held.ordinal)
    sparse = unpacked(a)
    if sparse is not None:
        a = sparse[2]
    kind = kind_of(a)
    return -1 if kind is None else kind.ordinal(a if _names[type(a)] != "other" else taken(kind, a))


def name_of(place: Any) -> str:
    return "cpu" if place is None else f"cuda:{place.ordinal}"


def unpacked(a: Any) -> tuple[str, tuple[int, int], Any, Any, Any] | None:
    """(format, shape, data, indptr or row, indices or col) of a sparse matrix of CuPy or PyTorch on a GPU."""
    module = type(a).__module__.partition(".")[0]
    if module == "cupyx" and hasattr(a, "format"):
        a = a if a.format in ("csr", "csc", "coo") else a.tocsr()
        first, second = (a.row, a.col) if a.format == "coo" else (a.indptr, a.indices)
        return a.format, (int(a.shape[0]), int(a.shape[1])), a.data, first, second
    if module != "torch" or not hasattr(a, "layout") or not a.is_cuda or a.ndim != 2:
        return None
    layout = str(a.layout).removeprefix("torch.sparse_")
    shape = (int(a.shape[0]), int(a.shape[1]))
    if layout == "csr":
        return "csr", shape, a.values(), a.crow_indices(), a.col_indices()
    if layout == "csc":
        return "csc", shape, a.values(), a.ccol_indices(), a.row_indices()
    if layout == "coo":
        a = a.coalesce()
        return "coo", shape, a.values(), a.indices()[0], a.indices()[1]
    return None


# --- Vectors ----------------------------------------------------------------------------------------------------------

def is_vector(a: Any) -> bool:
    """Whether it is a vector of the library on a GPU."""
    return isinstance(a, _VECTORS)


def vector(a: Any, place: Any, what: str, dtype: np.dtype[Any] | None = None) -> Any:
    """A vector of the library on the GPU: over an array there, ordered after its stream, or uploaded."""
    kind = kind_of(a)
    if kind is None:
        if is_vector(a) and a.ordinal == place.ordinal and (dtype is None or dtype == a.dtype):
            return a
        return place.upload(np.ascontiguousarray(downloaded(a) if is_vector(a) else a, dtype))
    array = taken(kind, a)
    if array.ndim != 1:
        raise Error(f"{what}: one dimension is expected, and this has {array.ndim}")
    ordinal = kind.ordinal(array)
    if ordinal != place.ordinal:
        raise Error(f"{what}: an array on cuda:{ordinal}, for what is on cuda:{place.ordinal}")
    array = kind.contiguous(array, dtype)
    found = place.borrow(kind.address(array), int(array.shape[0]), kind.dtype(array).name, array)
    place.after(kind.stream(ordinal))
    return found


def values_vector(a: Any, place: Any, what: str, dtype: npt.DTypeLike | None = None) -> Any:
    """Entries of a matrix, as by `values_of`."""
    kind = kind_of(a)
    wanted = None if dtype is None else np.dtype(dtype)
    if kind is None:
        if is_vector(a):
            return vector(a, place, what, wanted)
        return place.upload(values_of(a, what, dtype))
    found = kind.dtype(taken(kind, a)) if wanted is None else wanted
    if found not in VALUES:
        raise UnsupportedError(
            f"{what}: the library has float32, float64, complex64 and complex128, and this is {found}", "unsupported"
        )
    return vector(a, place, what, wanted)


def weights_vector(a: Any, place: Any) -> Any:
    """Weights of edges; None for booleans."""
    kind = kind_of(a)
    found = a.dtype if kind is None else kind.dtype(taken(kind, a))
    if found == bool:
        return None
    if found not in WEIGHTS:
        raise UnsupportedError(
            f"weights of {found}; the library has int32, int64, float32 and float64", "unsupported"
        )
    return vector(a, place, "weights")


def _index_type(a: Any, what: str) -> np.dtype[Any]:
    kind = kind_of(a)
    found = a.dtype if is_vector(a) or kind is None else kind.dtype(taken(kind, a))
    if found not in INDICES and found.kind not in "iu":
        raise Error(f"{what}: integers are expected, and this is {found}")
    return found if found in INDICES else np.dtype(np.int64)


def index_vectors(first: Any, second: Any, place: Any, what: str, same: bool) -> tuple[Any, Any]:
    """Two index vectors: of the same type, or the first at least as wide as the second. Nothing is narrowed."""
    first, second = (indices_of(a, what) if kind_of(a) is None and not is_vector(a) else a for a in (first, second))
    types = [_index_type(a, what) for a in (first, second)]
    if types[1] == np.int64:
        types[0] = types[1]
    elif same and types[0] == np.int64:
        types[1] = types[0]
    return vector(first, place, what, types[0]), vector(second, place, what, types[1])


def copied(a: Any, place: Any) -> Any:
    """A copy of a vector."""
    made = place.empty(a.size, a.dtype.name)
    a.copy_to(made.address, place.stream)
    return made


def downloaded(a: Any, out: Array | None = None) -> Array:
    """A NumPy copy of a vector or array on a GPU."""
    if not is_vector(a):
        kind = kind_of(a)
        return np.asarray(a) if kind is None else kind.host(taken(kind, a))
    if out is None:
        out = np.empty(a.size, a.dtype)
    a.fetch(out.reshape(-1))
    return out


class _Lent(_WithoutStream):
    """Memory of the library that an array of another one is over; it is freed after that array's stream."""

    def __init__(self, owner: Any, kind: Kind) -> None:
        super().__init__(owner, owner.__cuda_array_interface__)
        self.kind = kind

    def __del__(self) -> None:
        if not sys.is_finalizing():
            place_at(self.owner.ordinal).after(self.kind.stream(self.owner.ordinal))


def lent(a: Any, kind: Kind | None) -> Any:
    """As `delivered`, of a vector that nothing else has: an array over its memory, without a copy."""
    asked = "numpy" if kind is NUMPY else array_kind()
    if asked:
        kind = None if asked == "numpy" else kind_named(asked)
    if kind is None or a.size == 0:
        return delivered(a, kind)
    out = kind.over(_Lent(a, kind))
    place_at(a.ordinal).before(kind.stream(a.ordinal))
    return out


def delivered(a: Any, kind: Kind | None) -> Any:
    """A vector of the library as an array of the kind, or of that set by `config`; None: NumPy."""
    asked = "numpy" if kind is NUMPY else array_kind()
    if asked:
        kind = None if asked == "numpy" else kind_named(asked)
    if kind is None:
        return downloaded(a)
    out = kind.empty((a.size,), a.dtype, a.ordinal)
    a.copy_to(kind.address(out), kind.stream(a.ordinal))
    return out

