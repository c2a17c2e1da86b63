#!/usr/bin/env python3
"""pip wheel . gives one abi3 wheel that holds the library, without a network; installed elsewhere it
works. CMake installs the package, too. (The objects are those of the build tree: VEM_BUILD.)"""
import glob
import os
import shutil
import subprocess
import sys
import zipfile

from package_case import LIMIT, SOURCE, VEM, Case, main, vem

BUILD = os.path.dirname(os.path.abspath(VEM))
TRY = ("import sys, numpy as np, vem; print(vem.__file__); "
       "print(vem.KMeans(2, random_state=0).fit_predict(np.eye(4)).shape)")


def run(*words, **keywords):
    done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT, check=False,
                          **keywords)
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


class Wheel(Case):
    def source(self):
        """A copy of what the package is built from, so that the checkout stays as it is."""
        top = self.path("source")
        os.mkdir(top)
        for name in ("setup.py", "README.md", "LICENSE"):
            shutil.copy(os.path.join(SOURCE, name), top)
        for name in ("python", "include"):
            shutil.copytree(os.path.join(SOURCE, name), os.path.join(top, name))
        return top

    def try_at(self, folder):
        out = run(sys.executable, "-c", TRY, env=dict(os.environ, PYTHONPATH=folder),
                  cwd=self._folder.name)
        self.assertTrue(out.startswith(folder), out)
        self.assertIn("(4,)", out)

    def test_pip_wheel(self):
        try:
            import pip  # noqa: F401
            import wheel  # noqa: F401
        except ImportError as missing:
            self.skipTest(str(missing))
        run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-index", "-w",
            self.path("wheels"), self.source(), env=dict(os.environ, VEM_BUILD=BUILD))
        (file,) = glob.glob(self.path("wheels/*.whl"))
        name = os.path.basename(file)
        self.assertTrue(name.startswith(f"vem-{vem.__version__}-cp311-abi3-"), name)
        with zipfile.ZipFile(file) as archive:
            names = archive.namelist()
            for part in ("__init__.py", "__init__.pyi", "py.typed", "_vem.abi3.so"):
                self.assertIn("vem/" + part, names)
            archive.extractall(self.path("there"))
        library = self.path("there/vem/_vem.abi3.so")
        self.assertNotIn("libvem", run("ldd", library))
        symbols = run("nm", "-D", "--defined-only", library).split()
        self.assertEqual([s for s in symbols if len(s) > 1 and not s.isalnum()], ["PyInit__vem"])
        self.try_at(self.path("there"))

    def test_the_stable_abi(self):
        # Only what the limited API has may be asked of the interpreter.
        library = os.path.join(BUILD, "python", "vem", "_vem.abi3.so")
        wanted = {line.split()[-1] for line in run("nm", "-D", "--undefined-only",
                                                   library).splitlines()}
        private = {name for name in wanted if name.startswith("_Py")}
        # These are of the stable ABI, by its list.
        allowed = {"_Py_NoneStruct", "_Py_TrueStruct", "_Py_FalseStruct", "_Py_Dealloc",
                   "_PyArg_ParseTuple_SizeT", "_Py_BuildValue_SizeT"}
        self.assertLessEqual(private, allowed)

    def test_cmake_install(self):
        run("cmake", "--install", BUILD, "--prefix", self.path("prefix"), "--component", "python")
        self.try_at(self.path("prefix/lib/python3/dist-packages"))


if __name__ == "__main__":
    main()
