"""Rows of .safetensors: the command takes them whole, by the name of a tensor, from several files and
compressed, to the bits of the same numbers as floats."""
import gzip
import json
import struct
import zipfile

from cli_case import Case, blobs, main


def bfloat(value):
    """The upper half of the float, cut off, and what it stands for."""
    bits = struct.pack("<f", value)[2:]
    return bits, struct.unpack("<f", b"\0\0" + bits)[0]


def file_of(tensors):
    """tensors: name -> (type, shape, bytes)."""
    header, values = {"__metadata__": {"format": "pt"}}, b""
    for name, (kind, shape, more) in tensors.items():
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(values), len(values) + len(more)]}
        values += more
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + values


class Safetensors(Case):
    def setUp(self):
        super().setUp()
        rows, _ = blobs(300, 100, 3)
        pairs = [[bfloat(x) for x in row] for row in rows]
        self.floats = self.npy("x.npy", [[value for _, value in row] for row in pairs], "<f4")
        self.bits = [b"".join(bits for bits, _ in row) for row in pairs]
        self.file = self.put("all.safetensors", 0, 300)

    def put(self, name, first, last):
        return self.write(name, file_of({
            "norms": ("F32", [last - first], bytes(4 * (last - first))),
            "rows": ("BF16", [last - first, 100], b"".join(self.bits[first:last]))}))

    def fit(self, *data):
        model, labels = self.path("m.npz"), self.path("l.npy")
        told = self.json("fit", *data, "-k", 12, "-o", model, "--labels", labels, "-q")
        with zipfile.ZipFile(model) as arrays:
            return self.read(labels), arrays.read("means.npy"), told["free_energy"]

    def test_the_bits_of_floats(self):
        known = self.fit(self.floats)
        self.put("part-1.safetensors", 0, 120)
        self.put("part-2.safetensors", 120, 300)
        with open(self.file, "rb") as file:
            packed = self.write("all.safetensors.gz", gzip.compress(file.read()))
        self.put("LOUD-1.SAFETENSORS", 0, 300)
        loud = self.path("LOUD*.SAFETENSORS:rows")
        for data in (self.file, self.file + ":rows", packed, packed + ":rows", self.path("part-*.safetensors:rows"),
                     self.path("part-?.safetensors"), loud):
            self.assertEqual(self.fit(data), known, data)

    def test_what_is_told(self):
        about = self.json("info", self.file)
        self.assertEqual([about[key] for key in ("format", "dtype", "n", "d")],
                         ["safetensors", "bfloat16", 300, 100])
        self.assertEqual(self.json("info", self.file + ":norms")["dtype"], "float32")

    def test_refused(self):
        self.refuse(1, ["info", self.file + ":none"], "no tensor none, but norms, rows")
        self.refuse(1, ["info", self.write("e.safetensors", b"")], "e.safetensors")
        with open(self.file, "rb") as file:
            cut = self.write("cut.safetensors", file.read()[:-1])
        self.refuse(1, ["fit", cut, "-k", 3], "tensor rows", "bytes 1200 to 61200 of 61199")


if __name__ == "__main__":
    main()
