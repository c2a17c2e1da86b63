#!/usr/bin/env python3
"""Writes python/vem/__init__.pyi from the package: scripts/stubs.py [--check]

Parameters come from the signatures, which the option table made, and their types from the table and
from OWN below; methods and attributes from the documentation of the classes. PYTHONPATH says where
the package is (build/python). With --check nothing is written, and the status is 1 where it differs.
`mypy --strict` has nothing to say about the stubs, which say what scipy and scikit-learn do not.
"""
import inspect
import os
import re
import sys

import vem
from sklearn.base import BaseEstimator
from vem import _options

PLACE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "python", "vem",
                     "__init__.pyi")

HEAD = '''# Made by scripts/stubs.py: do not change by hand.
from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix  # type: ignore
from sklearn.base import (  # type: ignore
    BaseEstimator, ClusterMixin, DensityMixin, TransformerMixin,
)

Path = str | PathLike[str]
Rows = Any  # an array, a frame, a sparse matrix, an Arrow table, a Table, or a Path (or several)
Columns = str | int | Sequence[str | int] | None
Seed = int | np.random.RandomState | None

__version__: str
__all__: list[str]
'''

TABLE = '''
class Table:
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    columns: NDArray[Any] | None
    n_rows_read: int
    @property
    def rows(self) -> NDArray[np.int64]: ...
    @property
    def ndim(self) -> int: ...
    def __len__(self) -> int: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]: ...
    def __getitem__(self, key: Any) -> NDArray[Any]: ...

class VemWarning(UserWarning): ...
'''
# What read takes; elsewhere these names do not come.
READ = {"path": "Path | Sequence[Path]", "columns": "Columns", "skip": "Columns",
        "header": "bool | None", "decimal": 'Literal[".", ","] | None',
        "missing": 'Literal["error", "drop", "mean"]', "memory": "int | str | None"}
# Parameters that are not the option table's.
OWN = {
    "X": "Rows",
    "y": "Any",
    "sample_weight": "ArrayLike | None",
    "random_state": "Seed",
    "callback": "Callable[[dict[str, Any]], bool | None] | None",
    "init": "str | ArrayLike | Callable[..., ArrayLike]",
    "n_init": 'int | Literal["auto"]',
    "path": "Path",
    "estimator": "BaseEstimator",
    "prior": "dict[str, Any] | None",
    "binarize": "float | None",
    "input_features": "Any",
    "tol": "float",
    "reg_covar": "float",
    "verbose": "int",
    "n_threads": "int | None",
    "separation": "float | None",
    "box": "float | None",
    "prior_strength": "float | None",
    "prior_dof": "float | None",
    "prior_count": "float | None",
    "prior_mean": "ArrayLike | None",
    "prior_scale": "ArrayLike | None",
    "weights_init": "ArrayLike | None",
    "means_init": "ArrayLike | None",
    "precisions_init": "ArrayLike | None",
    "x_squared_norms": "ArrayLike | None",
    "n_local_trials": "int | None",
    "seeding": "str | None",
    "max_clusters": "int | None",
    "holdout": "float",
    "stability": "int",
    "n_leaves": "int | None",
    "n_samples": "int | None",
    "size": "int",
    "kind": "str",
    "t": "int",
}
RETURNS = {
    "predict": "NDArray[np.int32]", "fit_predict": "NDArray[np.int32]",
    "predict_top": "csr_matrix", "predict_proba": "NDArray[np.float64]",
    "score_samples": "NDArray[np.float64]", "transform": "Any", "fit_transform": "Any",
    "get_feature_names_out": "NDArray[Any]", "save": "None", "score": "float", "bic": "float",
    "aic": "float", "icl": "float", "sample": "tuple[NDArray[np.float64], NDArray[np.int32]]",
    "coreset": "tuple[NDArray[Any], NDArray[np.float64], NDArray[np.int64]]",
    "kmeans_plusplus": "tuple[NDArray[Any], NDArray[np.int64]]",
    "generate": "tuple[NDArray[Any], ...]", "load": "BaseEstimator",
    "describe": "list[dict[str, Any]]", "select": "BayesianKMeans", "read": "Table",
}


