"""The file of a recorder: lines are added, and what was flushed can be read whatever comes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bayplan.app.snapshot.recording_file import RecordingFile
from bayplan.errors import InputError
from bayplan.simulator.replay import recording
from tests.simulator.replay.support import HEADER, SYNCED, add, node

NAMES = ["a.jsonl", "a.jsonl.gz"]
WRITES = """
import sys, time
from pathlib import Path
from bayplan.app.snapshot.recording_file import RecordingFile
from tests.simulator.replay.support import HEADER, SYNCED, add, node
file = RecordingFile(Path(sys.argv[1]))
for line in (HEADER, SYNCED, *(add(number, node(f"n{number}")) for number in range(20))):
    file.add(line)
    file.flush()
file.add(add(99, node("lost")))
print("written", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_can_be_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with RecordingFile(path) as file:
        for line in (HEADER, SYNCED, add(1, node("n1")), {"t": 2, "end": True}):
            file.add(line)
    read = recording.read(path)
    assert len(list(read.events())) == 1
    assert read.is_whole
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", NAMES)
def test_what_was_flushed_survives_a_kill(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    process = subprocess.Popen([sys.executable, "-c", WRITES, str(path)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    with process.stdout:
        assert process.stdout.readline() == b"written\n"
        os.kill(process.pid, signal.SIGKILL)
        process.wait(10)
    read = recording.read(path)
    assert len(list(read.events())) == 20
    assert not read.is_whole


def test_a_file_that_is_there_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("precious")
    with pytest.raises(InputError, match="is there already; give another file"):
        RecordingFile(path)
    assert path.read_text() == "precious"


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written: No such file or directory"):
        RecordingFile(tmp_path / "none" / "a.jsonl")


def test_a_full_disk_is_said() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    file = RecordingFile.__new__(RecordingFile)
    file.__dict__.update(_path=Path("/dev/full"), _packed=None, _plain=open("/dev/full", "wb"), _is_dirty=True)  # noqa: SIM115
    file._encode = lambda line: b"x" * 100_000
    with pytest.raises(InputError, match="cannot be written: No space left on device"):
        file.add({})
