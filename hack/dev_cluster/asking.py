"""Whether the cluster really works: is its process there, and does its API server answer?  ``status`` asks."""

from __future__ import annotations

import os
import urllib.request
from pathlib import Path

from bayplan.kube.tls import checking_context
from hack.dev_cluster.servers import CERTIFICATES

TIMEOUT_S = 5.0


def is_alive(pid: int) -> bool:
    """Whether the process runs; one that ended and that nobody has taken note of does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True  # a system without /proc
    return stat.rpartition(")")[2].split()[0] != "Z"


def answers(server: str) -> bool:
    """Whether the API server says that it is ready."""
    try:
        context = checking_context(str(CERTIFICATES / "apiserver.crt"))
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context)
        )
        with opener.open(f"{server}/readyz", timeout=TIMEOUT_S) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False
