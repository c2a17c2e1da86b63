"""What a fit says while it runs: a bar, or lines, or a function of the caller.

``verbose=1`` shows a bar, by tqdm where it is installed (in a notebook, too) and else as a line that
is written over on a terminal, and as plain lines elsewhere; ``verbose=2`` also says what the fit
chose by itself.
"""

import math
import sys


class _Bar:
    """A bar by tqdm, or a line of our own."""

    def __init__(self, title):
        self._title = title
        self._said = -1.0
        self._bar = None
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return
        self._bar = tqdm(total=None, desc=title, unit="step", leave=False)

    def __call__(self, progress):
        phase, step, F = progress["phase"], progress["step"], progress["free_energy"]
        words = f"step {step}" if phase == "em" else phase
        if phase == "em" and not math.isnan(F):
            words += f", F {F:.6g}"
        if self._bar is not None:
            self._bar.set_postfix_str(words, refresh=False)
            self._bar.n = step if phase == "em" else self._bar.n
            self._bar.refresh()
            return False
        every = 0.1 if sys.stderr.isatty() else 5.0
        if progress["seconds"] - self._said >= every:
            self._said = progress["seconds"]
            begin, end = ("\r\033[K", "") if sys.stderr.isatty() else ("", "\n")
            sys.stderr.write(f"{begin}{self._title}: {words}, {progress['seconds']:.1f} s{end}")
            sys.stderr.flush()
        return False

    def close(self):
        if self._bar is not None:
            self._bar.close()
        elif self._said >= 0 and sys.stderr.isatty():
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
    """After the fit: how it ended, and with verbose=2 what it chose."""
    if not verbose:
        return
    print(f"{title}: {report['outcome']} after {report['steps']} steps, "
          f"F {report['free_energy']:.10g}, {report['seconds']:.3g} s")
    for sentence in (report["choices"] if verbose > 1 else "").splitlines():
        print("  " + sentence)
    for sentence in report["notes"].splitlines():
        print("  " + sentence)
