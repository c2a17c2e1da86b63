#!/usr/bin/env python3
"""Files that numpy, pandas and h5py write are read by vem, and the other way round."""

import io
import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("numpy is not installed, so the exchange of files with it is not tested.")
    sys.exit(77)

VEM = os.environ.get("VEM", "build/vem")


def run(*arguments, stdin=None):
    done = subprocess.run([VEM, *arguments], input=stdin, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr.decode()


def info(path, *options, stdin=None):
    code, out, err = run("info", path, "--json", "-q", *options, stdin=stdin)
    assert code == 0, f"{path}: {err}"
    return json.loads(out)


def agrees(path, rows, *options, stdin=None):
    """vem sees in the file what numpy has in memory."""
    rows = np.atleast_2d(np.asarray(rows, dtype=float).T).T
    found = info(path, *options, stdin=stdin)
    assert (found["n"], found["d"]) == rows.shape, (path, found["n"], found["d"], rows.shape)
    for column, values in zip(found["columns"], rows.T):
        assert column["min"] == values.min() and column["max"] == values.max(), (path, column)
        assert np.isclose(column["mean"], values.mean(), rtol=1e-12, atol=1e-12), (path, column)
    return found


def check_npy(rows):
    for dtype in ("<f4", ">f4", "<f8", ">f8", "u1", "<i4", ">i4", "<i8", ">i8"):
        array = (rows * 20 + 100).astype(dtype)
        for order in "CF":
            for version in ((1, 0), (2, 0), (3, 0)):
                with open("a.npy", "wb") as file:
                    np.lib.format.write_array(file, np.array(array, order=order), version)
                agrees("a.npy", array)
        np.save("a.npy", array[:, 0])
        agrees("a.npy", array[:, 0])
    for dtype in ("f2", "i1", "i2", "u2", "u4", ">i2", ">f2", "?"):
        array = np.array([[0, 1], [100, 7], [3, 1.5]]).astype(dtype)
        np.save("a.npy", array)
        agrees("a.npy", array)
    for dtype in ("c8", "f16", "u8", "S3", "M8[s]"):
        np.save("a.npy", np.zeros((3, 2)).astype(dtype))
        code, _, err = run("info", "a.npy")
        assert code == 1 and "vem reads floats" in err, (dtype, err)
    np.save("a.npy", np.array([{"x": 1}]), allow_pickle=True)
    assert run("info", "a.npy")[0] == 1


def check_text(rows):
    np.savetxt("a.txt", rows)
    agrees("a.txt", rows)
    np.savetxt("a.csv", rows, delimiter=",", header="x,y,z")
    agrees("a.csv", rows)
    np.savetxt("a.tsv", rows, delimiter="\t", fmt="%.17g")
    agrees("a.tsv", rows)
    buffer = io.StringIO()
    np.savetxt(buffer, rows, delimiter=";", fmt="%r")
    agrees("-", rows, stdin=buffer.getvalue().encode())
    try:
        import pandas as pd
    except ImportError:
        return
    frame = pd.DataFrame(rows, columns=["x", "a, b", 'say "c"'])
    frame.insert(0, "name", [f"row {i}, of\nmany" for i in range(len(rows))])
    frame.to_csv("a.csv", index=False)
    found = agrees("a.csv", rows, "--id", "name")
    assert [c["name"] for c in found["columns"]] == ["x", "a, b", 'say "c"']
    agrees("a.csv", rows[:, [2, 0]], "--columns", "4,2")


def check_vectors(rows):
    single, byte = rows.astype("<f4"), (rows * 20 + 100).astype("u1")
    for name, array in (("f", single), ("b", byte)):
        count = np.full((len(array), 1), array.shape[1], "<i4").view("u1")
        packed = np.hstack([count, array.view("u1").reshape(len(array), -1)])
        packed.tofile(f"a.{name}vecs")
        agrees(f"a.{name}vecs", array)
    for name, array in (("f", single), ("u8", byte)):
        with open(f"a.{name}bin", "wb") as file:
            np.array(array.shape, "<u4").tofile(file)
            array.tofile(file)
        agrees(f"a.{name}bin", array)


def check_npz(rows):
    weights = np.arange(len(rows)) + 1.0
    for save in (np.savez, np.savez_compressed):
        save("a.npz", rows=rows, weights=weights, indices=np.arange(len(rows)))
        assert agrees("a.npz", rows)["weighted"]
    # A model made by hand, in any order and type, and what the command says of it.
    means = np.array([[0, 0, 0], [9, 9, 9]], dtype=">f4", order="F")
    covariances = np.asfortranarray(np.array([np.eye(3), 2 * np.eye(3)]))
    covariances[1, 0, 2] = covariances[1, 2, 0] = 0.5
    np.savez_compressed("m.npz", means=means, weights=[0.5, 0.5], variances=covariances)
    found = info("m.npz")
    assert (found["kind"], found["family"], found["clusters"]) == ("model", "full", 2), found
    np.save("a.npy", np.array([[0.1, 0, 0], [8, 9, 9.0]]))
    assert run("predict", "m.npz", "a.npy", "-o", "l.npy", "-q")[0] == 0
    labels = np.load("l.npy")
    assert labels.dtype == np.int32 and labels.tolist() == [0, 1], labels
    assert run("predict", "m.npz", "a.npy", "--top", "2", "-o", "s.npz", "-q")[0] == 0
    with np.load("s.npz") as soft:
        assert soft["clusters"].tolist() == [[0, 1], [1, 0]] and soft["clusters"].dtype == "i4"
        assert np.allclose(soft["probabilities"].sum(1), 1)


def check_model_written():
    assert run("generate", "birch-grid", "-o", "d.npy", "-q")[0] == 0
    rows = np.load("d.npy")
    assert rows.ndim == 2 and np.isfinite(rows).all()
    for family, shape in (("iso-shared", (1,)), ("iso", (4,)), ("diag", (4, 2)),
                          ("full", (4, 2, 2))):
        code, _, err = run("fit", "d.npy", "-k", "4", "--family", family, "-o", "m.npz", "-q",
                           "--max-steps", "5")
        assert code == 0, err
        with np.load("m.npz") as model:
            assert model["means"].shape == (4, 2) and model["variances"].shape == shape
            assert abs(model["weights"].sum() - 1) < 1e-12
            meta = json.loads(model["meta"].tobytes())
            assert model["meta"].dtype == np.uint8 and meta["family"] == family
    # Stored, not compressed, and each array as numpy itself would have written it.
    with np.load("m.npz") as model:
        for name in model.files:
            ours = model.zip.read(name + ".npy")
            theirs = io.BytesIO()
            np.lib.format.write_array(theirs, model[name], (1, 0))
            assert ours == theirs.getvalue(), name
        assert all(entry.compress_type == 0 for entry in model.zip.infolist())


def check_hdf5(rows):
    try:
        import h5py
    except ImportError:
        return
    with h5py.File("a.h5", "w") as file:
        file["group/rows"] = rows
        file["single"] = rows.astype("f4")
        file["bytes"] = (rows * 20 + 100).astype("u1")
        file["short"] = (rows * 20).astype(">i2")
        file["column"] = rows[:, 0]
        file["cube"] = np.zeros((2, 2, 2))
        file["text"] = b"abc"
        file.create_dataset("packed", data=rows, chunks=(7, 2), compression="gzip")
        file.create_dataset("huge", shape=(1 << 40, 1 << 10), dtype="f8", chunks=(8, 8))
    code, _, err = run("info", "a.h5:/single")
    if code != 0 and "without HDF5" in err:
        return
    agrees("a.h5:/group/rows", rows)
    agrees("a.h5:single", rows.astype("f4"))
    agrees("a.h5:/bytes", (rows * 20 + 100).astype("u1"))
    agrees("a.h5:/short", (rows * 20).astype("i2"))
    agrees("a.h5:/column", rows[:, 0])
    agrees("a.h5:/packed", rows)
    for path, words in (("a.h5:/none", "no dataset named"), ("a.h5:/cube", "3 dimensions"),
                        ("a.h5:/text", "neither floating-point"), ("b.h5:/x", "no such file"),
                        ("a.h5:/huge", "holds only 0 bytes"), ("a.h5:/group", "no dataset"),
                        ("a.h5:", "say which one")):
        code, _, err = run("info", path)
        assert code in (1, 2) and words in err and len(err.splitlines()) == 1, (path, err)


def main():
    global VEM
    VEM = os.path.abspath(VEM)
    rows = np.random.default_rng(1).normal(size=(50, 3))
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        check_npy(rows)
        check_text(rows)
        check_vectors(rows)
        check_npz(rows)
        check_model_written()
        check_hdf5(rows)
        os.chdir("/")


if __name__ == "__main__":
    main()
