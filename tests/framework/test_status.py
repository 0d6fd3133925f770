"""Codes, reasons and statuses: numbers and names as upstream has them, and what is refused as an answer."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.framework.status import (
    SKIP,
    SUCCESS,
    Code,
    Reason,
    Status,
    as_status,
    failed,
    unresolvable,
    unschedulable,
)


@pytest.mark.parametrize(
    ("code", "number", "title"),
    [
        (Code.SUCCESS, 0, "Success"),
        (Code.ERROR, 1, "Error"),
        (Code.UNSCHEDULABLE, 2, "Unschedulable"),
        (Code.UNRESOLVABLE, 3, "UnschedulableAndUnresolvable"),
        (Code.WAIT, 4, "Wait"),
        (Code.SKIP, 5, "Skip"),
        (Code.PENDING, 6, "Pending"),
    ],
)
def test_codes_have_upstreams_numbers_and_names(code: Code, number: int, title: str) -> None:
    assert int(code) == number
    assert code.title == title


@pytest.mark.parametrize("code", list(Code))
def test_a_status_is_exactly_what_its_code_says(code: Code) -> None:
    status = Status(code)
    claims = {
        "success": status.is_success,
        "error": status.is_error,
        "skip": status.is_skip,
        "wait": status.is_wait,
        "rejected": status.is_rejected,
    }
    expected = {
        Code.SUCCESS: "success",
        Code.ERROR: "error",
        Code.SKIP: "skip",
        Code.WAIT: "wait",
        Code.UNSCHEDULABLE: "rejected",
        Code.UNRESOLVABLE: "rejected",
        Code.PENDING: "rejected",
    }[code]
    assert [name for name, claim in claims.items() if claim] == [expected]


def test_the_message_joins_the_reasons() -> None:
    assert unschedulable("Insufficient cpu", "Insufficient memory").message == "Insufficient cpu, Insufficient memory"
    assert SUCCESS.message == ""


def test_a_status_is_stamped_with_its_plugin_once() -> None:
    status = unresolvable("no").by("A")
    assert (status.plugin, status.code, status.reasons) == ("A", Code.UNRESOLVABLE, ("no",))
    assert status.by("A") is status
    assert status.by("B").plugin == "B"


@pytest.mark.parametrize(
    ("error", "reasons"),
    [
        ("the disk is gone", ("the disk is gone",)),
        (ValueError("bad size"), ("bad size",)),
        (KeyError(), ("KeyError",)),
    ],
)
def test_a_failure_tells_its_text_or_at_least_its_kind(error: Any, reasons: tuple[str, ...]) -> None:
    status = failed(error)
    assert status.is_error
    assert status.reasons == reasons
    assert status.error is (None if isinstance(error, str) else error)


@pytest.mark.parametrize(
    ("verdict", "status"),
    [
        (None, SUCCESS),
        (SKIP, SKIP),
        (Reason(Code.PENDING, "not yet"), Status(Code.PENDING, ("not yet",))),
    ],
)
def test_every_verdict_becomes_a_status(verdict: Any, status: Status) -> None:
    assert as_status(verdict) == status


@pytest.mark.parametrize("verdict", [True, 0, "no", Code.UNSCHEDULABLE, ["no"], object])
def test_anything_else_is_refused_as_a_verdict(verdict: Any) -> None:
    with pytest.raises(TypeError, match="expected None, a Reason or a Status, got"):
        as_status(verdict)


@pytest.mark.parametrize(
    ("make", "arguments", "complaint"),
    [
        (Status, (2, ("no",)), "the code of a Status is a Code, got 2"),
        (Status, (Code.UNSCHEDULABLE, ["no"]), "tuple of texts, got"),
        (Status, (Code.UNSCHEDULABLE, "no"), "tuple of texts, got 'no'"),
        (Status, (Code.UNSCHEDULABLE, (1,)), "tuple of texts, got"),
        (Reason, (2, "no"), "a Reason is a Code and a text, got 2"),
        (Reason, (Code.UNSCHEDULABLE, None), "a Reason is a Code and a text"),
    ],
)
def test_a_status_made_of_the_wrong_things_fails_where_it_is_made(
    make: Any, arguments: tuple[Any, ...], complaint: str
) -> None:
    with pytest.raises(TypeError, match=complaint):
        make(*arguments)
