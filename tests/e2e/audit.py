"""The API server's own account of who asked for what: its audit log, read by the tests of this folder.

Every replica has a token of its own, and the log names the token, so it tells which replica a request came from.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.support.binaries import Binaries
from tests.support.control_plane import ControlPlane

CREDENTIAL = "authentication.kubernetes.io/credential-id"
POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        {
            "level": "Request",
            "userGroups": ["system:serviceaccounts"],
            "resources": [
                {"group": "", "resources": ["pods/binding"]},
                {"group": "coordination.k8s.io", "resources": ["leases"]},
            ],
        },
        {"level": "Metadata", "userGroups": ["system:serviceaccounts"]},
        {"level": "None"},
    ],
}


class AuditedPlane(ControlPlane):
    """A control plane that keeps the log, in a folder of the caller's."""

    def __init__(self, binaries: Binaries, folder: Path) -> None:
        policy = folder / "audit-policy.yaml"
        policy.write_text(yaml.safe_dump(POLICY))
        self.audit_log = folder / "audit.log"
        flags = (f"--audit-policy-file={policy}", f"--audit-log-path={self.audit_log}")
        super().__init__(binaries, extra_flags=flags)


@dataclass(frozen=True, slots=True)
class Request:
    """One request of a service account."""

    token: str
    verb: str
    resource: tuple[str, str]
    """API group, and resource with its subresource."""
    name: str
    code: int
    received_at: str
    answered_at: str
    body: dict[str, Any]

    @property
    def is_done(self) -> bool:
        return 200 <= self.code < 300


BINDING = ("", "pods/binding")
LEASE = ("coordination.k8s.io", "leases")


class Audit:
    """What was asked since the object was made."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._start = log.stat().st_size if log.exists() else 0

    def requests(self) -> Iterator[Request]:
        with self._log.open("rb") as file:
            file.seek(self._start)
            for line in file:
                if line.endswith(b"\n"):
                    yield _request(json.loads(line))

    def refused(self) -> list[str]:
        """Requests that the rules do not allow."""
        return sorted({f"{each.verb} {each.resource}" for each in self.requests() if each.code == 403})

    def used(self) -> set[tuple[str, str, str]]:
        """(verb, API group, resource) of everything that was asked for."""
        return {(each.verb, *each.resource) for each in self.requests() if each.resource[1]}

    def bound_twice(self) -> list[str]:
        """Pods for which a bind succeeded more than once."""
        done = Counter(
            each.body["metadata"]["uid"] for each in self.requests() if each.resource == BINDING and each.is_done
        )
        return [uid for uid, times in done.items() if times > 1]

    def outside_leadership(self) -> list[str]:
        """Binds that succeeded although another replica had written the lease last, or nobody held it."""
        in_order = sorted(self.requests(), key=lambda each: each.answered_at)
        leases = [each for each in in_order if each.resource == LEASE and each.is_done and each.body]
        found = []
        for bind in in_order:
            if bind.resource != BINDING or not bind.is_done:
                continue
            before = [each for each in leases if each.answered_at <= bind.received_at]
            if not before:
                found.append(f"{bind.name}: before anybody led")
            elif before[-1].token != bind.token or not before[-1].body["spec"].get("holderIdentity"):
                found.append(f"{bind.name}: by {bind.token} at {bind.received_at}, but {before[-1].token} led")
        return found


def _request(event: dict[str, Any]) -> Request:
    about = event.get("objectRef") or {}
    resource = "/".join(part for part in (about.get("resource", ""), about.get("subresource", "")) if part)
    token = (event["user"].get("extra") or {}).get(CREDENTIAL, [""])[0].removeprefix("JTI=")
    return Request(
        token,
        event["verb"],
        (about.get("apiGroup", ""), resource),
        f"{about.get('namespace', '')}/{about.get('name', '')}",
        event["responseStatus"]["code"],
        event["requestReceivedTimestamp"],
        event["stageTimestamp"],
        event.get("requestObject") or {},
    )
