#!/usr/bin/env python3
"""What a user of the installed library meets.

The shared library exports exactly the functions that the headers declare, under one version; an
installed copy is found by pkg-config and by CMake, and the examples in C and C++ build and run
with each, with the shared library and the static one. Each function that takes a pointer is given NULL
somewhere in test_null.c.
"""

import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.environ["VEM_SOURCE"]
BUILD = os.path.dirname(os.environ["VEM"])
EXAMPLES = os.path.join(SOURCE, "examples")
IN_C = os.path.join(EXAMPLES, "fit_array.c")
IN_CPP = os.path.join(EXAMPLES, "fit_vector.cpp")
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]

USER = """
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C CXX)
find_package(vem 99 QUIET)
if(vem_FOUND)
    message(FATAL_ERROR "vem 99 was found")
endif()
find_package(vem 0.1 REQUIRED) # what has been there is there
message(STATUS "version ${vem_VERSION}")
add_executable(in_c ${in_c})
add_executable(in_cpp ${in_cpp})
foreach(program in_c in_cpp)
    target_link_libraries(${program} PRIVATE vem::vem)
endforeach()
"""


def run(*command, **keywords):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **keywords)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} gave {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def header_version():
    with open(os.path.join(SOURCE, "include", "vem", "vem.h"), encoding="utf-8") as file:
        return re.search(r'VEM_VERSION "(.*)"', file.read()).group(1)


def read_all(*patterns):
    text = ""
    for pattern in patterns:
        for path in sorted(glob.glob(pattern)):
            with open(path, encoding="utf-8") as file:
                text += file.read()
    return text


def functions(prefix):
    """The functions that headers declare: their arguments, by name."""
    text = read_all(os.path.join(prefix, "include", "vem", "*.h"))
    found = re.findall(r"^VEM_API[^;(]*?\b(vem_\w+)\s*(\([^;]*\));", text, re.MULTILINE)
    assert len(found) > 150, "the declarations of the headers were not understood"
    return dict(found)


def check_null():
    """The functions of the source, and whether test_null.c has a call of each."""
    here = read_all(*(os.path.join(SOURCE, "tests", name) for name in ("test_null.c", "null_*.inc")))
    for name, arguments in functions(SOURCE).items():
        assert "*" not in arguments or name + "(" in here, f"test_null.c gives no NULL to {name}"


def values(enum):
    """The values of an enum of the headers, in their order, as words: VEM_MISSING_DROP is "drop"."""
    text = read_all(os.path.join(SOURCE, "include", "vem", "*.h"))
    inside = re.search(r"typedef enum %s \{(.*?)\}" % enum, text, re.DOTALL).group(1)
    names = re.findall(r"\bVEM_[A-Z0-9_]+", re.sub(r"/\*.*?\*/", "", inside, flags=re.DOTALL))
    shared = os.path.commonprefix(names) if enum != "vem_dtype" else "VEM_"
    shared = shared[: shared.rindex("_") + 1]
    return [name[len(shared) :].lower().replace("_", "-") for name in names]


def check_words():
    """Words and types that the Python package knows by their numbers are those of the headers, in order."""
    here = read_all(os.path.join(SOURCE, "python", "src", "*.c"), os.path.join(SOURCE, "python", "vem", "*.py"))
    for enum, name in {
        "vem_coreset_method": "coresets", "vem_generator": "generators", "vem_header": "headers",
        "vem_missing": "treatments",
    }.items():
        listed = re.search(r"const %s\[\] = \{(.*?)\}" % name, here, re.DOTALL).group(1)
        words = re.findall(r'"([^"]+)"', listed)
        assert words and words == values(enum)[: len(words)], f"{name} of Python: {words}, not {values(enum)}"
    types = re.findall(r"np\.(\w+)", re.search(r"_DTYPES = \((.*?)\)", here, re.DOTALL).group(1))
    held = ["float32" if word == "bfloat16" else word for word in values("vem_dtype")]  # NumPy has none
    assert types == held, f"_DTYPES are {types}, not {held}"


def check_nodes():
    """The version of each name that cmake/vem.map lists, and of all others. One node for each minor
    version: names that a release had are listed in the node they had then, and the last node, which takes
    what is new, is that of the version in work. Debian's packages need that version for them."""
    text = re.sub(r"/\*.*?\*/", "", read_all(os.path.join(SOURCE, "cmake", "vem.map")), flags=re.DOTALL)
    nodes = re.findall(r"(VEM_\w+) \{(.*?)\}", text, re.DOTALL)
    symbols = read_all(os.path.join(SOURCE, "debian", "libvem0.symbols"))
    since = dict(re.findall(r"^ \(symver\)(VEM_\w+) (\S+)$", symbols, re.MULTILINE))
    found = {}
    for node, names in nodes:
        assert ("vem_*" in names) == (node == nodes[-1][0]), f"{node}: names of a release are listed"
        found.update((name, node) for name in re.findall(r"vem_\w+(?=;)", names))
    assert list(since) == [node for node, _ in nodes], "debian/libvem0.symbols has other versions"
    last = nodes[-1][0]
    minor = header_version().rsplit(".", 1)[0]
    assert since[last] == minor + ".0", f"{last} is of {since[last]}; {minor} needs a node of its own"
    return {**found, "": last}


def check_exports(prefix, library):
    declared = set(functions(prefix))
    assert declared == set(functions(SOURCE)), "headers are missing in what was installed"
    symbols = [line.split() for line in run("nm", "-D", "--defined-only", library).splitlines()]
    # The version itself is an absolute symbol. Everything else has it behind its name.
    exported = {name for _, kind, name in symbols if kind != "A"}
    node = check_nodes()
    wanted = {name + "@@" + node.get(name, node[""]) for name in declared}
    assert exported == wanted, (
        f"declared but not exported: {sorted(wanted - exported)}; "
        f"exported but not declared: {sorted(exported - wanted)}"
    )
    dynamic = run("readelf", "-d", library)
    assert re.search(r"SONAME.*\[libvem\.so\.0\]", dynamic), dynamic


def check_output(out, program):
    lines = [line for line in out.splitlines() if re.match(r"cluster \d+: .*mean \(", line)]
    assert len(lines) == (2 if "cpp" in program else 3), out
    assert ("1000 rows, 5000 clusters" in out) == ("cpp" in program), out


def check_pkg_config(prefix, folder):
    libraries = library_folder(prefix)
    there = dict(os.environ, PKG_CONFIG_PATH=os.path.join(libraries, "pkgconfig"))
    assert run("pkg-config", "--modversion", "vem", env=there).strip() == header_version()
    flags = shlex.split(run("pkg-config", "--cflags", "--libs", "vem", env=there))
    assert not any("hdf5" in flag for flag in flags), flags
    private = shlex.split(run("pkg-config", "--cflags", "--libs", "--static", "vem", env=there))
    # The archive instead of the shared library that lies beside it.
    static = ["-l:libvem.a" if flag == "-lvem" else flag for flag in private]
    to_run = dict(os.environ, LD_LIBRARY_PATH=libraries)
    for name, words in {
        "c": ["cc", "-std=c11", *STRICT, IN_C, *flags],
        "c_static": ["cc", "-std=c11", *STRICT, IN_C, *static],
        "cpp": ["c++", "-std=c++11", *STRICT, IN_CPP, *flags],
    }.items():
        program = os.path.join(folder, name)
        run(*words, "-o", program)
        needs = "libvem.so.0" in run("readelf", "-d", program)
        assert needs == ("static" not in name), name
        check_output(run(program, env=to_run), name)


def check_cmake(prefix, folder):
    with open(os.path.join(folder, "CMakeLists.txt"), "w", encoding="utf-8") as file:
        file.write(USER)
    build = os.path.join(folder, "build")
    out = run(
        "cmake", "-S", folder, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-Din_c={IN_C}", f"-Din_cpp={IN_CPP}",
    )
    assert f"version {header_version()}" in out, out
    run("cmake", "--build", build)
    for name in ("in_c", "in_cpp"):
        check_output(run(os.path.join(build, name)), name)


def check_pages(prefix):
    """Manual pages and completion lie where programs look for them."""
    verbs = re.findall(r"^  vem ([a-z]+) ", run(os.environ["VEM"], "--help"), re.MULTILINE)
    pages = {f"man/man1/vem-{verb}.1" for verb in verbs} | {"man/man1/vem.1", "man/man3/libvem.3"}
    for name in pages | {
        "bash-completion/completions/vem", "zsh/site-functions/_vem", "fish/vendor_completions.d/vem.fish"
    }:
        path = os.path.join(prefix, "share", name)
        assert os.path.exists(path) and os.path.getsize(path) > 1000, path


def library_folder(prefix):
    for folder, _, names in os.walk(prefix):
        if "libvem.so" in names:
            return folder
    sys.exit("libvem.so was not installed.")


def main():
    check_null()
    check_words()
    if not shutil.which("nm") or not shutil.which("c++") or not shutil.which("cmake"):
        print("nm, c++ or cmake is missing.")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        # Staged as packagers do, then moved: nothing inside knows where it was to be.
        stage = os.path.join(folder, "stage")
        run("cmake", "--install", BUILD, "--prefix", "/opt/vem", env=dict(os.environ, DESTDIR=stage))
        prefix = os.path.join(folder, "prefix")
        os.rename(os.path.join(stage, "opt", "vem"), prefix)
        check_exports(prefix, os.path.join(library_folder(prefix), "libvem.so"))
        check_pkg_config(prefix, folder)
        check_cmake(prefix, folder)
        check_pages(prefix)
        # The installed command finds its library by itself, wherever the prefix is.
        version = run(os.path.join(prefix, "bin", "vem"), "--version")
        assert version.strip() == "vem " + header_version(), version
    return 0


if __name__ == "__main__":
    sys.exit(main())
