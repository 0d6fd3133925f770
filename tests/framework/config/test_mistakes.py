"""How mistakes are worded: paths, guesses and values."""

from __future__ import annotations

import pytest

from bayplan.framework.config.mistakes import Mistake, as_lines, did_you_mean, field_path, one_line, shown
from bayplan.objects.mistakes import nearest


@pytest.mark.parametrize(
    ("steps", "path"),
    [
        (("profiles", 0, "plugins", "score", "enabled", 1, "weight"), "profiles[0].plugins.score.enabled[1].weight"),
        (("", "parallelism"), "parallelism"),
        (("profiles[0].pluginConfig[2]", "args"), "profiles[0].pluginConfig[2].args"),
        ((), ""),
    ],
)
def test_a_path_reads_as_people_write_it(steps: tuple[str | int, ...], path: str) -> None:
    assert field_path(*steps) == path


def test_each_mistake_is_a_line_behind_the_file() -> None:
    mistakes = [Mistake("a.b", "is wrong"), Mistake("", "is odd")]
    assert as_lines(mistakes, "cfg.yaml") == "cfg.yaml: a.b: is wrong\ncfg.yaml: is odd"
    assert as_lines(mistakes) == "a.b: is wrong\nis odd"


@pytest.mark.parametrize(
    ("word", "guess"),
    [("NodeResourceFit", "NodeResourcesFit"), ("nodename", "NodeName"), ("Quux", None)],
)
def test_the_nearest_word_is_guessed_whatever_its_case(word: str, guess: str | None) -> None:
    assert nearest(word, ["NodeName", "NodeResourcesFit"]) == guess


def test_without_a_near_word_no_question_is_asked() -> None:
    assert did_you_mean("filtr", ["filter"]) == '; did you mean "filter"?'
    assert did_you_mean("filtr", ["bind"]) == ""


def test_long_values_and_exceptions_fit_on_a_line() -> None:
    assert shown("x" * 100) == f'"{"x" * 56}...'
    assert one_line(ValueError("two\n  lines")) == "ValueError: two lines"
