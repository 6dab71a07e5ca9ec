"""Where calls run: the settings of a `with` block, and the devices there are."""

from __future__ import annotations

from contextvars import ContextVar, Token
from types import TracebackType
from typing import NamedTuple

from . import _core
from ._errors import UnsupportedError


class _Settings(NamedTuple):
    device: str
    threads: int


_settings: ContextVar[_Settings] = ContextVar("spargo", default=_Settings("auto", 0))


def check_device(device: str) -> str:
    """The device that a call asks for: for now the processor alone."""
    if device not in ("auto", "cpu"):
        if device.partition(":")[0] != "cuda":
            raise ValueError(f"device is {device!r}, and may be 'auto', 'cpu', 'cuda' or 'cuda:N'")
        raise UnsupportedError(f"device {device!r}: the Python package computes on the CPU only", "unsupported")
    return "cpu"


def threads() -> int:
    """Threads that a call uses at most; 0: as many as the process may run on."""
    return _settings.get().threads


class config:
    """Settings for the calls in a ``with`` block, of this thread and its tasks.

    Parameters
    ----------
    device : {'auto', 'cpu'}, optional
        Where calls run. What is not named stays as it is outside the block.
    threads : int, optional
        Threads that a call uses at most, up to 1024; 0: as many as the process may run on by its affinity, its cgroup
        and ``OMP_NUM_THREADS``. Results do not depend on it, unless they say so.

    Raises
    ------
    ValueError
        For a device or a number of threads that cannot be.
    NotImplementedError
        For a GPU.

    Examples
    --------
    >>> import spargo
    >>> with spargo.config(threads=1):
    ...     a = spargo.generate("gen:grid2d:n=3")
    >>> a.shape
    (9, 9)
    """

    def __init__(self, *, device: str | None = None, threads: int | None = None) -> None:
        if device is not None:
            check_device(device)
        if threads is not None:
            _core.threads(threads)  # refuses what cannot be
        self._device = device
        self._threads = threads
        self._tokens: list[Token[_Settings]] = []

    def __enter__(self) -> config:
        device, threads = _settings.get()
        self._tokens.append(
            _settings.set(
                _Settings(
                    device if self._device is None else self._device,
                    threads if self._threads is None else self._threads,
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
    """The processor and the GPUs that the library can use.

    Returns
    -------
    list of Device
        ``name`` is what ``device=`` takes, ``description`` is for people. The processor comes first.

    Examples
    --------
    >>> import spargo
    >>> spargo.devices()[0].name
    'cpu'
    """
    count = _core.threads()
    cpu = Device("cpu", f"{count} thread{'' if count == 1 else 's'}")
    return [cpu, *(Device(d["name"], d.get("description", "")) for d in _core.cuda_devices())]
