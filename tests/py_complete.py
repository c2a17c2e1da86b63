#!/usr/bin/env python3
"""Completion in shells and manual pages, which the command makes of its tables.

bash's function is run as bash would run it; fish completes by itself, where it is installed; of
zsh, where it is there, the syntax is looked at.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

VEM = os.environ["VEM"]
SOURCE = os.environ["VEM_SOURCE"]
# Arguments: the script, then the words of a line; prints what may stand in the place of the last.
RUN_BASH = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_vem
printf '%s\\n' "${COMPREPLY[@]}"
"""


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=False)


def vem(*words):
    done = run(VEM, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def verbs():
    usage = vem("--help").split("DATA is")[0]
    return re.findall(r"^  vem ([a-z]+) ", usage, re.MULTILINE)


def options(verb):
    """Long options of a verb, with what its help calls their values."""
    return re.findall(r"^  (?:-\w, |    )--([a-z-]+)(?: (\S+))?", vem(verb, "--help"), re.MULTILINE)


class Completion(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        for shell in ("bash", "zsh", "fish"):
            with open(cls.script(shell), "w", encoding="utf-8") as file:
                file.write(vem("--completion", shell))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def script(cls, shell):
        return os.path.join(cls.folder.name, "vem." + shell)

    def bash(self, *words):
        done = run("bash", "-c", RUN_BASH, "bash", self.script("bash"), "vem", *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return done.stdout.split()

    def test_verbs(self):
        self.assertEqual(len(verbs()), 14)
        self.assertEqual(set(self.bash("")), {*verbs(), "--help", "--version"})
        self.assertEqual(self.bash("sc"), ["score"])
        self.assertEqual(self.bash("help", "gen"), ["generate"])

    def test_every_option_of_every_verb(self):
        for verb in verbs():
            named = {"--" + name for name, _ in options(verb)}
            self.assertGreater(len(named), 1, verb)
            self.assertEqual(set(self.bash(verb, "-")), {*named, "--help"}, verb)
        self.assertEqual(self.bash("fit", "data.npy", "--fam"), ["--family"])

    def test_values_that_are_words(self):
        families = ["diag", "diag-shared"]
        self.assertEqual(self.bash("fit", "--family", "di"), families)
        self.assertEqual(self.bash("fit", "--family", "=", "di"), families)
        self.assertIn("full", self.bash("fit", "--family", "="))
        self.assertEqual(self.bash("select", "x.csv", "--method", "g"), ["gmeans", "greedy"])
        self.assertEqual(self.bash("tree", "--method", "s"), ["single"])
        self.assertEqual(self.bash("coreset", "--method", ""), ["lightweight", "uniform"])
        self.assertEqual(self.bash("fit", "--header", ""), ["yes", "no"])
        self.assertEqual(self.bash("generate", "birch"), ["birch-grid", "birch-random"])
        # It may stand alone: then an option, or a file, follows.
        self.assertEqual(self.bash("fit", "--measure", "s"), ["sample"])
        self.assertEqual(self.bash("fit", "--measure", "--fam"), ["--family"])

    def test_numbers_and_files_are_left_to_the_shell(self):
        self.assertEqual(self.bash("fit", "-k", ""), [])
        self.assertEqual(self.bash("fit", "--output", ""), [])
        self.assertEqual(self.bash("fit", "da"), [])
        self.assertEqual(self.bash("nonsense", ""), [])

    @unittest.skipUnless(shutil.which("fish"), "there is no fish")
    def test_fish(self):
        def fish(line):
            command = f"source {self.script('fish')}; complete -C '{line}'"
            done = run("fish", "--no-config", "-c", command)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            return [found.split("\t")[0] for found in done.stdout.splitlines()]

        self.assertEqual(fish("vem sc"), ["score"])
        self.assertEqual(fish("vem fit --fam"), ["--family"])
        self.assertEqual(fish("vem fit --family di"), ["diag", "diag-shared"])
        self.assertEqual(fish("vem generate birch"), ["birch-grid", "birch-random"])

    @unittest.skipUnless(shutil.which("zsh"), "there is no zsh")
    def test_zsh(self):
        done = run("zsh", "-n", self.script("zsh"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_another_shell_is_refused(self):
        for words in (["tcsh"], []):
            done = run(VEM, "--completion", *words)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("bash, zsh and fish", done.stderr)


class Pages(unittest.TestCase):
    def test_a_page_of_every_verb(self):
        for verb in verbs():
            page = vem("--man", verb)
            for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "SEE ALSO"):
                self.assertIn(f".SH {section}\n", page)
            for name, _ in options(verb):
                self.assertIn("\\-\\-" + name.replace("-", "\\-"), page)
        done = run(VEM, "--man", "fitt")
        self.assertEqual(done.returncode, 2)
        self.assertIn("fit", done.stderr)

    def test_the_page_of_the_library(self):
        made = run(sys.executable, os.path.join(SOURCE, "scripts", "reference.py"), "--man").stdout
        with open(os.path.join(SOURCE, "docs", "libvem.3"), encoding="utf-8") as file:
            self.assertEqual(file.read(), made, "docs/libvem.3 is old: make it with `make man`")
        self.assertIn(".BR vem_fit ()", made)

    @unittest.skipUnless(shutil.which("groff"), "there is no groff")
    def test_groff_has_nothing_to_say(self):
        pages = {"fit": vem("--man", "fit"), "vem": vem("--man")}
        with open(os.path.join(SOURCE, "docs", "libvem.3"), encoding="utf-8") as file:
            pages["libvem"] = file.read()
        for name, text in pages.items():
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"], input=text, text=True,
                                  capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""), name)


if __name__ == "__main__":
    unittest.main()
