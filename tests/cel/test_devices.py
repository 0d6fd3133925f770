"""Selectors of devices: what they see, what they answer and what they cost."""

import pytest

from bayplan.cel import CelError, CelRuntimeError
from bayplan.cel.devices import Device, compile, version

GPU = Device(
    "gpu.example.com",
    attributes={
        "model": "A100",
        "cores": 8,
        "healthy": True,
        "driverVersion": version("1.2.3"),
        "other.example.com/model": "B",
    },
    capacity={"memory": "80Gi"},
    allow_multiple_allocations=True,
)


@pytest.mark.parametrize(
    "expression",
    [
        'device.driver == "gpu.example.com"',
        "device.allowMultipleAllocations",
        'device.attributes["gpu.example.com"].model == "A100"',
        'device.attributes["gpu.example.com"].cores > 4',
        'device.attributes["gpu.example.com"].healthy',
        'device.attributes["gpu.example.com"].driverVersion.isGreaterThan(semver("1.2.0"))',
        'device.attributes["other.example.com"].model == "B"',
        'device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) > 0',
        'cel.bind(gpu, device.attributes["gpu.example.com"], gpu.model.startsWith("A") && gpu.cores == 8)',
    ],
)
def test_a_selector_sees_all_of_a_device(expression: str) -> None:
    assert compile(expression).matches(GPU)


def test_a_domain_that_is_not_there_is_an_empty_map_but_a_missing_id_is_an_error() -> None:
    assert not compile('has(device.attributes["nobody.example.com"].model)').matches(GPU)
    assert not compile('"nobody.example.com" in device.attributes').matches(GPU)
    with pytest.raises(CelRuntimeError, match=r"^no such key: model$"):
        compile('device.attributes["nobody.example.com"].model == "A100"').matches(GPU)


def test_an_expression_that_costs_more_than_a_million_ends_in_an_error() -> None:
    ten = "[0,1,2,3,4,5,6,7,8,9]"
    deep = f"{ten}.all(a, {ten}.all(b, {ten}.all(c, {ten}.all(d, {ten}.all(e, a + b + c + d + e >= 0)))))"
    with pytest.raises(CelRuntimeError, match="actual cost limit exceeded"):
        compile(deep).matches(GPU)


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("device.color == 'red'", "1:7: undefined field 'color'"),
        ("device.driver", "must evaluate to bool or the unknown type, not string"),
        ("1 +", "1:4: Syntax error: unexpected the end"),
        ("device.driver ==\n 3", "1:15: found no matching overload for '_==_' applied to '(string, int)'"),
        ("gpu.cores > 3", "1:1: undeclared reference to 'gpu'"),
        ("'" + "x" * 10240 + "' == 'x'", "longer than 10240 bytes"),
    ],
)
def test_a_wrong_expression_is_told_in_one_line(expression: str, problem: str) -> None:
    with pytest.raises(CelError) as caught:
        compile(expression)
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_result_that_is_no_truth_value_is_an_error() -> None:
    with pytest.raises(CelRuntimeError, match="CEL result of type string could not be converted to bool"):
        compile('device.attributes["gpu.example.com"].model').matches(GPU)


def test_the_same_text_gives_the_same_selector() -> None:
    assert compile("device.driver == 'a'") is compile("device.driver == 'a'")
