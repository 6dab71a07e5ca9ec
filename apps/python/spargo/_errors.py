"""Exceptions and warnings. Each exception is an `Error` and also Python's own type for its kind."""

from __future__ import annotations

import errno
import os
import re
import sys
import warnings


class Error(ValueError):
    """Base of all errors: bad data, bad arguments, bad files.

    Attributes
    ----------
    code : str
        The kind: ``"invalid_argument"``, ``"invalid_data"``, ``"parse"``, ``"io"``, ``"unsupported"``,
        ``"out_of_memory"``, ``"device_unavailable"`` or ``"device_failure"``.
    file : str
        Name of the file at fault; empty if none.
    line, column : int
        Position in the file, from 1; 0 for the file as a whole.
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
    """Valid, but not supported. Also a `NotImplementedError`."""


class FileError(Error, OSError):
    """A file cannot be read or written, or is truncated or corrupt. Also an `OSError`.

    Attributes
    ----------
    errno : int or None
        The system's error number; None if the file's content is at fault.
    filename, strerror : str or None
        As those of any `OSError`.
    """

    def __init__(
        self, message: str, code: str = "io", file: str = "", line: int = 0, column: int = 0, number: int = 0
    ):
        super().__init__(message, code, file, line, column)
        self.filename = file or None
        self.errno = number or None
        self.strerror = os.strerror(number) if number else None

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.args[0], self.code, self.file, self.line, self.column, self.errno or 0)


class MissingFileError(FileError, FileNotFoundError):
    """The file does not exist. Also a `FileNotFoundError`."""


class OutOfMemoryError(Error, MemoryError):
    """An allocation failed. Also a `MemoryError`."""


class DeviceError(Error, RuntimeError):
    """The device does not exist, or it failed. Also a `RuntimeError`."""


class InputWarning(UserWarning):
    """A file is read, and may mean something else: unused columns of numbers, a first line that may name columns, rounded
    integers.
    """


class ConvergenceWarning(UserWarning):
    """A method ended before its result had the tolerance that was asked for."""


def warn(text: str, category: type[Warning] = InputWarning) -> None:
    """Warn at the line that called the package."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "spargo":
        if category is ConvergenceWarning and frame.f_globals["__name__"].startswith("spargo._networkx"):
            return  # which raises networkx's exception
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)


_kinds: dict[str, type[Error]] = {
    "unsupported": UnsupportedError,
    "io": FileError,
    "out_of_memory": OutOfMemoryError,
    "device_unavailable": DeviceError,
    "device_failure": DeviceError,
}


def _spelled(message: str) -> str:
    """The reader's options as arguments of a call: columns=1,2 is columns='1,2'."""
    text, expected, hint = message.rpartition("(expected ")
    return text + expected + re.sub(r"\b(columns|ids)=([\w,\[\]]+)", r"\1='\2'", hint) if expected else message


def make(code: str, message: str, file: str, line: int, column: int, number: int) -> Error:
    """The exception for an error of the library."""
    kind = _kinds.get(code, Error)
    message = _spelled(message)
    if issubclass(kind, FileError):
        return (MissingFileError if number == errno.ENOENT else kind)(message, code, file, line, column, number)
    return kind(message, code, file, line, column)


for _kind in (Error, UnsupportedError, FileError, MissingFileError, OutOfMemoryError, DeviceError, InputWarning, ConvergenceWarning):
    _kind.__module__ = "spargo"  # as tracebacks name them
