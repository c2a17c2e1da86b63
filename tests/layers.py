#!/usr/bin/env python3
"""The order of the layers, read from the #include lines.

A file may include headers of its own layer and of lower ones. Layers in one row stand side by
side and do not see each other. The command sees the public header and its own files only.
"""

import os
import re
import sys

ROWS = [
    ["base"],
    ["kernels"],
    ["data"],
    ["model"],
    ["io", "search"],
    ["seed"],
    ["em"],
    ["moves"],
    ["select"],
    ["metrics"],
    ["api"],
]
# Files are the business of the public verbs alone: the engine neither reads nor writes.
ONLY_FOR = {"io": {"io", "api"}}
ROW_OF = {layer: row for row, layers in enumerate(ROWS) for layer in layers}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
PUBLIC = "vem/vem.h"


def sources(top):
    for folder, _, names in os.walk(top):
        for name in sorted(names):
            if name.endswith((".c", ".h", ".inc")):
                yield os.path.join(folder, name)


def includes(path):
    with open(path, encoding="utf-8") as file:
        return INCLUDE.findall(file.read())


def check_library(root):
    top = os.path.join(root, "src")
    for path in sources(top):
        name = os.path.relpath(path, top)
        layer = name.split(os.sep)[0]
        if layer not in ROW_OF:
            yield f"src/{name}: '{layer}' is not a layer; add it to ROWS in tests/layers.py."
            continue
        for include in includes(path):
            if include == PUBLIC:
                continue
            other = include.split("/")[0]
            if other not in ROW_OF or not os.path.exists(os.path.join(top, include)):
                yield f'src/{name}: "{include}" is not a header under src/.'
            elif layer not in ONLY_FOR.get(other, ROW_OF):
                yield f"src/{name}: only {sorted(ONLY_FOR[other])} may see {other} ({include})."
            elif other != layer and ROW_OF[other] >= ROW_OF[layer]:
                yield f"src/{name}: layer {layer} must not see layer {other} ({include})."


def check_outside(root, folder):
    top = os.path.join(root, folder)
    for path in sources(top):
        for include in includes(path):
            if include != PUBLIC and not os.path.exists(os.path.join(top, include)):
                yield (
                    f"{folder}/{os.path.basename(path)}: {folder} sees only "
                    f"<{PUBLIC}> and its own headers, not \"{include}\"."
                )


def main():
    root = os.environ.get("VEM_SOURCE") or os.path.join(os.path.dirname(__file__), "..")
    wrong = list(check_library(root))
    for folder in ("cli", "examples"):
        wrong.extend(check_outside(root, folder))
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
