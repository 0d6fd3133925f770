"""Runs ``bayplan`` as the console script would, in this process."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from bayplan.cli.main import main


@dataclass(frozen=True)
class Ended:
    """What a command left behind."""

    code: int
    out: str
    err: str


class Shell:
    """A folder to work in, and commands to type there."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capsys = capsys

    def write(self, name: str, text: str) -> str:
        """A file; its path."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return str(path)

    def run(self, *arguments: str) -> Ended:
        code = main(arguments)
        captured = self._capsys.readouterr()
        return Ended(code, captured.out, captured.err)


NODE = """\
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
"""

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - {name: main, image: app, resources: {requests: {cpu: "1"}}}
"""

BIG = POD.replace("web", "big").replace('"1"', '"9"')


def joined(*documents: str) -> str:
    return "---\n".join(documents)
