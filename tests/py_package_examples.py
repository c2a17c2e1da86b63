#!/usr/bin/env python3
"""The examples run, and with scikit-learn's import in the place of ours they are the same programs:
inertia and likelihood are not worse than its, and times are printed beside."""
import contextlib
import io
import os
import re
import warnings

from package_case import SOURCE, Case, main, python

EXAMPLES = os.path.join(SOURCE, "examples", "python")
THEIRS = {"from vem import KMeans": "from sklearn.cluster import KMeans",
          "from vem import GaussianMixture": "from sklearn.mixture import GaussianMixture"}


def numbers(text, name):
    return [float(value) for value in re.findall(rf"\b{name} (-?[\d.]+)", text)]


class Examples(Case):
    def both(self, name):
        with open(os.path.join(EXAMPLES, name), encoding="utf-8") as file:
            ours = file.read()
        theirs = ours
        for a, b in THEIRS.items():
            theirs = theirs.replace("\n" + a + "\n", "\n" + b + "\n")
        self.assertNotEqual(ours, theirs)
        outs = []
        for text in (ours, theirs):
            out = io.StringIO()
            with contextlib.redirect_stdout(out), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(compile(text, name, "exec"), {"__name__": "__main__"})
            outs.append(out.getvalue())
        print(f"{name}: ours\n{outs[0]}scikit-learn\n{outs[1]}")
        return outs

    def test_digits(self):
        ours, theirs = self.both("digits.py")
        a, b = numbers(ours, "inertia"), numbers(theirs, "inertia")
        self.assertEqual((len(a), len(b)), (3, 3))
        for x, y in zip(a, b):
            self.assertLess(x, 1.005 * y)

    def test_iris(self):
        ours, theirs = self.both("iris.py")
        a, b = numbers(ours, "likelihood"), numbers(theirs, "likelihood")
        self.assertEqual((len(a), len(b)), (4, 4))
        for x, y in zip(a, b):
            self.assertGreater(x, y - 0.005)

    def test_colors(self):
        try:
            import PIL  # noqa: F401
        except ImportError:
            self.skipTest("pillow, which reads the picture, is not installed")
        ours, theirs = self.both("colors.py")
        self.assertLess(numbers(ours, "inertia")[0], 1.005 * numbers(theirs, "inertia")[0])

    def test_documentation(self):
        # Every block of docs/python.md that looks like Python runs, in one session.
        with open(os.path.join(SOURCE, "docs", "python.md"), encoding="utf-8") as file:
            page = file.read()
        blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
        self.assertGreater(len(blocks), 5)
        done = python("\n".join(blocks), cwd=self._folder.name)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    main()
