"""The programs are found, or their absence is told in one line that says what to install."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.support import prometheus
from tests.support.prometheus import SyntheticNodes, programs_or_skip, quick_rules


def test_without_the_programs_a_test_is_skipped_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prometheus, "find_programs", lambda: None)
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="apt-get install --no-install-recommends prometheus"):
        programs_or_skip()


def test_under_ci_their_absence_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prometheus, "find_programs", lambda: None)
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="no prometheus"):
        programs_or_skip()


def test_programs_on_the_path_go_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("prometheus", "promtool", "node_exporter"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert programs_or_skip().node_exporter == str(tmp_path / "node_exporter")


def test_a_played_node_gathers_idle_time_as_fast_as_it_is_idle() -> None:
    nodes = SyntheticNodes(["a"], cpu=0.75, memory=0.4)
    begun = time.time()
    time.sleep(0.2)
    idle = next(line for line in nodes.page().splitlines() if "idle" in line)
    assert float(idle.split()[-1]) == pytest.approx(0.25 * (time.time() - begun), rel=0.2)
    assert 'node_memory_MemAvailable_bytes{instance="a"} 600000000' in nodes.page()
    nodes._server.server_close()


def test_quick_rules_are_the_shipped_ones_with_shorter_times() -> None:
    rules = [rule for group in quick_rules("5s")["groups"] for rule in group["rules"]]
    assert {"record": "mem_usage_avg_5m", "expr": "avg_over_time(mem_usage_active[5s])"} in rules
    assert all(group["interval"] == "1s" for group in quick_rules()["groups"])
