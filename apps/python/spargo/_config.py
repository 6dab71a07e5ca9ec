"""Settings of a `with` block, and the available devices."""

from __future__ import annotations

from contextvars import ContextVar, Token
from types import TracebackType
from typing import NamedTuple

from . import _core
from ._arrays import whole
from ._errors import DeviceError, Error, UnsupportedError


class _Settings(NamedTuple):
    device: str
    threads: int
    arrays: str


_settings: ContextVar[_Settings] = ContextVar("spargo", default=_Settings("auto", 0, ""))


def parsed(device: str) -> int | None:
    """The number of a GPU; -1 for the CPU, None for 'auto'. Raises DeviceError for a GPU that does not exist."""
    if device == "auto":
        return None
    if device == "cpu":
        return -1
    name, colon, number = device.partition(":") if isinstance(device, str) else ("", "", "")
    if name != "cuda" or (colon and not (number.isascii() and number.isdigit())):
        raise ValueError(f"device is {device!r}, and may be 'auto', 'cpu', 'cuda' or 'cuda:N'")
    usable = _usable()
    if not usable:
        raise DeviceError(f"device {device!r}: {_core.cuda_reason()}", "device_unavailable")
    ordinal = int(number) if number else usable[0]
    if ordinal not in usable:
        there = ", ".join(f"cuda:{found}" for found in usable)
        raise DeviceError(f"device {device!r} does not exist (expected {there})", "device_unavailable")
    return ordinal


_found: list[int] = []


def _usable() -> list[int]:
    """The numbers of the usable GPUs, queried until there are some."""
    if not _found:
        _found.extend(int(d["name"].partition(":")[2]) for d in _core.cuda_devices())
    return _found


def on_host(device: str, what: str) -> None:
    """Refuse a GPU for a function that runs on the CPU only."""
    if parsed(device) not in (None, -1):
        raise UnsupportedError(
            f"{what} returns SciPy matrices, which are on the CPU (expected Matrix(..., device={device!r}))", "unsupported"
        )


def settings_device() -> str:
    """The device of the `with` block; 'auto' outside."""
    return _settings.get().device


def array_kind() -> str:
    """The array library for results on a GPU, as set by the `with` block; '' if not set."""
    return _settings.get().arrays


def threads() -> int:
    """Maximum number of threads of a call; 0: all that the process may use."""
    return _settings.get().threads


class config:
    """Settings for the calls in a ``with`` block, of this thread and its tasks.

    Parameters
    ----------
    device : {'auto', 'cpu', 'cuda', 'cuda:N'}, optional
        Default device of matrices and graphs. A setting that is not given keeps its value from outside the block.
    threads : int, optional
        Maximum number of threads of a call, up to 1024; 0: as many as affinity, cgroup and ``OMP_NUM_THREADS`` allow.
        Results do not depend on it unless documented.
    arrays : {'numpy', 'cupy', 'torch'}, optional
        Type of the arrays that a graph on a GPU returns; by default that of the arrays it was made from, else NumPy's.

    Raises
    ------
    ValueError
        For an invalid device or number of threads.
    DeviceError
        For a GPU that does not exist.

    Examples
    --------
    >>> import spargo
    >>> with spargo.config(threads=1):
    ...     a = spargo.generate("gen:grid2d:n=3")
    >>> a.shape
    (9, 9)
    """

    def __init__(self, *, device: str | None = None, threads: int | None = None, arrays: str | None = None) -> None:
        if device is not None:
            parsed(device)
        if arrays not in (None, "numpy", "cupy", "torch"):
            raise ValueError(f"arrays is {arrays!r}, and may be 'numpy', 'cupy' or 'torch'")
        if threads is not None:
            threads = whole(threads, "config: threads")
            if threads >= 2**31:
                raise Error(f"config: {threads} threads")
            _core.threads(threads)  # refuses invalid numbers
        self._device = device
        self._threads = threads
        self._arrays = arrays
        self._tokens: list[Token[_Settings]] = []

    def __enter__(self) -> config:
        device, threads, arrays = _settings.get()
        self._tokens.append(
            _settings.set(
                _Settings(
                    device if self._device is None else self._device,
                    threads if self._threads is None else self._threads,
                    arrays if self._arrays is None else self._arrays,
                )
            )
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        _settings.reset(self._tokens.pop())


class Device(NamedTuple):
    """One of `devices`."""

    name: str
    description: str


def devices() -> list[Device]:
    """The CPU and the usable GPUs.

    Returns
    -------
    list of Device
        ``name`` is the value for ``device=``, ``description`` is for people. The CPU comes first.

    Examples
    --------
    >>> import spargo
    >>> spargo.devices()[0].name
    'cpu'
    """
    count = _core.threads()
    cpu = Device("cpu", f"{count} thread{'' if count == 1 else 's'}")
    return [cpu, *(Device(d["name"], d.get("description", "")) for d in _core.cuda_devices())]
