"""
SchedulingGates: a pod stays out of the queue while its spec lists scheduling gates.

The controller that put a gate there removes it when the pod is ready to be placed.  Nothing is written to the pod
meanwhile: the API server has marked it as gated when it was created.

Extension points: PreEnqueue.  Requeue: the pod's own last gate was removed.
"""

from __future__ import annotations

from bayplan.framework import Change, On, PreEnqueuePlugin, Verdict, unresolvable
from bayplan.objects.pod import Pod


class SchedulingGates(PreEnqueuePlugin):
    """A pod stays out of the queue while its spec lists scheduling gates."""

    name = "SchedulingGates"

    def requeue_on(self) -> tuple[On, ...]:
        return (On("Pod", Change.POD_GATES_ELIMINATED, _is_own),)

    def pre_enqueue(self, pod: Pod) -> Verdict:
        gates = pod.gates
        return unresolvable(f"waiting for scheduling gates: [{' '.join(gates)}]") if gates else None


def _is_own(pod: Pod, old: Pod | None, new: Pod) -> bool:
    return new.uid == pod.uid
