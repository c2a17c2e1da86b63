"""What the library says, in the words of the package; and which of it is a warning.

The library marks options in its sentences as the command writes them, ``--missing drop``. Here they
become what the caller has: ``n_clusters=8`` of the estimator that was called, or
``vem.read(..., missing='drop')``, because how a file is read is said to ``vem.read``.
"""

import re
import sys
import warnings

from sklearn.exceptions import ConvergenceWarning

from . import _vem


class VemWarning(UserWarning):
    """Something about a fit that is good to know, and that its result does not show.

    The library's notes, each as one warning: that the best number of clusters was the largest that was
    tried, that the least variance decides some clusters, that columns of other units outweigh the
    rest. ``report_["notes"]`` has them all.

    Examples
    --------
    >>> import warnings
    >>> import vem
    >>> X, y = vem.generate("separated", n_clusters=3, separation=8, random_state=0)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", vem.VemWarning)
    ...     found = vem.select(X, method="bic", max_clusters=2, random_state=0)
    >>> "largest number tried" in found.report_["notes"]
    True
    """


_CHOICES = {row[0]: row[5].split("|") for row in _vem.options() if row[1] == "choice"}
_FLAGS = {row[0] for row in _vem.options() if row[1] == "flag"}
_NUMBER = re.compile(r"-?\d[\d.]*(e[-+]?\d+)?")
_BYTES = re.compile(r"\d[\d.]*[KMGT]?i?B?")
# An option, and the word behind it, which may be its value or go on with the sentence.
_OPTION = re.compile(r"(?<![\w-])--([a-z]+(?:-[a-z]+)*)( [^\s;:)]+)?")
_READING = {"missing": ("drop", "mean", "error"), "header": ("yes", "no")}
# What only the command has, or says of files where there may be none; and a list of columns, whose
# names may be anything.
_ASIDE = re.compile(r", before the data are borrowed")
_PICK = re.compile(r"--pick K(?= takes)")
_LEAVE = re.compile(r"; --columns can leave (it|them) out")
_COLUMN = re.compile(r"(?<=leave that column out) with --id(?=,)")
_LISTED = re.compile(r"--id (.*?) \(vem info lists the columns\)")


def _columns(text):
    """A list of columns as vem.read takes it: numbers count from 0, as everywhere in Python."""
    words = text.split(",")
    if all(word.isdigit() for word in words):
        return str([int(word) - 1 for word in words])
    return str(words)


def _reading(option, word):
    """What is said to vem.read, and what of the word behind belongs to the sentence."""
    bare = word.strip().rstrip(".")
    if option in ("id", "columns"):
        name = "skip" if option == "id" else "columns"
        if re.fullmatch(r"\d+(,\d+)*", bare):
            return f"vem.read(..., {name}={_columns(bare)})", word.strip()[len(bare):]
        return f"vem.read(..., {name}=...)", word
    if option == "decimal":
        sign = "," if bare.startswith(",") else "."
        rest = word.strip().replace("'.'", "", 1) if sign == "." else word.strip()[1:]
        return f"vem.read(..., decimal={sign!r})", rest
    if bare in _READING[option]:
        value = {"yes": "True", "no": "False"}.get(bare, repr(bare))
        return f"vem.read(..., {option}={value})", word.strip()[len(bare):]
    return f"{option} of vem.read", word


def speaker(names, choices=None, lacking=None):
    """A function that puts the library's sentences into the words of a caller.

    ``names`` are the parameters that options are; ``choices`` says what their words are, where the
    package has others: option -> function of the word. ``lacking``: how to say the options that the
    caller does not have.
    """

    def named(match):
        option, word = match.group(1), match.group(2) or ""
        if option in ("id", "columns", "decimal", *_READING):
            said, rest = _reading(option, word)
            return said + rest
        bare = word.strip().rstrip(".,")
        rest = word.strip()[len(bare):]
        name = names.get(option)
        if name is None:
            name = (lacking or {}).get(option, option.replace("-", " "))
        if option in _FLAGS:
            return f"{name}=True{word}" if option in names else name + word
        if option in _CHOICES and bare in _CHOICES[option]:
            value = (choices or {}).get(option, repr)(bare)
            return f"{name}={value}{rest}" if option in names else f"{name} {bare}{rest}"
        if option == "memory" and _BYTES.fullmatch(bare):
            return f"{name}={bare!r}{rest}"
        if _NUMBER.fullmatch(bare) and option in names:
            return f"{name}={bare}{rest}"
        return name + word

    def say(text):
        text = _PICK.sub("pick(K)", text)
        text = _LEAVE.sub(r"; leave \1 out of X", _COLUMN.sub("", _ASIDE.sub("", text)))
        text = _LISTED.sub(lambda m: f"vem.read(..., skip={_columns(m.group(1))})", text)
        return _OPTION.sub(named, text)

    return say


say = speaker({"memory": "memory", "threads": "n_threads", "clusters": "n_clusters"})

# Notes that only say again what was asked for.
_ASKED = re.compile(r"a coreset of \d+ rows|all \d+ rows are fitted: a coreset|"
                    r"rows are divided by their length")
_UNFINISHED = re.compile(r"ended by .* before it had converged|was over before the first step")


def outside():
    """The stacklevel of the code that called the package: the first that is not its own."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("vem."):
        frame, level = frame.f_back, level + 1
    return level


def warn(notes):
    """Each note of a report as a warning of the caller's line."""
    for note in notes.splitlines():
        if not _ASKED.match(note):
            kind = ConvergenceWarning if _UNFINISHED.search(note) else VemWarning
            parameter = re.match(r"\w+=|\w+_", note)
            sentence = note if parameter else note[:1].upper() + note[1:]
            warnings.warn(sentence, kind, stacklevel=outside())
