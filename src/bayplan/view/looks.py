"""What a command's worlds looked like when they came to rest: before and after, or one for each run."""

from __future__ import annotations

from bayplan.simulator.world import World
from bayplan.view.documents import Document, Origin
from bayplan.view.timeline import timeline
from bayplan.view.world_view import world_view


class Looks:
    """Clusters as they were, in the order in which they were looked at, and the time line up to the last."""

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.clusters: list[Document] = []
        self.timeline: Document | None = None

    def look(self, name: str, world: World) -> None:
        """Now: a world goes on changing."""
        self.clusters.append(world_view(world, name=name, command=self.origin.command))
        self.timeline = timeline(world)
