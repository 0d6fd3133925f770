"""Plans are read as ``bayplan fit`` writes them, and what is wrong with one is one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from bayplan.controllers.rebalancer.move_plan import plan_of, read_plan
from bayplan.errors import InputError
from tests.controllers.rebalancer.plan_desk import shrinking_plan

GOOD = shrinking_plan()
MOVE = GOOD["moves"][0]


def test_a_plan_that_fit_made_is_read_from_yaml_and_json(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump(GOOD))
    plan = read_plan(str(tmp_path / "plan.yaml"))
    assert plan == plan_of(GOOD)
    assert (list(plan.nodes), plan.opens) == (GOOD["empty"], False)
    assert [(move.uid, move.source, move.target) for move in plan.moves] == [
        (each["uid"], each["from"], each["to"]) for each in GOOD["moves"]
    ]
    assert plan.schedulers == ("default-scheduler",)


@pytest.mark.parametrize(
    ("document", "line"),
    [
        ([], "is not a plan; give what bayplan fit"),
        ({"kind": "Pod"}, "is not a plan; give what bayplan fit"),
        ({"kind": "Fit", "fits": 3}, "is an answer of bayplan fit without a plan; "),
        (GOOD | {"stopped": "too long"}, "stopped: the run that made it was stopped: too long; plan again"),
        (GOOD | {"empty": 3}, 'empty: Expected "array | null", got "int"; '),
        (GOOD | {"moves": [MOVE | {"uid": 7}]}, 'moves[0].uid: Expected "str", got "int"; '),
        (GOOD | {"moves": [{"step": 1}]}, 'moves[0]: Object missing required field "namespace"; '),
        (GOOD | {"moves": [MOVE | {"uid": ""}]}, "moves[0].uid: is empty; plan again"),
        (GOOD | {"moves": [MOVE, MOVE]}, "moves[1].uid: two moves are of the same pod; plan again"),
        (GOOD | {"moves": [MOVE | {"from": "n9"}]}, 'moves[0].from: "n9" is not among the nodes of the plan; '),
        (
            {"kind": "Fit", "close": [], "moves": [], "schedulers": [], "room": {"node": None}},
            "room.node: says that no moves make room; ",
        ),
    ],
)
def test_what_is_no_plan_gets_one_line(document: Any, line: str) -> None:
    with pytest.raises(InputError) as error:
        plan_of(document)
    assert str(error.value).startswith(line)
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_yaml_gets_one_line(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text("{a: [")
    with pytest.raises(InputError) as error:
        read_plan(str(path))
    assert "\n" not in str(error.value)
    assert str(error.value).startswith(f"{path}: is not YAML: ")
