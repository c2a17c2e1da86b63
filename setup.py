"""pip install .  and  pip wheel . , without a network: CMake builds, setuptools packs.

The wheel holds the library inside the extension module, which is of the stable ABI of Python 3.11:
one wheel for 3.11 and all later versions. There is no pyproject.toml, so that pip looks for nothing
elsewhere; where pip wants to all the same, --no-build-isolation says no.

Everything is built under build-python, beside the build of `make` and not in it. VEM_BUILD=DIR names
a build tree to use (and to leave there) instead.
"""

import os
import re
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

TOP = os.path.dirname(os.path.abspath(__file__))


def version():
    with open(os.path.join(TOP, "include", "vem", "vem.h"), encoding="utf-8") as header:
        return re.search(r'#define VEM_VERSION "([^"]+)"', header.read()).group(1)


class build_by_cmake(build_ext):
    """The extension module, as python/CMakeLists.txt says."""

    def build_extension(self, ext):
        given = os.environ.get("VEM_BUILD")
        folder = os.path.abspath(given or os.path.join(self.build_temp, "cmake"))
        jobs = str(os.cpu_count() or 1)
        if not given:
            subprocess.run(["cmake", "-S", TOP, "-B", folder, "-DCMAKE_BUILD_TYPE=Release",
                            "-DVEM_TESTS=OFF", "-DVEM_WERROR=OFF", "-DVEM_PYTHON_PACKAGE=ON",
                            "-DVEM_PYTHON=" + sys.executable], check=True)
        subprocess.run(["cmake", "--build", folder, "--target", "vem_python", "-j", jobs],
                       check=True)
        place = self.get_ext_fullpath(ext.name)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        shutil.copy(os.path.join(folder, "python", "vem", "_vem.abi3.so"), place)


with open(os.path.join(TOP, "README.md"), encoding="utf-8") as readme:
    description = readme.read()

setup(
    name="vem",
    version=version(),
    description="Clustering as maximisation of one free energy",
    long_description=description,
    long_description_content_type="text/markdown",
    license_files=["LICENSE"],
    packages=["vem"],
    package_dir={"vem": "python/vem"},
    package_data={"vem": ["py.typed", "*.pyi"]},
    ext_modules=[Extension("vem._vem", sources=[], py_limited_api=True)],
    cmdclass={"build_ext": build_by_cmake},
    options={"bdist_wheel": {"py_limited_api": "cp311"}, "build": {"build_base": "build-python"}},
    python_requires=">=3.11",
    install_requires=["numpy>=1.22", "scipy", "scikit-learn>=1.2"],
    extras_require={"progress": ["tqdm"]},
    zip_safe=False,
)