def type_of(name, default, cls):
    if cls is vem.read:
        return READ.get(name) or OWN[name]
    names = getattr(cls, "_options_of_parameters", {})
    if name in names:
        option = _options.TABLE[names[name]]
        if option.argument == "BYTES":
            return "int | str | None"
        if option.kind == "choice":
            words = ", ".join(f'"{word}"' for word in option.choices.split("|"))
            return f"Literal[{words}] | None"
        kind = {"int": "int", "real": "float", "flag": "bool"}[option.kind]
        if option.choices:
            words = ", ".join(f'"{word}"' for word in option.choices.split("|"))
            kind += f" | Literal[{words}]"
        return kind + " | None"
    if name == "n_init" and isinstance(default, int):
        return "int"
    if name == "n_samples" and default is not None:
        return "int"
    if name == "n_clusters" and default is None:
        return "int | None"
    if name in OWN:
        return OWN[name]
    if default is inspect.Parameter.empty:
        return "int"
    return type(default).__name__


def signature(function, cls=None):
    words, starred = [], False
    for name, parameter in inspect.signature(function).parameters.items():
        if name == "self":
            words.append("self")
            continue
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not starred:
            starred = True
            words.append("*")
        text = f"{name}: {type_of(name, parameter.default, cls)}"
        if parameter.default is not inspect.Parameter.empty:
            text += f" = {parameter.default!r}".replace("'", '"')
        words.append(text)
    return words


def put(lines, indent, name, words, result):
    line = f"{indent}def {name}({', '.join(words)}) -> {result}: ..."
    if len(line) <= 90:
        lines.append(line)
        return
    lines.append(f"{indent}def {name}(")
    lines.extend(f"{indent}    {word}," for word in words)
    lines.append(f"{indent}) -> {result}: ...")


def attributes(cls):
    """Names and types of the section Attributes."""
    section = re.search(r"Attributes\n    -+\n(.*?)(?:\n\n|\Z)", cls.__doc__, re.DOTALL).group(1)
    for names, kind in re.findall(r"^    ((?:\w+_(?:, )?)+) : (\w+)", section, re.MULTILINE):
        kind = {"ndarray": "NDArray[Any]", "list": "list[dict[str, Any]]",
                "dict": "dict[str, Any]"}.get(kind, kind)
        for name in names.split(", "):
            yield name, kind


def class_stub(cls):
    bases = [b.__name__ for b in cls.__mro__
             if b.__module__ == "sklearn.base" and b.__name__ in
             ("TransformerMixin", "ClusterMixin", "DensityMixin", "BaseEstimator")]
    lines = ["", f"class {cls.__name__}({', '.join(bases)}):  # type: ignore[misc]"]
    lines += [f"    {name}: {kind}" for name, kind in attributes(cls)]
    put(lines, "    ", "__init__", signature(cls.__init__, cls), "None")
    for name in sorted(dir(cls)):
        verb = getattr(cls, name)
        ours = (getattr(verb, "__module__", None) or "").startswith("vem.")
        if not name.startswith("_") and ours and inspect.isfunction(verb):
            put(lines, "    ", name, signature(verb), RETURNS.get(name, cls.__name__))
    return lines


def stub():
    lines = HEAD.splitlines()
    for name in vem.__all__:
        thing = getattr(vem, name)
        if inspect.isclass(thing) and issubclass(thing, BaseEstimator):
            lines += class_stub(thing)
    lines += TABLE.splitlines()
    lines.append("")
    for name in vem.__all__:
        thing = getattr(vem, name)
        if not inspect.isclass(thing):
            put(lines, "", name, signature(thing, thing), RETURNS.get(name, "None"))
    return "\n".join(lines) + "\n"


def main():
    text = stub()
    if "--check" in sys.argv:
        with open(PLACE, encoding="utf-8") as file:
            if file.read() == text:
                return 0
        print("python/vem/__init__.pyi is old: run scripts/stubs.py")
        return 1
    with open(PLACE, "w", encoding="utf-8") as file:
        file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
