#!/usr/bin/env python3
"""pip wheel . gives one abi3 wheel that holds the library, without a network; installed elsewhere it
works. CMake installs the package, too. (The objects are those of the build tree: VEM_BUILD.)"""
import glob
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile

from package_case import LIMIT, SOURCE, VEM, Case, main, vem

BUILD = os.path.dirname(os.path.abspath(VEM))
TRY = ("import sys, numpy as np, vem; print(vem.__file__); "
       "print(vem.KMeans(2, random_state=0).fit_predict(np.eye(4)).shape)")

# Tables that Python's own types and modules are made of, which it takes without const.
OF_PYTHON = {"definition", "slots", "spec", "methods", "properties", "table_methods",
             "data_methods", "model_methods", "fit_methods", "select_methods", "use_methods",
             "tree_methods", "stream_methods", "arrow_methods", "index_methods"}
# Written once, when it is loaded: the option table with its names and words. Never written: numbers
# that C tests change. A lock: HDF5's library does one thing at a time.
OF_THE_LIBRARY = {"table", "names", "words", "vem_i_starts_light", "vem_i_worth_leaving",
                  "vem_i_bounds_columns", "vem_i_collect_sharded", "vem_i_collect_wave", "turn"}
OF_THE_COMPILER = {"completed", "__dso_handle", "__TMC_END__", "__cpu_model", "__cpu_features2"}
# Folders that an extension module is built from.
PARTS = ("python", "include", "cmake", "cli", "src")


def run(*words, **keywords):
    done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT, check=False,
                          **keywords)
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def install(prefix, **environment):
    run("cmake", "--install", BUILD, "--prefix", prefix, "--component", "python",
        env=dict(os.environ, **environment))


class Wheel(Case):
    def source(self):
        """A copy of what the package is built from, so that the checkout stays as it is."""
        top = self.path("source")
        os.makedirs(os.path.join(top, "docs"))
        for name in ("setup.py", "README.md", "LICENSE", "CMakeLists.txt", "MANIFEST.in",
                     "vem.pc.in", "docs/vem.1", "docs/libvem.3"):
            shutil.copy(os.path.join(SOURCE, name), os.path.join(top, name))
        for name in PARTS:
            shutil.copytree(os.path.join(SOURCE, name), os.path.join(top, name))
        return top

    def unpacked(self):
        """What an sdist of it holds, with all that CMake needs."""
        top = self.source()
        run(sys.executable, "setup.py", "-q", "sdist", "-d", self.path("dist"), cwd=top)
        (archive,) = glob.glob(self.path("dist/*.tar.gz"))
        with tarfile.open(archive) as packed:
            packed.extractall(self.path("unpacked"))
        (there,) = glob.glob(self.path("unpacked/vem-*"))
        for part in PARTS:
            for folder, _, names in os.walk(os.path.join(top, part)):
                place = os.path.relpath(folder, top)
                for name in names:
                    if not name.endswith(".pyc"):
                        self.assertTrue(os.path.exists(os.path.join(there, place, name)), name)
        run("cmake", "-S", there, "-B", self.path("configured"), "-DVEM_TESTS=OFF",
            "-DVEM_PYTHON_PACKAGE=ON", "-DVEM_PYTHON=" + sys.executable)
        return there

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
        there = self.unpacked()
        for _ in range(2):  # once more, where it was built before
            run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-index", "-w",
                self.path("wheels"), there, env=dict(os.environ, VEM_BUILD=BUILD))
        # The build of make is not touched.
        self.assertFalse(os.path.exists(os.path.join(there, "build")))
        self.assertTrue(os.path.exists(os.path.join(there, "build-python")))
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

    def test_nothing_static_changes(self):
        # Threads without an interpreter lock (Debian 12 has no such Python to try it with) share
        # nothing but what the module holds for all of them: that is constant, or Python's own tables.
        library = os.path.join(BUILD, "python", "vem", "_vem.abi3.so")
        found = set()
        for line in run("readelf", "-SW", library).splitlines():
            words = line.replace("[ ", "[").split()
            if len(words) > 2 and words[1] in (".data", ".bss", ".tdata", ".tbss"):
                found.add(words[0].strip("[]"))
        self.assertTrue(found)
        changing = {words[7].split("@")[0] for words in
                    (line.split() for line in run("readelf", "-sW", library).splitlines())
                    if len(words) > 7 and words[6] in found and words[3] in ("OBJECT", "TLS")}
        changing = {name.split(".")[0] for name in changing}
        self.assertLessEqual(changing, OF_PYTHON | OF_THE_LIBRARY | OF_THE_COMPILER)
        self.assertIn("definition", changing)  # it does see what there is

    def test_another_interpreter(self):
        # The module is initialised in phases, and has its state in itself: a second interpreter of
        # the process loads it, too. (It is not said to those that have a lock of their own:
        # Py_mod_multiple_interpreters is of 3.12, the limited API here of 3.11.)
        try:
            import _xxsubinterpreters as interpreters
        except ImportError:
            self.skipTest("this Python does not tell of its interpreters")
        text = ("import importlib.machinery as m, importlib.util as u\n"
                f"s = u.spec_from_file_location('vem._vem', {vem._vem.__file__!r})\n"
                "v = u.module_from_spec(s); s.loader.exec_module(v)\n"
                "import array\n"
                "x = memoryview(array.array('d', range(40))).cast('B').cast('d', (20, 2))\n"
                "model, report, raised = v.fit(v.borrow(x), {'clusters': 2})\n"
                "assert model.shape == (2, 2) and raised is None\n")
        for _ in range(2):
            other = interpreters.create()
            try:
                interpreters.run_string(other, text)
            finally:
                interpreters.destroy(other)
        self.assertIsNotNone(vem.KMeans(2).fit([[0.0], [1.0], [5.0]]).labels_)

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
        # A prefix with an interpreter of its own finds it without being told.
        prefix = self.path("prefix")
        run(sys.executable, "-m", "venv", "--without-pip", "--system-site-packages", prefix)
        install(prefix)
        out = run(os.path.join(prefix, "bin", "python"), "-c", TRY, cwd=self._folder.name,
                  env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"})
        self.assertTrue(out.startswith(prefix), out)
        self.assertIn("(4,)", out)

    def test_cmake_install_where_python_looks(self):
        # Debian's Python looks elsewhere under /usr/local than under /usr.
        searched = run(sys.executable, "-c",
                       "import site; print(*site.getsitepackages(), sep='\\n')").split()
        prefixes = {folder[:folder.index("/lib/")] for folder in searched}
        self.assertTrue(prefixes)
        for number, prefix in enumerate(sorted(prefixes)):
            stage = self.path(f"stage{number}")
            install(prefix, DESTDIR=stage)
            (module,) = glob.glob(stage + "/**/_vem.abi3.so", recursive=True)
            folder = os.path.dirname(os.path.dirname(module))[len(stage):]
            self.assertIn(folder, searched, prefix)
            self.assertTrue(folder.startswith(prefix + "/lib/"), folder)


if __name__ == "__main__":
    main()
