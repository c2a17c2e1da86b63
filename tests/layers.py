#!/usr/bin/env python3
"""The order of the layers, read from the #include lines, and who may name a family.

A file may include headers of its own layer and of lower ones. Layers in one row stand side by
side and do not see each other. Inside a layer a module (a header and the .c files of its name,
x.c and x_more.c with x.h) may not see another that sees it, however far round. The command
and the Python module see the public header and their own files only. A family is known by what
it says of itself (src/model/contract.h): beside src/model/ only the files in NAMES_FAMILIES name
one, and none asks how its shapes and second moments lie (src/model/moments.h, LAYOUT). A search
likewise (src/search/search.h, NAMES_SEARCHES).
And no number with a decimal sign is printed but by src/base/plain.h, the same in every locale.
No two types of src/ have one name.

A rule that finds nothing may be blind: each is shown a line that it must refuse (PLANTS), at every run.
"""

import functools
import os
import re
import sys

ROWS = [
    ["base"],
    ["kernels", "comm"],
    ["data"],
    ["model"],
    ["coarse", "io"],
    ["search"],
    ["seed"],
    ["em"],
    ["moves"],
    ["metrics"],
    ["use"],
    ["fit"],
    ["select"],
    ["api"],
]
# The engine neither reads nor writes files. A fit writes its state.
ONLY_FOR = {"io": {"io", "fit", "api"}}
# The table of presets says which family a paper's algorithm has.
NAMES_FAMILIES = {"fit/presets.c"}
ROW_OF = {layer: row for row, layers in enumerate(ROWS) for layer in layers}
# Nobody asks which search it is (src/search/search.h): only these name a kind. The presets
# choose one, the options list them.
MOVE = re.compile(r"\bVEM_I_MOVE_[A-Z_]+\b")
NAMES_SEARCHES = {"search", "fit/presets.c"}
SEARCH_KIND = re.compile(r"\bVEM_SEARCH_(?!TABLE\b|COUNT\b|CHOICES\b)[A-Z_]+\b")
# How shapes and second moments lie is known in src/model/ alone: others ask moments.h, or the
# family in a word (contract.h: vem_i_is_round, ...).
LAYOUT = re.compile(r"\bshape_axes\b|\bvem_family_axes\b")
# A family says what an asker needs (contract.h: has_places, vem_i_support_of, ...): that it is
# one of counts is known in src/model/ alone.
COUNTS = re.compile(r"\bof_counts\b|\bvem_i_counts\w*|\"model/counts\.h\"")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
PUBLIC = "vem/vem.h"
# Public headers that vem.h does not include.
BESIDE = {PUBLIC, "vem/mpi.h", "vem/parts.h"}
FAMILY = re.compile(r"^    X\((VEM_\w+),", re.MULTILINE)


def sources(top):
    for folder, _, names in os.walk(top):
        for name in sorted(names):
            if name.endswith((".c", ".h", ".inc")):
                yield os.path.join(folder, name)


