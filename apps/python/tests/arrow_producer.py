"""A table for the Arrow PyCapsule interface, written with ctypes: tests make it lie, fail, and count what is released."""

import ctypes as c

import numpy as np


class Schema(c.Structure):
    pass


class Array(c.Structure):
    pass


class Stream(c.Structure):
    pass


Schema._fields_ = [
    ("format", c.c_char_p), ("name", c.c_char_p), ("metadata", c.c_char_p), ("flags", c.c_int64),
    ("n_children", c.c_int64), ("children", c.POINTER(c.POINTER(Schema))), ("dictionary", c.POINTER(Schema)),
    ("release", c.c_void_p), ("private_data", c.c_void_p),
]  # fmt: skip
Array._fields_ = [
    ("length", c.c_int64), ("null_count", c.c_int64), ("offset", c.c_int64), ("n_buffers", c.c_int64),
    ("n_children", c.c_int64), ("buffers", c.POINTER(c.c_void_p)), ("children", c.POINTER(c.POINTER(Array))),
    ("dictionary", c.POINTER(Array)), ("release", c.c_void_p), ("private_data", c.c_void_p),
]  # fmt: skip
Stream._fields_ = [(n, c.c_void_p) for n in ("get_schema", "get_next", "get_last_error", "release", "private_data")]

_capsule = c.pythonapi.PyCapsule_New
_capsule.restype, _capsule.argtypes = c.py_object, [c.c_void_p, c.c_char_p, c.c_void_p]
_kept = []  # capsules point into these


class Column:
    """A column's buffers, which tests may change: lists of NumPy arrays or None."""

    def __init__(self, format, *buffers, length=None, offset=0, null_count=0, dictionary=None, metadata=None):
        self.format, self.buffers, self.offset = format, list(buffers), offset
        self.length = len(buffers[-1]) - offset if length is None else length
        self.null_count, self.dictionary, self.metadata = null_count, dictionary, metadata
        self.changed = {}  # fields of the struct

    @classmethod
    def text(cls, words, offsets=np.int32):
        ends = np.cumsum([0, *(len(word.encode()) for word in words)]).astype(offsets)
        data = np.frombuffer("".join(words).encode() or b"\0", np.uint8)
        return cls("u" if offsets == np.int32 else "U", None, ends, data, length=len(words))


class Producer:
    """`batches`: lists of columns; the first gives the types. `error`: fails after them."""

    def __init__(self, names, *batches, error=None, message=b"it broke"):
        self.names, self.batches, self.error, self.message = names, list(batches), error, message
        self.released = []  # names of what was released
        self.changed = {}  # fields of the structs of batches
        self.changed_schema = {}
        self._callbacks = []

    def _release(self, kind, what):
        def released(pointer):
            self.released.append(what)
            kind.from_address(pointer).release = None

        made = c.CFUNCTYPE(None, c.c_void_p)(released)
        self._callbacks.append(made)
        return c.cast(made, c.c_void_p).value

    def _schema(self, column, name):
        made = Schema(format=column.format.encode(), name=name.encode(), metadata=column.metadata, flags=2)
        made.release = self._release(Schema, f"schema {name}")
        if column.dictionary is not None:
            made.dictionary = c.pointer(self._schema(column.dictionary, ""))
        return made

    def _table_schema(self):
        children = [self._schema(column, name) for name, column in zip(self.names, self.batches[0])]
        made = Schema(format=b"+s", name=b"", n_children=len(children))
        made.children = (c.POINTER(Schema) * max(len(children), 1))(*map(c.pointer, children))
        made.release = self._release(Schema, "schema")
        for field, value in self.changed_schema.items():
            setattr(made, field, value)
        return made

    def _array(self, column, name):
        made = Array(length=column.length, null_count=column.null_count, offset=column.offset, n_buffers=len(column.buffers))
        addresses = [None if b is None else b.__array_interface__["data"][0] for b in column.buffers]
        made.buffers = (c.c_void_p * max(len(addresses), 1))(*addresses)
        made.release = self._release(Array, f"array {name}")
        if column.dictionary is not None:
            made.dictionary = c.pointer(self._array(column.dictionary, ""))
        for field, value in column.changed.items():
            setattr(made, field, value)
        _kept.append(column)
        return made

    def _batch(self, columns):
        children = [self._array(column, name) for name, column in zip(self.names, columns)]
        made = Array(length=columns[0].length if columns else 0, n_buffers=1, n_children=len(children))
        made.buffers = (c.c_void_p * 1)(None)
        made.children = (c.POINTER(Array) * max(len(children), 1))(*map(c.pointer, children))
        made.release = self._release(Array, "batch")
        for field, value in self.changed.items():
            setattr(made, field, value)
        return made

    def __arrow_c_stream__(self, requested_schema=None):
        rest = iter(self.batches)

        def get_schema(stream, out):
            made = self._table_schema()
            _kept.append(made)
            c.memmove(out, c.byref(made), c.sizeof(Schema))
            return 0

        def get_next(stream, out):
            batch = next(rest, None)
            if batch is None and self.error is not None:
                return self.error
            made = Array() if batch is None else self._batch(batch)
            c.memmove(out, c.byref(made), c.sizeof(Array))
            _kept.append(made)
            return 0

        made = Stream()
        callbacks = [
            c.CFUNCTYPE(c.c_int, c.c_void_p, c.c_void_p)(get_schema),
            c.CFUNCTYPE(c.c_int, c.c_void_p, c.c_void_p)(get_next),
            c.CFUNCTYPE(c.c_void_p, c.c_void_p)(lambda stream: c.cast(self.message, c.c_void_p).value if self.message else None),
        ]
        made.get_schema, made.get_next, made.get_last_error = (c.cast(f, c.c_void_p).value for f in callbacks)
        made.release = self._release(Stream, "stream")
        _kept.append((made, callbacks, self))
        return _capsule(c.addressof(made), b"arrow_array_stream", None)


class ArrayProducer(Producer):
    """The same by `__arrow_c_array__` alone."""

    def __getattribute__(self, name):
        if name == "__arrow_c_stream__":
            raise AttributeError(name)
        return super().__getattribute__(name)

    def __arrow_c_array__(self, requested_schema=None):
        schema, array = self._table_schema(), self._batch(self.batches[0])
        _kept.append((schema, array, self))
        return _capsule(c.addressof(schema), b"arrow_schema", None), _capsule(c.addressof(array), b"arrow_array", None)
