"""The functions that Kubernetes has in every expression, one module for each subject.

`KUBERNETES` is what an environment begins with. The functions that ask an authorizer are not there.
"""

from __future__ import annotations

from bayplan.cel.functions import Function, collected
from bayplan.cel.library import (
    conversions,
    formats,
    lists,
    networks,
    operators,
    optionals,
    quantities,
    regexes,
    sets,
    strings,
    times,
    urls,
    versions,
)

KUBERNETES: dict[str, Function] = collected(
    each.FUNCTIONS
    for each in (
        operators,
        conversions,
        strings,
        regexes,
        lists,
        sets,
        optionals,
        times,
        quantities,
        versions,
        networks,
        urls,
        formats,
    )
)
