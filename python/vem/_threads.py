"""How many threads a call may have."""

import os

# After a fork the threads of OpenMP are gone and its pool does not know: one thread needs no pool.
_forked = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _forked.append(True))


def threads_of(n_threads):
    return 1 if _forked else n_threads
