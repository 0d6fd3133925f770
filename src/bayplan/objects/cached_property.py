"""
``functools.cached_property`` without its lock.

Before Python 3.12 that one takes a lock for every first look, and a pod of a new template has a dozen of them.  Two
threads that look at once work the same answer out twice, which does no harm: objects are frozen.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from functools import cached_property as cached_property
else:

    class cached_property(functools.cached_property):
        """Worked out at the first look, and kept in the object's ``__dict__``."""

        def __get__(self, instance: Any, owner: type[Any] | None = None) -> Any:
            if instance is None:
                return self
            value = instance.__dict__[self.attrname] = self.func(instance)
            return value
