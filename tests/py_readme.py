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


class Readme(Case):
    def test_first_fit(self):
        lines = block()
        self.assertGreaterEqual(len(lines), 4)
        shutil.copytree(os.path.join(SOURCE, "examples"), self.path("examples"))
        for line in lines:
            words = shlex.split(line, comments=True)
            done = subprocess.run([os.path.abspath(VEM), *words[1:]], cwd=self.folder.name, capture_output=True,
                                  text=True, check=False, timeout=LIMIT)
            self.assertEqual(done.returncode, 0, line + "\n" + done.stderr)
        with open(self.path("segments.csv"), encoding="utf-8") as file:
            self.assertEqual(file.readline(), "row,label,name\n")


if __name__ == "__main__":
    main()
