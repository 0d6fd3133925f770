"""The error tree: what each error says."""

from __future__ import annotations

import pytest

from bayplan import errors


def test_input_error_is_one_line_with_place_object_field_problem_and_fix() -> None:
    error = errors.InputError(
        "two\n  lines", source="a.yaml", line=3, object="Pod shop/web", field="spec.x", fix="write 1 instead"
    )
    assert str(error) == "a.yaml:3: Pod shop/web: spec.x: two lines; write 1 instead"


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ({}, "bad"),
        ({"source": "a.yaml"}, "a.yaml: bad"),
        ({"line": 3}, "bad"),
        ({"object": "Pod web", "fix": "fix it"}, "Pod web: bad; fix it"),
    ],
)
def test_input_error_leaves_out_what_is_not_known(parts: dict[str, object], text: str) -> None:
    assert str(errors.InputError("bad", **parts)) == text  # type: ignore[arg-type]


def test_a_place_is_filled_in_only_where_none_was_known() -> None:
    located = errors.InputError("bad", source="own.yaml", field="f").located("other.yaml", 7, "Pod web")
    assert str(located) == "own.yaml:7: Pod web: f: bad"


def test_several_input_errors_are_one_line_each_and_caught_as_one() -> None:
    several = errors.InputErrors([errors.InputError("one"), errors.InputError("two")])
    assert isinstance(several, errors.InputError)
    assert str(several) == "one\ntwo"


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (
            errors.PluginError("Fit", "filter", "shop/web", KeyError("cpu")),
            "plugin Fit failed in filter for pod shop/web: KeyError: 'cpu'",
        ),
        (
            errors.PluginError("Fit", "score", "shop/web", "not found"),
            "plugin Fit failed in score for pod shop/web: not found",
        ),
        (errors.StateError("assumed twice"), "assumed twice"),
        (
            errors.ConflictError(409, "changed", reason="Conflict", method="PUT", path="/api/v1/x"),
            "PUT /api/v1/x: 409 Conflict: changed",
        ),
        (errors.ServerError(500, "broken"), "500: broken"),
    ],
)
def test_errors_read_as_sentences(error: errors.BayplanError, text: str) -> None:
    assert str(error) == text


def test_the_tree_is_as_drawn() -> None:
    for parent, children in {
        errors.ConfigError: "UnknownPluginError DuplicatePluginError InvalidArgsError InvalidProfileError",
        errors.ClientError: "UnauthorizedError ForbiddenError NotFoundError ConflictError GoneError "
        "UnprocessableError TooManyRequestsError",
        errors.ApiError: "ClientError ServerError",
        errors.BayplanError: "InputError PluginError StateError ApiError TransportError ExtenderError "
        "LeadershipLostError",
    }.items():
        for name in children.split():
            assert issubclass(getattr(errors, name), parent)


def test_too_many_requests_says_how_long_to_wait() -> None:
    assert errors.TooManyRequestsError(429, "slow", retry_after_s=2.0).retry_after_s == 2.0
