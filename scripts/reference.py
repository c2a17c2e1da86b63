#!/usr/bin/env python3
"""The comments of the public headers, as a reference needs them.

scripts/reference.py --check        every public name has a comment: a line for each that has none
scripts/reference.py --man          docs/libvem.3: rules, and what is said of each function
scripts/reference.py --filter FILE  the header as Doxygen reads it (INPUT_FILTER of Doxyfile)

A comment belongs to what begins in the next line, or to what ends before it in the same line.
Names in one declaration share one; so do macros in lines one after the other. Rows of the tables (X macros) are
documented by their own text. Sections, /* ---- like this ---- */, belong to nothing.
"""

import glob
import os
import re
import sys
import textwrap

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
TOKEN = re.compile(
    r"(?P<comment>/\*.*?\*/)|(?P<macro>^#(?:[^\n]*\\\n)*[^\n]*)|(?P<space>\s+)|(?P<text>.)",
    re.DOTALL | re.MULTILINE,
)
# What a row of a table becomes where the header uses the table, by the macro it is used with.
ROWS = {
    "VEM_FAMILY_KIND_ROW": "{0}, /**< {3} */",
    "VEM_SEARCH_VALUE": "VEM_SEARCH_{0}, /**< {1}: see #VEM_SEARCH_TABLE */",
    "VEM_SELECT_VALUE": "VEM_SELECT_{0}, /**< {2}: {3} */",
    "VEM_DENDROGRAM_VALUE": "VEM_DENDROGRAM_{0}, /**< {1}: {2} */",
    "VEM_PAIRS_VALUE": "VEM_PAIRS_{0}, /**< {1}: {2} */",
    "VEM_OPTION_MEMBER": "{type} {1}; /**< {7} */",
}
TYPES = {"INT": "int64_t", "REAL": "double", "CHOICE": "int", "FLAG": "int"}


class Item:
    """A declaration, a macro or a comment: where it lies, and the comments that belong to it."""

    def __init__(self, kind, start, end, text):
        self.kind, self.start, self.end, self.text = kind, start, end, text
        self.before = self.after = None
        self.ends_with = ""


def split(text, start, end, ends):
    """Items of text[start:end]; declarations end with one of `ends` outside of any bracket."""
    items, begin, last, depth = [], None, start, 0
    place = start
    while place < end:
        token = TOKEN.match(text, place, end)
        place = token.end()
        if token.lastgroup == "comment" and depth == 0:
            items.append(Item("comment", token.start(), place, token.group()))
            continue
        if token.lastgroup == "macro" and depth == 0:
            items.append(Item("macro", token.start(), place, token.group()))
            continue
        if token.lastgroup != "text":
            continue
        if begin is None:
            begin = token.start()
        last = place
        depth += token.group() in "{(["
        depth -= token.group() in "})]"
        if depth == 0 and token.group() in ends:
            items.append(Item("declaration", begin, place, text[begin:place]))
            items[-1].ends_with = token.group()
            begin = None
    if begin is not None:  # the last value of an enum
        items.append(Item("declaration", begin, last, text[begin:last]))
    return sorted(items, key=lambda item: item.start)


def belongs(text, items):
    """Gives each declaration and macro its comments."""
    comments = [item for item in items if item.kind == "comment"]
    for item in items:
        if item.kind == "comment":
            continue
        for comment in comments:
            if comment.text.startswith("/* ----"):
                continue
            if comment.end <= item.start and re.fullmatch(r"\n[ \t]*", text[comment.end : item.start]):
                line = text[text.rfind("\n", 0, comment.start) + 1 : comment.start]
                if not line.strip():
                    item.before = comment
            if comment.start >= item.end and re.fullmatch(r"[ \t]*", text[item.end : comment.start]):
                item.after = comment
    return items


def body_of(item):
    """Where the members of a struct or an enum lie, and what separates them."""
    match = re.match(r"(?:typedef )?(struct|enum)\b[^{;(]*\{", item.text)
    if not match:
        return None
    return item.start + match.end(), item.start + item.text.rindex("}"), match.group(1)


def members(text, item):
    place = body_of(item)
    if not place:
        return []
    start, end, kind = place
    return belongs(text, split(text, start, end, ",;" if kind == "struct" else ","))


