"""Sweeps: the same rows whoever runs them, whatever dies on the way, and none is run twice."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from bayplan.app.sweep import running
from bayplan.app.sweep.running import Means
from bayplan.errors import InputError
from tests.docs.pages import ROOT

CLUSTER = ROOT / "examples" / "05-simulate"
SWEEP = f"""\
apiVersion: bayplan.io/v1alpha1
kind: Sweep
metadata: {{name: try}}
spec:
  files: [{CLUSTER}/cluster.yaml, {CLUSTER}/workloads.yaml]
  grid:
    seed: 0:3
    outage: [none, topology.kubernetes.io/zone=eu-a]
    scale: [1, 1.5]
    weights: {{same: {{}}, packed: {{NodeResourcesFit: 5}}}}
"""


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    path = tmp_path / "sweep.yaml"
    path.write_text(SWEEP)
    return path


@pytest.fixture
def rows_of_one_process(sweep: Path) -> bytes:
    _, done = running.run(sweep, sweep.parent / "one.csv", Means(1))
    assert len(done.rows) == 24
    return (sweep.parent / "one.csv").read_bytes()


def test_a_scenario_differs_where_its_axes_say_so(sweep: Path) -> None:
    _, done = running.run(sweep, sweep.parent / "rows.csv", Means(1))
    nodes = {(row["outage"], row["scale"]): (row["nodes"], row["pods"]) for row in done.rows}
    assert nodes["none", "1"][0] == "6"
    assert nodes["topology.kubernetes.io/zone=eu-a", "1"][0] == "4"
    assert int(nodes["none", "1.5"][1]) > int(nodes["none", "1"][1])
    assert [row["scenario"] for row in done.rows] == [str(number) for number in range(24)]


@pytest.mark.slow
def test_two_workers_give_the_rows_of_one_process(sweep: Path, rows_of_one_process: bytes) -> None:
    out = sweep.parent / "two.csv"
    running.run(sweep, out, Means(2))
    assert out.read_bytes() == rows_of_one_process


@pytest.mark.slow
def test_a_worker_that_is_killed_loses_nothing(sweep: Path, rows_of_one_process: bytes) -> None:
    out, killed = sweep.parent / "killed.csv", []

    def kill_one(done: int, total: int) -> None:
        if done == 5 and not killed:
            child = _children(os.getpid())[-1]
            os.kill(child, signal.SIGKILL)
            killed.append(child)

    running.run(sweep, out, Means(2), tell=kill_one)
    assert killed
    assert out.read_bytes() == rows_of_one_process


@pytest.mark.slow
def test_workers_end_with_a_sweep_that_is_killed(sweep: Path) -> None:
    sweep.write_text(SWEEP.replace("seed: 0:3", "seed: 0:1000"))
    command = [sys.executable, "-m", "bayplan", "sweep", str(sweep), "--workers", "2", "--out", "killed.csv"]
    with subprocess.Popen(command, cwd=sweep.parent, stderr=subprocess.DEVNULL) as begun:
        while len(workers := _children(begun.pid)) < 2:
            assert begun.poll() is None
            time.sleep(0.05)
        ends = [os.pidfd_open(worker) for worker in workers]
        begun.kill()
    for end in ends:
        assert select.select([end], [], [], 60)[0], "it still runs"
        os.close(end)


def test_a_sweep_that_was_stopped_goes_on_where_it_was(sweep: Path, rows_of_one_process: bytes) -> None:
    out, ran = sweep.parent / "half.csv", []
    lines = rows_of_one_process.splitlines(keepends=True)
    out.write_bytes(b"".join([lines[0], lines[9], lines[3], lines[7][:20]]))  # the last was being written
    _, done = running.run(sweep, out, Means(1), tell=lambda finished, total: ran.append(finished))
    assert done.reused == 2
    assert ran[0] == 2
    assert len(ran) == 23
    assert out.read_bytes() == rows_of_one_process


def test_rows_of_other_files_are_not_taken_for_ours(sweep: Path, rows_of_one_process: bytes) -> None:
    sweep.write_text(SWEEP.replace("seed: 0:3", "seed: 1:3"))
    with pytest.raises(InputError, match="holds 8 rows of other scenarios, or of files that have changed"):
        running.run(sweep, sweep.parent / "one.csv", Means(1))
    assert (sweep.parent / "one.csv").read_bytes() == rows_of_one_process
    _, done = running.run(sweep, sweep.parent / "one.csv", Means(1), fresh=True)
    assert (len(done.rows), done.reused) == (16, 0)


def test_parquet_and_a_picture(sweep: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    sweep.write_text(SWEEP.replace("seed: 0:3", "seed: [7]"))
    _, done = running.run(sweep, sweep.parent / "rows.parquet", Means(1), plot=sweep.parent / "rows.svg")
    table = parquet.read_table(sweep.parent / "rows.parquet")
    assert table.column("bound").to_pylist() == [int(row["bound"]) for row in done.rows]
    assert "<svg" in (sweep.parent / "rows.svg").read_text()


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("outage:", "outtage:", 'sweep.yaml: spec.grid.outtage: unknown field; did you mean "outage"?'),
        ("zone=eu-a", "zone=nowhere", 'sweep.yaml: grid.outage: no node is selected by "topology.kubernetes.io/zone=nowhere"; topology.kubernetes.io/zone is eu-a, eu-b, eu-c'),
        ("[none, topology.kubernetes.io/zone=eu-a]", "[eu-a-9]", 'sweep.yaml: grid.outage: there is no node "eu-a-9"; did you mean "eu-a-2"?'),
        ("scale: [1, 1.5]", "scale: {more: {deployment/nope: 3}}", 'sweep.yaml: grid.scale: there is no Deployment "nope" in namespace "default"'),
        ("scale: [1, 1.5]", "scale: {more: {daemonset/agent: 3}}", 'sweep.yaml: grid.scale: a DaemonSet has no size of its own'),
        ("NodeResourcesFit: 5", "NodeResourceFit: 5", 'sweep.yaml: spec.grid.weights: there is no plugin "NodeResourceFit"; did you mean "NodeResourcesFit"?'),
        ("NodeResourcesFit: 5", "NodeResourcesFit: 0", "must be greater than or equal to 1, not 0"),
        ("seed: 0:3", "seed: 0:1000000000", 'spec.grid.seed: "0:1000000000" are too many; write at most 1000000'),
        ("seed: 0:3", "seed: [1, 2, 1]", "spec.grid.seed: 1 is there twice; leave one of them out"),
        ("scale: [1, 1.5]", "scale: [1, -2]", "spec.grid.scale: -2: -2 is no size; write a factor such as 1.5, or {deployment/web: 20}"),
        ("scale: [1, 1.5]", "scale: {more: {deployment/web: many}}", "spec.grid.scale: more:"),
        ("  grid:", "  for: -5m\n  grid:", "for: -5m is less than nothing; write a duration such as 10m"),
        ("  grid:", "  measures: {bound: {resource: cpu, atArrival: 50}}\n  grid:", 'spec.measures: "bound" is the name of a column; give it another name'),
        ("seed: 0:3", "seed: 3:0", 'spec.grid.seed: "3:0" has no seed in it; write the end behind the first, such as 0:10'),
        ("cluster.yaml", "nope.yaml", "nope.yaml: no such file or folder; check the path"),
        ("kind: Sweep", "kind: Sweeep", "this is no sweep: bayplan.io/v1alpha1, Sweeep"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_line(sweep: Path, old: str, new: str, line: str) -> None:
    from bayplan.errors import BayplanError

    sweep.write_text(SWEEP.replace(old, new))
    with pytest.raises(BayplanError) as caught:
        running.run(sweep, sweep.parent / "rows.csv", Means(1))
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_picture_that_cannot_be_written_is_told_before_anything_runs(sweep: Path) -> None:
    with pytest.raises(InputError, match=r"--plot: there is no folder .*nowhere"):
        running.run(sweep, sweep.parent / "rows.csv", Means(1), plot=sweep.parent / "nowhere" / "rows.svg")
    assert not (sweep.parent / "rows.csv").exists()


@pytest.mark.slow
def test_dask_workers_give_the_same_rows_also_when_one_is_killed(sweep: Path, rows_of_one_process: bytes) -> None:
    pytest.importorskip("distributed")
    begun: list[subprocess.Popen[str]] = []
    try:
        scheduler = _dask(begun, "dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        address = _said(scheduler, "Scheduler at:").split()[-1]
        workers = [
            _dask(
                begun, "dask_worker", address, "--nthreads", "1", "--no-dashboard", "--no-nanny", "--host", "127.0.0.1"
            )
            for _ in range(2)
        ]
        for each in workers:
            _said(each, "Registered to:")
        out, killed = sweep.parent / "dask.csv", []

        def kill_one(done: int, total: int) -> None:
            if done == 5 and not killed:
                workers[0].kill()
                killed.append(True)

        running.run(sweep, out, Means(on=address), tell=kill_one)
        assert killed
        assert out.read_bytes() == rows_of_one_process
    finally:
        for each in begun:
            each.kill()
            each.wait()


def test_an_address_without_a_dask_scheduler_is_one_line(sweep: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    from bayplan.app.sweep import dask_workers

    monkeypatch.setattr(dask_workers, "CONNECT_S", 0.2)
    with pytest.raises(InputError, match=r"--on: no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        running.run(sweep, sweep.parent / "rows.csv", Means(on="tcp://127.0.0.1:9"))


def _children(parent: int) -> list[int]:
    """Processes that this one began and that run scenarios."""
    found = []
    for path in Path(f"/proc/{parent}/task").glob("*/children"):
        for child in path.read_text().split():
            if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
                found.append(int(child))
    return sorted(found)


def _dask(begun: list[subprocess.Popen[str]], program: str, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", f"distributed.cli.{program}", *arguments]
    begun.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT))
    return begun[-1]


def _said(process: subprocess.Popen[str], words: str) -> str:
    """The line with these words, which the program says when it is ready; what follows is thrown away."""
    assert process.stdout is not None
    until = time.monotonic() + 60
    for line in process.stdout:
        if words in line:
            threading.Thread(target=process.stdout.read, daemon=True).start()
            return line.strip()
        assert time.monotonic() < until, line
    raise AssertionError(f"it ended without saying {words}")
