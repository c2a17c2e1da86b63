#!/usr/bin/env python3
"""What a user of the installed library meets.

The shared library exports exactly the functions that vem.h declares; the header is also C++; an
installed copy is found by pkg-config and by CMake, and the example builds and runs with each.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.environ["VEM_SOURCE"]
BUILD = os.path.dirname(os.environ["VEM"])
EXAMPLE = os.path.join(SOURCE, "examples", "fit_array.c")


def run(*command, **keywords):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **keywords)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} gave {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def check_exports(library):
    with open(os.path.join(SOURCE, "include", "vem", "vem.h"), encoding="utf-8") as file:
        header = file.read()
    declared = set(re.findall(r"VEM_API[^;(]*?\b(vem_\w+)\s*\(", header))
    symbols = run("nm", "-D", "--defined-only", library).splitlines()
    exported = {line.split()[2] for line in symbols if line.split()[1] in "TDBR"}
    assert len(declared) > 20, "the declarations of vem.h were not understood"
    assert exported == declared, (
        f"declared but not exported: {sorted(declared - exported)}; "
        f"exported but not declared: {sorted(exported - declared)}"
    )
    # A versioned name, so that programs keep running beside a newer major version.
    dynamic = run("readelf", "-d", library)
    assert re.search(r"SONAME.*libvem\.so\.\d+\.\d+\]", dynamic), dynamic


def check_cpp(folder):
    program = os.path.join(folder, "header.cpp")
    with open(program, "w", encoding="utf-8") as file:
        file.write("#include <vem/vem.h>\nint main() { return vem_version() == nullptr; }\n")
    include = "-I" + os.path.join(SOURCE, "include")
    run("c++", "-std=c++11", "-Wall", "-Werror", "-fsyntax-only", include, program)


def check_pkg_config(prefix, folder):
    path = os.path.join(library_folder(prefix), "pkgconfig")
    environment = dict(os.environ, PKG_CONFIG_PATH=path)
    flags = run("pkg-config", "--cflags", "--libs", "vem", env=environment).split()
    program = os.path.join(folder, "by_pkg_config")
    run("cc", EXAMPLE, "-o", program, *flags)
    out = run(program, env=dict(os.environ, LD_LIBRARY_PATH=library_folder(prefix)))
    assert out.count("cluster ") >= 3, out


def check_cmake(prefix, folder):
    with open(os.path.join(folder, "CMakeLists.txt"), "w", encoding="utf-8") as file:
        file.write(
            "cmake_minimum_required(VERSION 3.25)\nproject(user LANGUAGES C)\n"
            "find_package(vem 0.2 REQUIRED)\n"
            f"add_executable(by_cmake {EXAMPLE})\n"
            "target_link_libraries(by_cmake PRIVATE vem::vem)\n"
        )
    build = os.path.join(folder, "build")
    run("cmake", "-S", folder, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", build)
    run(os.path.join(build, "by_cmake"))


def library_folder(prefix):
    for folder, _, names in os.walk(prefix):
        if "libvem.so" in names:
            return folder
    sys.exit("libvem.so was not installed.")


def main():
    if not shutil.which("nm") or not shutil.which("c++") or not shutil.which("cmake"):
        print("nm, c++ or cmake is missing.")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        prefix = os.path.join(folder, "prefix")
        run("cmake", "--install", BUILD, "--prefix", prefix)
        check_exports(os.path.join(library_folder(prefix), "libvem.so"))
        check_cpp(folder)
        check_pkg_config(prefix, folder)
        check_cmake(prefix, folder)
        # The installed command finds its library by itself, wherever the prefix is.
        version = run(os.path.join(prefix, "bin", "vem"), "--version")
        assert re.search(r"\d+\.\d+\.\d+", version), version
    return 0


if __name__ == "__main__":
    sys.exit(main())
