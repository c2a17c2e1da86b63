#!/usr/bin/env python3
"""Documentation: examples run, sections are numpydoc's and name what is there, stubs are new."""
import doctest
import importlib
import inspect
import os
import pkgutil
import pydoc
import re
import subprocess
import sys

from package_case import PACKAGE, SOURCE, Case, main, vem

from vem import _options


def section(text, name):
    found = re.search(rf"^ *{name}\n *-+\n(.*?)(?=^ *\w[\w ]*\n *---|\Z)", text,
                      re.DOTALL | re.MULTILINE)
    return found.group(1) if found else ""


def entries(text, indent):
    names = re.findall(rf"^ {{{indent}}}([\w, ]+) :", text, re.MULTILINE)
    return [name.strip() for line in names for name in line.split(",")]


class Documentation(Case):
    def test_examples(self):
        tried = 0
        modules = ["vem"] + ["vem." + m.name for m in pkgutil.iter_modules(vem.__path__)
                             if m.name != "_vem"]
        for name in modules:
            result = doctest.testmod(importlib.import_module(name))
            self.assertEqual(result.failed, 0, name)
            tried += result.attempted
        self.assertGreater(tried, 60)

    def test_values_have_the_names_of_parameters(self):
        """What the command's help calls EPS or HOW is the parameter, in Python."""
        tried = 0
        for option in _options.TABLE.values():
            if option.argument and re.search(rf"(?<!\w){re.escape(option.argument)}(?!\w)", option.help):
                for kind in vem.KMeans, vem.GaussianMixture:
                    entry = re.search(rf"(?ms)^ *{option.name} :.*?(?=^ *\w+ :|\Z)",
                                      section(kind.__doc__, "Other Parameters"))
                    if entry:
                        self.assertNotRegex(entry.group(0), rf"\b{option.argument}\b")
                        tried += 1
        self.assertGreater(tried, 0)
        self.assertIn("memory : int or str", vem.KMeans.__doc__)

    def test_every_public_thing_has_an_example(self):
        for name in vem.__all__:
            thing = getattr(vem, name)
            self.assertIn(">>>", section(thing.__doc__, "Examples"), name)
            self.assertIn(name, vem.__doc__)

    def test_parameters_are_those_there_are(self):
        for name in vem.__all__:
            thing = getattr(vem, name)
            if thing is vem.VemWarning:
                continue
            call = thing.__init__ if inspect.isclass(thing) else thing
            there = [p for p in inspect.signature(call).parameters if p != "self"]
            said = entries(section(thing.__doc__, "Parameters"), 4)
            said += entries(section(thing.__doc__, "Other Parameters"), 4)
            self.assertEqual(sorted(said), sorted(there), name)
            for verb_name, verb in inspect.getmembers(thing, inspect.isfunction):
                if verb_name.startswith("_") or not verb.__module__.startswith("vem."):
                    continue
                there = [p for p in inspect.signature(verb).parameters if p != "self"]
                said = entries(section(verb.__doc__, "Parameters"), 8)
                self.assertEqual(said, there, f"{name}.{verb_name}")

    def test_attributes_are_set_by_fit(self):
        for est, X in self.estimators():
            import pandas

            est.fit(pandas.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]))
            for name in entries(section(type(est).__doc__, "Attributes"), 4):
                self.assertTrue(hasattr(est, name), f"{type(est).__name__}.{name}")

    def test_parameters_come_from_the_table(self):
        for option in _options.TABLE.values():
            if option.name in _options.COMMON:
                continue
            name = _options.python_name(option.name)
            self.assertTrue(any(name in inspect.signature(getattr(vem, c).__init__).parameters
                                for c in vem.__all__ if inspect.isclass(getattr(vem, c)))
                            or option.name in ("family", "floor"), name)

    def test_help(self):
        text = pydoc.render_doc(vem)
        for name in vem.__all__:
            self.assertIn(name, text)

    def test_stubs(self):
        script = os.path.join(SOURCE, "scripts", "stubs.py")
        done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True,
                              env=dict(os.environ, PYTHONPATH=PACKAGE), check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertTrue(os.path.exists(os.path.join(PACKAGE, "vem", "py.typed")))


if __name__ == "__main__":
    main()
