"""
Gates: asks the PreEnqueue plugins whether a pod may enter the queue.

``SchedulingQueue`` calls it before a pod enters active or backoff.  The plugin that says no becomes the pod's
gating plugin and one of its rejectors, so that its events can bring the pod back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bayplan.engine.plugin_calls import complain, raised
from bayplan.engine.queue.requeueing import QueueProfile
from bayplan.errors import GO_THROUGH
from bayplan.framework.plugin import PreEnqueuePlugin, QueuedPod
from bayplan.framework.status import Status, as_status, failed


class Gates:
    """The PreEnqueue plugins of every profile."""

    __slots__ = ("_plugins",)

    def __init__(self, profiles: Mapping[str, QueueProfile]) -> None:
        self._plugins = {name: profile.pre_enqueue for name, profile in profiles.items()}

    def check(self, queued: QueuedPod) -> Status | None:
        """Why the pod must stay out, or None; the pod's gating plugin follows the answer."""
        plugins: Sequence[PreEnqueuePlugin] = self._plugins[queued.pod.scheduler_name]
        if queued.gating_plugin:
            # The plugin that gates the pod already goes first, since it most likely still does.
            plugins = sorted(plugins, key=lambda plugin: plugin.name != queued.gating_plugin)
        pod = queued.pod
        for plugin in plugins:
            try:
                verdict = plugin.pre_enqueue(pod)
                if verdict is None:
                    continue
                status = as_status(verdict)
            except GO_THROUGH:
                raise
            except BaseException as error:
                complain("pre_enqueue failed, the pod stays gated", plugin, error, pod=pod.key)
                status = failed(raised(plugin, "PreEnqueue", pod, error))
            if not status.is_success:
                queued.gating_plugin = plugin.name
                queued.unschedulable_plugins |= {plugin.name}
                return status.by(plugin.name)
        queued.gating_plugin = ""
        return None
