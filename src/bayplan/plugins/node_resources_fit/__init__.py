"""NodeResourcesFit: see ``plugin``."""

from bayplan.plugins.node_resources_fit.args import NodeResourcesFitArgs
from bayplan.plugins.node_resources_fit.plugin import NodeResourcesFit

__all__ = ["NodeResourcesFit", "NodeResourcesFitArgs"]
