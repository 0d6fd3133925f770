"""``bayplan manifests`` prints what kubectl can apply."""

from __future__ import annotations

import pytest
import yaml

from bayplan.app.install_manifests import PARTS
from bayplan.cli.main import main


def test_without_a_word_everything_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["manifests"]) == 0
    everything = capsys.readouterr().out
    assert main(["manifests", "all"]) == 0

    assert capsys.readouterr().out == everything
    assert {"ServiceAccount", "ClusterRole", "Deployment"} <= {each["kind"] for each in yaml.safe_load_all(everything)}


@pytest.mark.parametrize("part", PARTS)
def test_every_part_can_be_printed_alone(part: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["manifests", part]) == 0
    assert list(yaml.safe_load_all(capsys.readouterr().out))


def test_an_image_of_ones_own_can_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["manifests", "--image", "team/bayplan:2"]) == 0
    assert "image: team/bayplan:2\n" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["everything"], ["--image", ""], ["--image", "a b"]], ids=" ".join)
def test_what_is_not_there_gives_one_line_and_exit_code_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["manifests", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: ")
    assert printed.err.count("\n") == 1
