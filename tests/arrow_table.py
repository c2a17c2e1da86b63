"""A producer of Arrow tables, by hand: no Arrow library is needed."""
import ctypes

from package_case import np


class ArrowSchema(ctypes.Structure):
    pass


class ArrowArray(ctypes.Structure):
    pass


class ArrowStream(ctypes.Structure):
    pass


RELEASE_SCHEMA = ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrowSchema))
RELEASE_ARRAY = ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrowArray))
ArrowSchema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(ArrowSchema))),
    ("dictionary", ctypes.c_void_p), ("release", RELEASE_SCHEMA), ("private_data", ctypes.c_void_p)]
ArrowArray._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(ArrowArray))),
    ("dictionary", ctypes.c_void_p), ("release", RELEASE_ARRAY), ("private_data", ctypes.c_void_p)]
GET_SCHEMA = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ArrowStream),
                              ctypes.POINTER(ArrowSchema))
GET_NEXT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ArrowStream), ctypes.POINTER(ArrowArray))
LAST_ERROR = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(ArrowStream))
RELEASE_STREAM = ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrowStream))
ArrowStream._fields_ = [("get_schema", GET_SCHEMA), ("get_next", GET_NEXT),
                        ("get_last_error", LAST_ERROR), ("release", RELEASE_STREAM),
                        ("private_data", ctypes.c_void_p)]
capsule_new = ctypes.pythonapi.PyCapsule_New
capsule_new.restype = ctypes.py_object
capsule_new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
FORMATS = {"float64": b"g", "float32": b"f", "int32": b"i", "uint8": b"C", "int64": b"l",
           "float16": b"e", "int8": b"c"}


class Table:
    """Batches of columns (a dict from names to arrays, or lists of them), or of fixed-size lists."""

    def __init__(self, batches, lists=False, nulls=None):
        self.batches, self.lists, self.nulls = batches, lists, nulls
        self.keep = []  # what the structs point at
        self.released = 0

    def _schema_of(self, out, format, name=b"", children=()):
        out.format, out.name, out.n_children = format, name, len(children)
        pointers = (ctypes.POINTER(ArrowSchema) * max(len(children), 1))(
            *[ctypes.pointer(c) for c in children])
        out.children = pointers
        out.release = self._release_schema = RELEASE_SCHEMA(self._on_release)
        self.keep += [pointers, children, out.release]

    def _on_release(self, pointer):
        self.released += 1
        pointer.contents.release = type(pointer.contents.release)()

    def fill_schema(self, out):
        first = self.batches[0]
        children = []
        for name, column in first.items():
            child = ArrowSchema()
            kind = FORMATS[str(column.dtype)]
            if self.lists:
                item = ArrowSchema()
                self._schema_of(item, kind, b"item")
                self._schema_of(child, b"+w:%d" % column.shape[1], name.encode(), [item])
            else:
                self._schema_of(child, kind, name.encode())
            children.append(child)
        self._schema_of(out, b"+s", b"", children)

    def _array_of(self, out, length, buffers, children=(), nulls=0):
        out.length, out.null_count, out.offset = length, nulls, 0
        out.n_buffers, out.n_children = len(buffers), len(children)
        addresses = (ctypes.c_void_p * max(len(buffers), 1))(*buffers)
        pointers = (ctypes.POINTER(ArrowArray) * max(len(children), 1))(
            *[ctypes.pointer(c) for c in children])
        out.buffers, out.children = addresses, pointers
        out.release = RELEASE_ARRAY(self._on_release)
        self.keep += [addresses, pointers, children, out.release]

    def fill_batch(self, out, batch):
        children = []
        for column in batch.values():
            column = np.ascontiguousarray(column)
            self.keep.append(column)
            child = ArrowArray()
            if self.lists:
                item = ArrowArray()
                self._array_of(item, column.size, [None, column.ctypes.data])
                self._array_of(child, len(column), [None], [item])
            elif self.nulls is not None:
                bits = np.packbits(~self.nulls, bitorder="little")
                self.keep.append(bits)
                self._array_of(child, len(column), [bits.ctypes.data, column.ctypes.data],
                               nulls=int(self.nulls.sum()))
            else:
                self._array_of(child, len(column), [None, column.ctypes.data])
            children.append(child)
        self._array_of(out, len(next(iter(batch.values()))), [None], children)

    def __arrow_c_stream__(self, requested_schema=None):
        stream, left = ArrowStream(), list(self.batches)

        def get_schema(_, out):
            self.fill_schema(out.contents)
            return 0

        def get_next(_, out):
            if left:
                self.fill_batch(out.contents, left.pop(0))
            else:
                out.contents.release = RELEASE_ARRAY()
            return 0

        stream.get_schema, stream.get_next = GET_SCHEMA(get_schema), GET_NEXT(get_next)
        stream.get_last_error = LAST_ERROR(lambda _: b"none")
        stream.release = RELEASE_STREAM(lambda _: None)
        self.keep.append(stream)
        return capsule_new(ctypes.addressof(stream), b"arrow_array_stream", None)


class Batch(Table):
    """The same as one array."""

    __arrow_c_stream__ = property()

    def __arrow_c_array__(self, requested_schema=None):
        schema, array = ArrowSchema(), ArrowArray()
        self.fill_schema(schema)
        self.fill_batch(array, self.batches[0])
        self.keep += [schema, array]
        return (capsule_new(ctypes.addressof(schema), b"arrow_schema", None),
                capsule_new(ctypes.addressof(array), b"arrow_array", None))


def columns_of(X):
    return {f"c{j}": X[:, j].copy() for j in range(X.shape[1])}