@functools.cache
def written(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


# Lines that a test of a rule adds to a file, by its path.
planted = {}


def text_of(path):
    return written(path) + planted.get(os.path.abspath(path), "")


def includes(path):
    return INCLUDE.findall(text_of(path))


def check_library(root):
    top = os.path.join(root, "src")
    for path in sources(top):
        name = os.path.relpath(path, top)
        layer = name.split(os.sep)[0]
        if layer not in ROW_OF:
            yield f"src/{name}: '{layer}' is not a layer; add it to ROWS in tests/layers.py."
            continue
        for include in includes(path):
            if include in BESIDE:
                continue
            other = include.split("/")[0]
            if other not in ROW_OF or not os.path.exists(os.path.join(top, include)):
                yield f'src/{name}: "{include}" is not a header under src/.'
            elif layer not in ONLY_FOR.get(other, ROW_OF):
                yield f"src/{name}: only {sorted(ONLY_FOR[other])} may see {other} ({include})."
            elif other != layer and ROW_OF[other] >= ROW_OF[layer]:
                yield f"src/{name}: layer {layer} must not see layer {other} ({include})."


def module_of(name, headers):
    """The module of a file: its name without what follows the name of a header."""
    whole = module = os.path.splitext(name)[0]
    if whole.endswith("_inside"):
        return whole[: -len("_inside")]
    while module + ".h" not in headers:
        if "_" not in os.path.basename(module):
            return whole
        module = module.rsplit("_", 1)[0]
    return module


def check_circles(root):
    top = os.path.join(root, "src")
    names = [os.path.relpath(path, top) for path in sources(top)]
    headers = {name for name in names if name.endswith(".h") and "_inside" not in name}
    sees = {}
    for name in names:
        module = module_of(name, headers)
        others = {module_of(i, headers) for i in includes(os.path.join(top, name)) if i not in BESIDE}
        layer = name.split(os.sep)[0] + "/"
        sees.setdefault(module, set()).update(o for o in others - {module} if o.startswith(layer))

    def reached(module):
        found, left = set(), [module]
        while left:
            for other in sees.get(left.pop(), set()) - found:
                found.add(other)
                left.append(other)
        return found

    reach = {module: reached(module) for module in sees}
    for module in sorted(sees):
        circle = {other for other in reach[module] if module in reach.get(other, set())}
        if circle:
            yield f"src/{module}: sees itself by way of {sorted(circle - {module})}."


def check_searches(root):
    top = os.path.join(root, "src")
    for path in sources(top):
        name = os.path.relpath(path, top).replace(os.sep, "/")
        if name in NAMES_SEARCHES or name.split("/")[0] in NAMES_SEARCHES:
            continue
        for kind in sorted(set(SEARCH_KIND.findall(text_of(path)))):
            yield f"src/{name}: names {kind}; ask the spec or its type (search/search.h)."


# A public function begins at the start of a line and ends at a brace there.
BODY = re.compile(r"^[a-z][\w *]*?\b(vem_(?!i_)\w+)\(vem_ctx \*ctx\b.*?^}", re.MULTILINE | re.DOTALL)
CALL = re.compile(r"\b(vem_(?!i_)\w+)\(\s*(?:\w+(?:->|\.))*ctx\b")


def check_verbs(root):
    """A verb calls no verb: that would begin a run of its own from the context, without the threads,
    the limit, the deadline, the watch and the processes of the one that called it. What has no run of
    its own may stand for a verb (vem_classes_read)."""
    texts = {}
    top = os.path.join(root, "src")
    for path in sources(top):
        texts[os.path.relpath(path, top).replace(os.sep, "/")] = text_of(path)
    verbs = {body.group(1) for text in texts.values() for body in BODY.finditer(text)
             if "vem_i_begin(" in body.group()}
    if "vem_fit" not in verbs:
        yield "tests/layers.py: the verbs of src/ were not understood."
    for name, text in texts.items():
        stands_for = [body.span() for body in BODY.finditer(text) if "vem_i_" not in body.group()]
        for call in CALL.finditer(text):
            if call.group(1) in verbs and not any(a < call.start() < b for a, b in stands_for):
                line = text.count("\n", 0, call.start()) + 1
                yield (f"src/{name}:{line}: calls {call.group(1)}, which begins a run of its own; "
                       f"call what it does with the run.")


def check_moves(root):
    """The loop asks moves for what matters; their names are for the trace."""
    top = os.path.join(root, "src", "em")
    for path in sources(top):
        name = os.path.basename(path)
        if name.startswith("trace."):
            continue
        for move in sorted(set(MOVE.findall(text_of(path)))):
            yield f"src/em/{name}: names {move}; ask the move (em/move.h)."


def check_outside(root, folder):
    top = os.path.join(root, folder)
    for path in sources(top):
        for include in includes(path):
            if include not in BESIDE and not os.path.exists(os.path.join(top, include)):
                yield (
                    f"{folder}/{os.path.basename(path)}: {folder} sees only "
                    f"<{PUBLIC}> and its own headers, not \"{include}\"."
                )


def families(root):
    """The kinds in the lines of VEM_FAMILY_TABLE."""
    text = written(os.path.join(root, "include", PUBLIC))
    start = text.index("#define VEM_FAMILY_TABLE(X)")
    return FAMILY.findall(text[start : text.index("\n\n", start)])


def check_families(root):
    kinds = families(root)
    if not kinds:
        yield "include/vem/vem.h: the lines of VEM_FAMILY_TABLE were not understood."
        return
    named = re.compile(r"\b(" + "|".join(kinds) + r")\b")
    for folder in ("src", "cli"):
        top = os.path.join(root, folder)
        for path in sources(top):
            name = os.path.relpath(path, top)
            if folder == "src" and (name.startswith("model" + os.sep) or name in NAMES_FAMILIES):
                continue
            for kind in sorted(set(named.findall(text_of(path)))):
                yield (f"{folder}/{name} names {kind}: ask the family for what matters "
                       f"(src/model/contract.h).")


def check_layout(root):
    top = os.path.join(root, "src")
    rules = ((LAYOUT, "how shapes lie; use src/model/moments.h or a word of the family "
                      "(src/model/contract.h)"),
             (COUNTS, "whether a family is one of counts; use a word of the family that says what "
                      "is needed (src/model/contract.h)"))
    for asked, instead in rules:
        known = 0
        for path in sources(top):
            name = os.path.relpath(path, top).replace(os.sep, "/")
            for line, text in enumerate(text_of(path).splitlines(), 1):
                if not asked.search(text):
                    continue
                if name.startswith("model/"):
                    known += 1
                else:
                    yield f"src/{name}:{line}: asks {instead}."
        if not known:
            yield f"tests/layers.py: src/model/ has nothing of {asked.pattern}; the rule is blind."


PRINTS = re.compile(r'\bv?(?:sn|s|f)printf\s*\(((?:"(?:[^"\\]|\\.)*"|[^";])*);')
REAL = re.compile(r"%[-+ #0-9.*]*[aefgAEFG]")
# Under a locale that whoever calls them sets (src/io/svg.h).
PRINTED_PLAINLY = {"base/plain.c", "io/svg.c", "io/clustergram_print.c"}


def check_locale(root):
    top = os.path.join(root, "src")
    for path in sources(top):
        name = os.path.relpath(path, top).replace(os.sep, "/")
        text = text_of(path)
        if name in PRINTED_PLAINLY or "vem_i_plain_begin" in text:
            continue
        for call in PRINTS.findall(text):
            if any(real != "%.0f" for real in REAL.findall(call.replace("%%", ""))):
                yield (f"src/{name}: prints a number as the locale has it; say vem_i_plain_print "
                       f"({' '.join(call.split())[:60]}).")


# A type that files share: a definition, not a name that stands for one that follows.
TYPE = re.compile(r"^(?:typedef )?(?:struct|enum|union) (vem_\w+) \{", re.MULTILINE)
NAMED = re.compile(r"^typedef [^;{]*\b(vem_\w+);|^typedef [^;{]*\(\*?(vem_\w+)\)\(|"
                   r"^typedef \w+ (vem_\w+)\(", re.MULTILINE)


def check_types(root):
    """One name, one type: who searches for it finds it."""
    top = os.path.join(root, "src")
    found = {}
    for path in sources(top):
        name, text = os.path.relpath(path, top).replace(os.sep, "/"), text_of(path)
        for kind in TYPE.findall(text):
            found.setdefault(kind, []).append(name)
        for match in NAMED.finditer(text):
            kind = next(filter(None, match.groups()))
            if not re.search(r"\b(?:struct|enum|union) " + kind + r"\b", match.group()):
                found.setdefault(kind, []).append(name)
    for kind, names in sorted(found.items()):
        if len(names) > 1:
            yield f"src/{names[1]}: {kind} is a type of src/{names[0]} too."


def check_folders(root):
    for folder in ("cli", "examples", "python/src"):
        yield from check_outside(root, folder)


RULES = [check_library, check_circles, check_families, check_searches, check_layout, check_moves,
         check_verbs, check_locale, check_types, check_folders]
# What each must refuse, and where it stands.
PLANTS = [
    (check_library, "src/em/em.c", '#include "fit/programme.h"'),
    (check_library, "src/em/em.c", '#include "io/%s"' % "files.h"),
    (check_library, "src/em/em.c", '#include "em/%s"' % "nothing.h"),
    (check_circles, "src/em/move.h", '#include "em/em.h"'),
    (check_families, "src/em/em.c", "VEM_DIAG"),
    (check_families, "src/em/em.c", "VEM_FULL_SHARED"),
    (check_families, "cli/main.c", "VEM_POISSON"),
    (check_searches, "src/em/em.c", "VEM_SEARCH_ALL"),
    (check_searches, "src/em/em.c", "VEM_SEARCH_TWO_WORDS"),
    (check_layout, "src/em/em.c", "family->shape_axes"),
    (check_layout, "src/em/em.c", "family->of_counts"),
    (check_moves, "src/em/em.c", "VEM_I_MOVE_SWAP"),
    (check_moves, "src/em/em.c", "VEM_I_MOVE_SPLIT_JOIN"),
    (check_verbs, "src/api/fit.c", "    return vem_fit(f->run.ctx, data);"),
    (check_locale, "src/em/em.c", 'snprintf(text, 9, "%.3f", x);'),
    (check_types, "src/em/em.c", "typedef struct vem_i_estep {"),
    (check_types, "src/em/em.c", "typedef enum vem_i_stats {"),
    (check_types, "src/em/em.c", "typedef double vem_i_estep;"),
    (check_types, "src/em/em.c", "typedef int (*vem_i_estep)(int a);"),
    (check_folders, "cli/main.c", '#include "em/em.h"'),
    (check_folders, "examples/fit_array.c", '#include "em/em.h"'),
    (check_folders, "python/src/call.c", '#include "em/em.h"'),
]


def check_rules(root):
    for rule in RULES:
        if not any(plant[0] is rule for plant in PLANTS):
            yield f"tests/layers.py: {rule.__name__} has nothing in PLANTS."
    clean = {rule: set(rule(root)) for rule in RULES}
    for rule, name, line in PLANTS:
        path = os.path.abspath(os.path.join(root, name))
        if not os.path.exists(path):
            yield f"tests/layers.py: PLANTS has {name}, which is no file."
            continue
        planted[path] = "\n" + line + "\n"
        if set(rule(root)) <= clean[rule]:
            yield f"tests/layers.py: {rule.__name__} is blind to '{line}' in {name}."
        planted.clear()


def main():
    root = os.environ.get("VEM_SOURCE") or os.path.join(os.path.dirname(__file__), "..")
    wrong = [line for rule in RULES for line in rule(root)] + list(check_rules(root))
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
