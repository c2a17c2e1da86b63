"""What a fit says while it runs: a bar, or lines, or a function of the caller.

``verbose=1`` shows a bar on a terminal and in a notebook, by tqdm where it is installed and else as a
line that is written over. Elsewhere, as in a log, bars would be a line for every step: there a plain
line comes after five seconds, and then ever more rarely. ``verbose=2`` also says what the fit chose by
itself.
"""

import math
import sys

EVERY = 0.1  # seconds between two pictures of a bar
FIRST = 5.0  # seconds to the first line of a log
LATER = 1.5  # each line of a log comes so many times later than the one before


def _draws(tqdm):
    """Is it the bar of a notebook, which is drawn and not written?"""
    return any("notebook" in kind.__module__ for kind in tqdm.__mro__)


class _Bar:
    """A bar by tqdm, or a line of our own."""

    def __init__(self, title):
        self._title = title
        self._next = 0.0
        self._bar = None
        self._terminal = sys.stderr.isatty()
        try:
            from tqdm.auto import tqdm
        except ImportError:
            tqdm = None
        if tqdm is not None and (self._terminal or _draws(tqdm)):
            self._bar = tqdm(total=None, desc=title, unit="step", leave=False)
        elif not self._terminal:
            self._next = FIRST

    def __call__(self, progress):
        seconds = progress["seconds"]
        if seconds < self._next:
            return False
        self._next = seconds + EVERY
        phase, step, F = progress["phase"], progress["step"], progress["free_energy"]
        words = f"step {step}" if phase == "em" else phase
        if phase == "em" and not math.isnan(F):
            words += f", F {F:.6g}"
        if self._bar is not None:
            self._bar.set_postfix_str(words, refresh=False)
            self._bar.n = step if phase == "em" else self._bar.n
            self._bar.refresh()
        elif self._terminal:
            sys.stderr.write(f"\r\033[K{self._title}: {words}, {seconds:.1f} s")
            sys.stderr.flush()
        else:
            self._next = seconds * LATER
            sys.stderr.write(f"{self._title}: {words}, {seconds:.1f} s\n")
            sys.stderr.flush()
        return False

    def close(self):
        if self._bar is not None:
            self._bar.close()
        elif self._terminal:
            sys.stderr.write("\r\033[K")


class watch:
    """Context manager: the function that the library is to call, or None."""

    def __init__(self, title, verbose, callback):
        self._bar = _Bar(title) if verbose else None
        self._callback = callback

    def __enter__(self):
        if self._bar is None:
            return self._callback
        if self._callback is None:
            return self._bar
        return lambda progress: self._bar(progress) or self._callback(progress)

    def __exit__(self, *exception):
        if self._bar is not None:
            self._bar.close()


def tell(title, report, verbose):
    """After the fit: how it ended, and with verbose=2 what it chose. (Notes are warnings.)"""
    if not verbose:
        return
    print(f"{title}: {report['outcome']} after {report['steps']} steps, "
          f"F {report['free_energy']:.10g}, {report['seconds']:.3g} s")
    for sentence in (report["choices"] if verbose > 1 else "").splitlines():
        print("  " + sentence)
