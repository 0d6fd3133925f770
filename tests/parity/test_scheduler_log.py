"""The log of kube-scheduler is read as it is written."""

from __future__ import annotations

from pathlib import Path

from tests.parity.scheduler_log import SchedulerLog, parse_line

HEAD = "I1115 21:50:45.445410   16897 schedule_one.go:123]"
TRIED = f'{HEAD} "Attempting to schedule pod" pod="default/p1"\n'
SCORED = f'{HEAD} "Plugin scored node for pod" pod="default/p1" plugin="ImageLocality" node="n1" score=7\n'
BOUND = f'{HEAD} "Successfully bound pod to node" pod="default/p1" node="n1" evaluatedNodes=3 feasibleNodes=2\n'
PREEMPTION = "".join(
    f"{HEAD} {line}\n"
    for line in (
        '"Unable to schedule pod; no fit; waiting" pod="default/p1" err="0/1 nodes are available: 1 \\"x\\"."',
        '"the target node for the preemption is determined" node="n1" pod="default/p1"',
        '"Victim Pod is already being deleted, skipping the API call for it" '
        'preemptor="default/p1" node="n1" victim="a/v1"',
        '"Start the preemption asynchronously" preemptor="default/p1" node="n1" numVictims=2 numVictimsToDelete=1',
        '"Preemptor Pod preempted victim Pod" preemptor="default/p1" victim="a/v2" node="n1"',
        '"Async Preemption finished completely" preemptor="default/p1" node="n1" result="success"',
    )
)


def test_a_line_is_a_message_and_fields() -> None:
    entry = parse_line(f'{HEAD} "Said \\"no\\"" pod="a/b" err="1 \\"x\\" y=2" score=-5')
    assert entry is not None
    assert entry.message == 'Said "no"'
    assert entry.fields == {"pod": "a/b", "err": '1 "x" y=2', "score": "-5"}


def test_other_lines_are_passed_over() -> None:
    assert parse_line("goroutine 1 [running]:") is None


def test_an_attempt_collects_scores_and_outcome_across_reads(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(TRIED + SCORED[:40])
    log = SchedulerLog(path)
    assert [one.scores for one in log.read()] == [{}]
    path.write_text(TRIED + SCORED + BOUND)
    log.read()
    attempt = log.last_attempt("default/p1")
    assert attempt is not None
    assert (attempt.scores, attempt.node) == ({"ImageLocality": {"n1": 7}}, "n1")


def test_each_attempt_stands_alone(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(TRIED + SCORED + TRIED + BOUND)
    attempts = SchedulerLog(path).read()
    assert [(bool(one.scores), bool(one.outcome)) for one in attempts] == [(True, False), (False, True)]


def test_preemption_is_told_by_target_victims_and_end(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(TRIED + PREEMPTION)
    [attempt] = SchedulerLog(path).read()
    assert attempt.message == '0/1 nodes are available: 1 "x".'
    assert (attempt.target, attempt.evicted, attempt.terminating) == ("n1", ["a/v2"], ["a/v1"])
    assert attempt.preemption_finished