def name_of(item):
    text = re.sub(r"/\*.*?\*/", "", item.text, flags=re.DOTALL)
    if item.kind == "macro":
        match = re.match(r"#define (\w+)", text)
        return match.group(1) if match else None
    pointer = re.search(r"\(\*(\w+)\)", text)
    if pointer:
        return pointer.group(1)
    call = re.search(r"\b(vem_\w+)\s*\(", text)
    if call and "{" not in text:
        return call.group(1)
    if "{" in text:
        text = text[text.rindex("}") :]
    words = re.findall(r"\w+(?=\s*(?:\[\w+\]\s*)*[,;]?\s*$)", text.split("=")[0].strip())
    return words[0] if words else None


def share(items):
    """Names of one declaration share the comment of the next or, before it, of the first."""
    for item, following in zip(reversed(items[:-1]), reversed(items[1:])):
        if item.ends_with == "," and not item.after:
            item.after = following.after
    for item, following in zip(items[:-1], items[1:]):
        if item.ends_with == "," and not following.before:
            following.before = item.before


def read(path):
    """The text; what makes it C++ becomes spaces, so that places stay."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return re.sub(r"(?<=#ifdef __cplusplus\n)(.*?)(?=#endif)",
                  lambda found: re.sub(r"[^\n]", " ", found.group()), text, flags=re.DOTALL)


def line_of(text, place):
    return text.count("\n", 0, place) + 1


def own_parts(text, item):
    """Members or values of a declaration, with the comments that they have or share."""
    parts = [part for part in members(text, item) if part.kind == "declaration"]
    if parts and body_of(item)[2] == "struct":
        share(parts)
    return parts


def public(text):
    """Declarations and macros of a header; no directives, no guards."""
    macro = None
    for item in belongs(text, split(text, 0, len(text), ";")):
        if item.kind == "macro":
            if macro and text[macro.end : item.start] == "\n":
                item.before = item.before or macro.before
            macro = item
        name = "" if item.kind == "comment" else name_of(item) or item.text.startswith("enum {")
        if name and not str(name).endswith("_H"):
            yield item


def check(path):
    """Line and name of what has no comment."""
    text = read(path)
    for item in public(text):
        name = name_of(item)
        if not item.before and not item.after:
            yield line_of(text, item.start), name or item.text
        if item.text.startswith("enum {"):  # constants: their comment is that of all
            continue
        for part in own_parts(text, item):
            if not part.before and not part.after and not re.match(r"VEM_\w+_TABLE(_\d)?\(", part.text):
                yield line_of(text, part.start), f"{name}.{name_of(part)}"


def rows_of(text, table):
    """The rows of an X macro: lists of their columns, literals that stand together as one."""
    body = re.search(rf"#define {table}\(X\)((?:.*\\\n)*.*)", text).group(1).replace("\\\n", " ")
    for row in split(body, 0, len(body), ")"):
        inside = row.text[row.text.index("(") + 1 : -1]
        columns, begin, depth, quoted = [], 0, 0, False
        for place, sign in enumerate(inside):
            quoted ^= sign == '"'
            depth += not quoted and (sign == "(") - (sign == ")")
            if sign == "," and not depth and not quoted:
                columns.append(inside[begin:place])
                begin = place + 1
        columns.append(inside[begin:])
        yield [re.sub(r'"\s*"', "", column.strip()).strip('"') for column in columns]


def put_rows(whole, use):
    """What stands in the reference where a table is used."""
    table, macro = use.group(1), use.group(2)
    if macro not in ROWS:
        return use.group()
    lines = [
        "    " + ROWS[macro].format(*row, type=TYPES.get(row[0]))
        for row in rows_of(whole, table)
    ]
    return "\n" + "\n".join(lines) + "\n"


def told(comment, mark):
    return comment.text.replace("/*", mark, 1) if comment else ""


def for_doxygen(path):
    """The header with /** before and /**< behind what a comment belongs to."""
    text = read(path)
    edits = [(0, 2, "/** @file\n *")]
    for item in public(text):
        parts = own_parts(text, item)
        if item.kind == "macro" and item.before and text[item.before.end : item.start] != "\n":
            edits.append((item.start, item.start, told(item.before, "/**") + "\n"))
        for owner in [item, *parts]:
            if owner.before:
                edits.append((owner.before.start, owner.before.start + 2, "/**"))
            if owner.after:
                edits.append((owner.after.start, owner.after.start + 2, "/**<"))
        # Names that share a comment are declared one by one, each with it.
        type_of = ""
        for place, part in enumerate(parts):
            first = place == 0 or parts[place - 1].ends_with == ";"
            if first:
                type_of = re.match(r"(?:(?:const|struct) )*\w+", part.text).group() + " "
            if part.ends_with == "," and body_of(item)[2] == "struct":
                if part.after and part.after.start < parts[place + 1].start:  # its own
                    edits.append((part.end - 1, part.end, ";"))
                    edits.append((part.after.end, part.after.end, "\n" + type_of))
                else:
                    note = told(part.after or part.before, "/**<")
                    edits.append((part.end - 1, part.end, f"; {note}\n{type_of}"))
    for start, end, new in sorted(set(edits), reverse=True):
        text = text[:start] + new + text[end:]
    # A part of vem.h, read by itself.
    text = re.sub(r'#ifndef VEM_VEM_H\n#include "vem.h"\n#elif !defined\((\w+)\)', r"#ifndef \1", text)
    whole = read(path)
    return re.sub(r"(VEM_\w+_TABLE(?:_\d)?)\((VEM_\w+)\)(?= *VEM_\w+_COUNT| *\}|\n\}|\n *int :)",
                  lambda use: put_rows(whole, use), text)


# ---- The manual page ----


def roff(text):
    """Plain text for roff: typed dashes and backslashes stay, no line is a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^(?=[.'])", r"\\&", text, flags=re.MULTILINE)


def plain(comment):
    """Paragraphs of a comment."""
    text = re.sub(r"^/\*+|\*/$", "", comment.strip())
    return re.sub(r"^ ?\* ?", "", text, flags=re.MULTILINE).strip()


