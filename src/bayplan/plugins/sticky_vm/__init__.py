"""StickyVM: a virtual machine always returns to its node.  ``plugin`` is where to start reading."""

from bayplan.plugins.sticky_vm.args import StickyVMArgs
from bayplan.plugins.sticky_vm.plugin import StickyVM

__all__ = ["StickyVM", "StickyVMArgs"]
