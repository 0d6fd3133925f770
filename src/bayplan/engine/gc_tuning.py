"""
Garbage collection kept off the hot path: rarely while there is work, and in the pauses instead.

The first list makes a million objects that live long; the collector need not visit them again.  What scheduling leaves
behind is freed without the collector, so it looks for cycles much less often than Python would have it, and mostly when
there is nothing else to do.  ``app.scheduler.process`` wires it to the live scheduler; benchmarks measure under the
same conditions.
"""

from __future__ import annotations

import gc

# Python's own threshold is 700 objects: a look for every few pods.  With these a look takes a few milliseconds.
THRESHOLDS = (10_000, 20, 50)
# In a pause it is worth a look after this many objects.
WORTH_A_LOOK = 1_000
# A look in a pause does not see what outlived an earlier one; after this many of them, all there is gets one.  The
# collector would not do so itself: the pauses keep it from ever having enough to start.
PAUSES = 200


def settle() -> None:
    """The cluster is known: what lives now is left alone from here on."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)


def rest() -> None:
    """There is nothing to do at the moment."""
    young, _, pauses = gc.get_count()
    if young > WORTH_A_LOOK:
        gc.collect(1 if pauses < PAUSES else 2)