def prototype(text):
    """A declaration in lines of 72 characters."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    words = " ".join(text.split()).removeprefix("VEM_API ").replace(" *", "~*")  # one word
    return textwrap.fill(words, 72, subsequent_indent="    ").replace("~", " ")


def functions(path):
    """(section, function, prototype, what it does) of a header."""
    text = read(path)
    sections = [(found.start(), found.group(1))
                for found in re.finditer(r"^/\* ---- (.*?) ---- \*/", text, re.MULTILINE)]
    for item in public(text):
        if item.kind == "declaration" and item.text.startswith("VEM_API"):
            section = [name for start, name in sections if start < item.start][-1]
            yield section, name_of(item), prototype(item.text), plain((item.before or item.after).text)


def man_page():
    vem = os.path.join(ROOT, "include", "vem", "vem.h")
    text = read(vem)
    version = re.search(r'VEM_VERSION "(.*)"', text).group(1)
    yield '.\\" Made by "scripts/reference.py \\-\\-man" from the public headers.'
    yield f'.TH LIBVEM 3 "" "vem {version}" "Library Functions"'
    yield ".SH NAME\nlibvem \\- clustering as maximisation of one free energy"
    yield ".SH SYNOPSIS\n.nf\n.B #include <vem/vem.h>\n.PP"
    yield ".B cc program.c $(pkg\\-config \\-\\-cflags \\-\\-libs vem)\n.fi\n.SH DESCRIPTION"
    paragraphs = plain(re.match(r"/\*.*?\*/", text, re.DOTALL).group()).split("\n\n")
    for paragraph in paragraphs[1:]:
        if paragraph.startswith("    "):
            yield f".PP\n.nf\n{roff(paragraph)}\n.fi"
        else:
            yield f".PP\n{roff(paragraph)}"
    parts = [part + ".h" for part in re.findall(r'^#include "(\w+)\.h"$', text, re.MULTILINE)]
    last = None
    for header in ["vem.h", *parts, "mpi.h", "parts.h"]:
        for section, name, how, what in functions(os.path.join(os.path.dirname(vem), header)):
            if section != last:
                yield f".SH {roff(section.upper())}\nIn <vem/{header}>."
                last = section
            yield f".TP\n.BR {name} ()\n.nf\n{roff(how)}\n.fi\n{roff(what)}"
    with open(os.path.join(ROOT, "examples", "fit_array.c"), encoding="utf-8") as file:
        yield f".SH EXAMPLES\n.nf\n{roff(file.read().rstrip())}\n.fi"
    yield ".SH SEE ALSO\n.BR vem (1)\n.PP\nThe headers have the types, too; \\(lqmake reference\\(rq makes pages of"
    yield "them."


def main():
    if sys.argv[1:] == ["--man"]:
        print("\n".join(man_page()))
        return 0
    if sys.argv[1:2] == ["--filter"] and len(sys.argv) == 3:
        sys.stdout.write(for_doxygen(sys.argv[2]))
        return 0
    if sys.argv[1:] != ["--check"]:
        sys.exit(__doc__)
    wrong = 0
    for path in sorted(glob.glob(os.path.join(ROOT, "include", "vem", "*.h"))):
        for line, name in check(path):
            print(f"{os.path.relpath(path, ROOT)}:{line}: {name} has no comment.")
            wrong = 1
    return wrong


if __name__ == "__main__":
    sys.exit(main())
