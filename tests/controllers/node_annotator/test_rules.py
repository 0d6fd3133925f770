"""The recording rules: right by promtool, the same for Prometheus and its operator, and enough for the policy."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import yaml

from bayplan.app.install_manifests import manifests
from bayplan.objects.third_party.crane import published_policy
from bayplan.objects.third_party.crane_reading import load_policy
from tests.support.prometheus import RULES, programs_or_skip

ROOT = Path(__file__).resolve().parents[3]
CASES = Path(__file__).with_name("rules_test.yaml")


def rules(part: str) -> list[dict[str, Any]]:
    document = yaml.safe_load(manifests(part))
    groups: list[dict[str, Any]] = document.get("spec", document)["groups"]
    return groups


def promtool(*arguments: str) -> None:
    done = subprocess.run([programs_or_skip().promtool, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_promtool_finds_nothing_wrong() -> None:
    promtool("check", "rules", str(RULES))


def test_the_rules_give_what_they_should(tmp_path: Path) -> None:
    cases = tmp_path / "cases.yaml"
    cases.write_text(CASES.read_text().replace("RULES", str(RULES)))
    promtool("test", "rules", str(cases))


def test_every_metric_of_the_published_policy_is_recorded() -> None:
    recorded = {rule["record"] for group in rules("prometheus-rules") for rule in group["rules"]}
    assert set(published_policy().metrics) <= recorded


def test_the_example_holds_the_published_policy() -> None:
    example = ROOT / "examples" / "load-aware"
    assert load_policy(example / "policy.yaml") == published_policy()
