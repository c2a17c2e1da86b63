# The extension module: what help(vem._vem) says. Nothing in it is for users of the package.
from typing import Any

def __getattr__(name: str) -> Any: ...
