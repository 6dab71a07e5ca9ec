"""Exceptions: all are `Error`, and what Python has for their kind besides."""

from __future__ import annotations

import os


class Error(ValueError):
    """What the library refuses: bad data, bad arguments, bad files.

    Attributes
    ----------
    code : str
        The kind: ``"invalid_argument"``, ``"invalid_data"``, ``"parse"``, ``"io"``, ``"unsupported"``,
        ``"out_of_memory"``, ``"device_unavailable"`` or ``"device_failure"``.
    file : str
        Name of the file that is wrong; empty where there is none.
    line, column : int
        Where in the file, from 1; 0 for the file as a whole.
    """

    def __init__(self, message: str, code: str = "invalid_argument", file: str = "", line: int = 0, column: int = 0):
        super().__init__(message)
        self.code = code
        self.file = file
        self.line = line
        self.column = column

    def __str__(self) -> str:  # OSError's would look for errno
        return str(self.args[0])

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.args[0], self.code, self.file, self.line, self.column)


class UnsupportedError(Error, NotImplementedError):
    """Right, but more than the library does. Also a `NotImplementedError`."""


class FileError(Error, OSError):
    """The operating system refused, or a stream is truncated or corrupt. Also an `OSError`."""


class MissingFileError(FileError, FileNotFoundError):
    """There is no such file. Also a `FileNotFoundError`."""


class OutOfMemoryError(Error, MemoryError):
    """An allocation failed. Also a `MemoryError`."""


class DeviceError(Error, RuntimeError):
    """There is no such device, or it failed. Also a `RuntimeError`."""


_kinds: dict[str, type[Error]] = {
    "unsupported": UnsupportedError,
    "io": FileError,
    "out_of_memory": OutOfMemoryError,
    "device_unavailable": DeviceError,
    "device_failure": DeviceError,
}


def make(code: str, message: str, file: str, line: int, column: int) -> Error:
    """The exception for an error of the library."""
    kind = _kinds.get(code, Error)
    if kind is FileError and file and not os.path.lexists(file):
        kind = MissingFileError
    return kind(message, code, file, line, column)


for _kind in (Error, UnsupportedError, FileError, MissingFileError, OutOfMemoryError, DeviceError):
    _kind.__module__ = "spargo"  # as tracebacks name them
