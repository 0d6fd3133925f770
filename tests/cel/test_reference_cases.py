"""What the API server's own evaluator (Kubernetes v1.36.4) said of random expressions: value, error and cost.

The first line of the file has the devices. `refused`: the expression does not compile there.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from bayplan.cel import CelError, CelRuntimeError
from bayplan.cel.devices import Device, compile, version

_LINES = (Path(__file__).parent / "reference_cases.jsonl").read_text().splitlines()
CASES = [json.loads(line) for line in _LINES[1:]]


def _device(written: dict[str, Any]) -> Device:
    attributes = {}
    for name, typed in written.get("attributes", {}).items():
        ((kind, value),) = typed.items()
        attributes[name] = version(value) if kind == "version" else value
    capacity = {name: each["value"] for name, each in written.get("capacity", {}).items()}
    return Device(written["driver"], attributes, capacity, written.get("allowMultipleAllocations", False))


DEVICES = [_device(each) for each in json.loads(_LINES[0])["devices"]]


@pytest.mark.parametrize("start", range(0, len(CASES), 100))
def test_value_error_and_cost_are_those_of_kubernetes(start: int) -> None:
    for case in CASES[start : start + 100]:
        assert _answer(case) == {key: case[key] for key in ("refused", "value", "error", "cost") if key in case}, case


def _answer(case: dict[str, Any]) -> dict[str, Any]:
    try:
        selector = compile(case["expression"])
    except CelError:
        return {"refused": True}
    try:
        value, cost = selector.evaluate(DEVICES[case["device"]])
    except CelRuntimeError as error:
        return {"error": str(error), "cost": error.cost}
    return {"value": value, "cost": cost}
