"""When Python searches for garbage: seldom, for nearly all that a process of ours makes lives as long as it does."""

import atexit
import gc

BEGINNING = (10_000, 10, 10)  # objects more than before until a generation is searched
SERVING = (50_000, 20, 100)


def begin() -> None:
    """Search seldom while everything is imported, and at the end not at all: it goes with the process."""
    gc.set_threshold(*BEGINNING)
    atexit.register(gc.freeze)


def settle() -> None:
    """Leave alone what there is, which stays, and search the rest now and then."""
    gc.freeze()
    gc.set_threshold(*SERVING)
