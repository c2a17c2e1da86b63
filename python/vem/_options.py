"""The option table of the library, as parameters of estimators.

The table (``_vem.options()``) is the one place that says which options there are, what values they
take and what they mean. Parameters that scikit-learn has a name for keep that name and are written
in the classes; all the others come from here: ``__init__`` of an estimator is made with one
keyword for each, and its documentation is the table's help.
"""

import re
import textwrap
from collections import namedtuple

import numpy as np

from . import _vem, _words

Option = namedtuple("Option", "name kind default low high choices argument help")

TABLE = {row[0]: Option(*row) for row in _vem.options()}
AUTO = -1

# Options whose names say more with scikit-learn's habits of naming.
NAMES = {
    "held": "n_held",
    "reach": "n_reach",
    "explore": "n_explore",
    "probe": "n_probe",
    "swaps": "n_swaps",
    "coreset": "coreset_size",
    "cells": "n_cells",
    "expand": "n_expand",
    "blocks": "n_blocks",
    "chain": "chain_length",
    "init-steps": "n_init_steps",
    "threads": "n_threads",
}
# What scikit-learn's own parameters say in every estimator: n_clusters or n_components, algorithm,
# init, n_init, tol, max_iter, random_state; and what estimators measure by themselves.
COMMON = {
    "clusters",
    "algorithm",
    "seeding",
    "restarts",
    "tolerance",
    "max-steps",
    "seed",
    "measure",
}


# The first of these that an estimator has is what sentences call the option.
_COMMON_NAMES = {
    "clusters": ("n_clusters", "n_components"),
    "max-clusters": ("max_clusters",),
    "min-clusters": ("min_clusters",),
    "algorithm": ("algorithm",),
    "seeding": ("init", "init_params"),
    "init": ("init", "means_init"),
    "restarts": ("n_init",),
    "tolerance": ("tol",),
    "max-steps": ("max_iter",),
    "seed": ("random_state",),
    "family": ("covariance_type",),
    "floor": ("reg_covar",),
    "method": ("method", "linkage"),
    "leaves": ("n_leaves",),
    "top": ("t",),
    **{f"prior-{part}": (f"prior_{part}",)
       for part in ("mean", "strength", "dof", "scale", "count")},
}


def python_name(option):
    return NAMES.get(option, option.replace("-", "_"))


def parameters(without=()):
    """Names of parameters from the table, each with the option it sets."""
    return {
        python_name(name): name
        for name in TABLE
        if name not in COMMON and name not in without
    }


def _type_words(option):
    if option.name == "memory":
        return "int or str"
    if option.kind == "choice":
        return "{" + ", ".join(repr(word) for word in option.choices.split("|")) + "}"
    words = {"int": "int", "real": "float", "flag": "bool"}[option.kind]
    if option.choices:
        words += " or {" + ", ".join(repr(word) for word in option.choices.split("|")) + "}"
    return words


def _document(names):
    lines = []
    for name, option_name in names.items():
        option = TABLE[option_name]
        lines.append(f"{name} : {_type_words(option)}, default=None")
        words = option.help[0].upper() + option.help[1:] + "."
        if option.argument:  # the command's word for the value
            words = re.sub(rf"(?<!\w){re.escape(option.argument)}(?!\w)", name, words)
        lines.extend(textwrap.wrap(words, 76,
                                   initial_indent="    ", subsequent_indent="    "))
    return "\n".join("    " + line if line else line for line in lines)


def _names_in_sentences(own, names):
    found = {option: next(name for name in words if name in own)
             for option, words in _COMMON_NAMES.items() if any(name in own for name in words)}
    return {**{option: name for name, option in names.items()}, **found, "top": "t"}


def estimator(own, without=(), choices=None, lacking=None):
    """Class decorator: ``__init__`` of the class's ``own`` parameters and those of the table.

    ``own`` maps names to defaults; the first may be given by position. In the documentation of the
    class, ``{options}`` becomes what the table says of the others. ``choices`` and ``lacking`` are
    those of _words.speaker.
    """
    names = parameters(without)

    def decorate(cls):
        defaults = {**own, **dict.fromkeys(names)}
        words = [f"{name}=_defaults[{name!r}]" for name in defaults]
        text = f"def __init__(self, {words[0]}, *, {', '.join(words[1:])}):\n"
        text += "".join(f"    self.{name} = {name}\n" for name in defaults)
        scope = {"_defaults": defaults}
        exec(text, scope)  # a signature that scikit-learn can read
        scope["__init__"].__qualname__ = f"{cls.__qualname__}.__init__"
        scope["__init__"].__module__ = cls.__module__
        cls.__init__ = scope["__init__"]
        cls._options_of_parameters = names
        cls._say = staticmethod(_words.speaker(_names_in_sentences(own, names), choices, lacking))
        if cls.__doc__:
            cls.__doc__ = cls.__doc__.replace("    {options}", _document(names))
        return cls

    return decorate


def given(estimator_object):
    """What the parameters from the table say, as options of the library."""
    options = {}
    for name, option in estimator_object._options_of_parameters.items():
        value = getattr(estimator_object, name)
        if value is not None:
            options[option] = check(name, option, value)
    return options


def not_negative(name, value):
    """A number of 0 or more, or a ValueError."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if isinstance(value, str) or not number >= 0:
        raise ValueError(f"{name} is {value!r}, but it must be a number of 0 or more.")
    return number


def count(name, value):
    """A whole number of 1 or more, or a ValueError."""
    if not isinstance(value, (int, np.integer)) or value < 1:
        raise ValueError(f"{name} is {value!r}, but it must be a whole number of 1 or more.")
    return int(value)


def check(name, option, value):
    """A value that the table allows, or a ValueError that says what it allows."""
    row = TABLE[option]
    if row.kind == "choice":
        words = row.choices.split("|")
        if value not in words:
            raise ValueError(f"{name} is {value!r}, but it must be one of {', '.join(words)}.")
        return value
    if row.kind == "flag":
        if not isinstance(value, (bool, np.bool_)) and value not in (0, 1):
            raise ValueError(f"{name} is {value!r}, but it must be True or False.")
        return bool(value)
    if row.argument == "BYTES" and isinstance(value, str):
        return value
    if row.choices and isinstance(value, str) and value in row.choices.split("|"):
        return value
    try:
        number = int(value) if row.kind == "int" else float(value)
    except (TypeError, ValueError):
        number = None
    if isinstance(value, (bool, np.bool_)):  # True is no 1: it means that something is wanted
        number = None
    if number is None or number != value or not row.low <= number <= row.high:
        what = "a whole number" if row.kind == "int" else "a number"
        if row.choices:
            what = ", ".join(row.choices.split("|")) + " or " + what
        raise ValueError(
            f"{name} is {value!r}, but it must be {what} from {row.low:g} to {row.high:g}."
        )
    return number
