"""
Who may see what: the namespaces and kinds that one caller may list.

``app.ui.reviews`` asks the API server for them; ``app.ui.picture`` shows no more than they allow.  People with the same
rights see the same, so a view is made once for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

Namespaces = frozenset[str] | None
"""None: all of them."""


@dataclass(frozen=True, slots=True)
class Rights:
    """What one caller may list."""

    pods: Namespaces = frozenset()
    nodes: bool = False
    policies: Namespaces = frozenset()
    placements: Namespaces = frozenset()
    clusters: bool = False
    """The managed clusters of a hub."""

    @property
    def sees_all(self) -> bool:
        """All nodes and pods: only then may other nodes and pods be named in the explanation of a pod."""
        return self.pods is None and self.nodes

    def sees_pods(self, namespace: str) -> bool:
        return self.pods is None or namespace in self.pods

    def sees_policies(self, namespace: str) -> bool:
        """A policy's numbers are counts of pods."""
        return self.sees_pods(namespace) and (self.policies is None or namespace in self.policies)

    def sees_placements(self, namespace: str) -> bool:
        """A placement is shown with the clusters that it has and those that it has not."""
        return self.clusters and (self.placements is None or namespace in self.placements)


EVERYTHING = Rights(None, True, None, None, True)
"""For whoever sits at the machine, on which the files or the kubeconfig are."""
