"""
DefaultBinder: tell the API server which node the pod goes to.

The writer sends a Binding with the pod's UID, so that a pod deleted and made anew under the same name is
not bound by mistake.

Extension points: Bind.  Requeue: nothing, a failed bind is retried after a backoff.
"""

from __future__ import annotations

from bayplan.errors import BayplanError
from bayplan.framework import BindPlugin, CycleState, On, Verdict, failed
from bayplan.framework.handle import handle_of
from bayplan.objects.pod import Pod


class DefaultBinder(BindPlugin):
    """Tell the API server which node the pod goes to."""

    name = "DefaultBinder"
    binds_every_pod = True

    def requeue_on(self) -> tuple[On, ...]:
        return ()

    async def bind(self, state: CycleState, pod: Pod, node_name: str) -> Verdict:
        try:
            await handle_of(self).writer.bind(pod, node_name)
        except BayplanError as error:
            return failed(error)
        return None
