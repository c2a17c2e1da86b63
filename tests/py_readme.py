#!/usr/bin/env python3
"""The block that README.md asks a newcomer to paste works, word for word."""

import os
import re
import shlex
import shutil
import subprocess

from cli_case import LIMIT, SOURCE, VEM, Case, main


def block():
    """The commands of "A first fit"."""
    with open(os.path.join(SOURCE, "README.md"), encoding="utf-8") as file:
        part = file.read().split("## A first fit")[1].split("\n## ")[0]
    return re.findall(r"^    (vem .*)$", part, re.M)


def shown():
    """The commands that README.md begins with, and the lines they are said to print."""
    with open(os.path.join(SOURCE, "README.md"), encoding="utf-8") as file:
        part = file.read().split("\n## ")[0]
    found = []
    for line in re.findall(r"^    (.*)$", part, re.M):
        if line.startswith("$ vem "):
            found.append((line[2:], []))
        elif found and line.strip() and not line.strip().startswith("..."):
            found[-1][1].append(line)
    return found


def without_measurements(line):
    """Times and memory are those of a machine; nothing else is."""
    return re.sub(r"\d+(\.\d+)? (s|[KMG]iB)\b", r"# \2", line.rstrip())


class Readme(Case):
    def run_line(self, line):
        done = subprocess.run([os.path.abspath(VEM), *shlex.split(line, comments=True)[1:]],
                              cwd=self.folder.name, capture_output=True, text=True, check=False,
                              timeout=LIMIT)
        self.assertEqual(done.returncode, 0, line + "\n" + done.stderr)
        return done.stdout

    def test_what_is_shown_is_printed(self):
        shutil.copytree(os.path.join(SOURCE, "examples"), self.path("examples"))
        self.assertGreaterEqual(len(shown()), 2)
        for command, lines in shown():
            printed = [without_measurements(line) for line in self.run_line(command).splitlines()]
            self.assertGreater(len(lines), 2)
            for line in lines:
                self.assertIn(without_measurements(line), printed)

    def test_first_fit(self):
        lines = block()
        self.assertGreaterEqual(len(lines), 4)
        shutil.copytree(os.path.join(SOURCE, "examples"), self.path("examples"))
        for line in lines:
            self.run_line(line)
        with open(self.path("segments.csv"), encoding="utf-8") as file:
            self.assertEqual(file.readline(), "row,label,name\n")


if __name__ == "__main__":
    main()
