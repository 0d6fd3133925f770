"""What a profile means, and what is said about one that means nothing."""

from __future__ import annotations

import pytest

from bayplan.errors import InputError
from bayplan.objects.admission.own_keys import USAGE
from bayplan.objects.load_estimate import Use
from bayplan.simulator.load.usage_profiles import profile_of_pod, read_profile
from bayplan.testing import pod
from tests.simulator.support import node, simulated

GIB = 1024**3


def test_a_profile_holds_from_the_start() -> None:
    profile = read_profile("cpu=2, memory=20Gi")
    assert profile.at(0) == profile.at(1e6) == Use(2000.0, 20.0 * GIB)


def test_steps_change_what_they_name() -> None:
    profile = read_profile("10s: cpu=2, memory=1Gi; 30m: cpu=500m")
    assert [profile.at(age).cpu_milli for age in (0, 10, 1799, 1800)] == [0, 2000, 2000, 500]
    assert profile.at(3600).memory_bytes == GIB


def test_a_pod_without_a_profile_uses_what_it_requests() -> None:
    assert profile_of_pod(pod("p").cpu("2").memory("1Gi").build()).at(5) == Use(2000, GIB)
    assert profile_of_pod(pod("p").cpu("2").annotation({USAGE: "cpu=1"}).build()).at(5) == Use(1000.0, 0.0)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("2 cores", '"2 cores" is not an amount of cpu or memory'),
        ("gpu=1", '"gpu=1" is not an amount of cpu or memory'),
        ("cpu=-1", "nothing uses less than nothing"),
        ("soon: cpu=1", '"soon" is not a duration'),
        ("5m: cpu=1; 1m: cpu=2", 'the step at "1m" does not begin later than the one before'),
    ],
)
def test_a_profile_with_a_mistake_is_refused_in_one_line(text: str, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        read_profile(text)
    told = str(caught.value)
    assert problem in told
    assert f"metadata.annotations[{USAGE}]" in told
    assert "\n" not in told


def test_a_mistake_in_a_file_is_found_before_anything_runs() -> None:
    made = node("n1")
    made["metadata"]["annotations"] = {USAGE: "much"}
    with pytest.raises(InputError, match="much"):
        simulated(made, run_for_s=60.0)
