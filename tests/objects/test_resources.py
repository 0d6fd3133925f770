"""Amounts, and which resource names count how."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayplan.objects.resources import Resources, is_extended_name, is_pod_level_name, is_scalar_name

AMOUNTS = st.builds(
    Resources,
    st.integers(0, 10**6),
    st.integers(0, 10**12),
    st.integers(0, 10**12),
    st.integers(0, 100),
    st.dictionaries(st.sampled_from(["example.com/gpu", "hugepages-2Mi"]), st.integers(0, 8)),
)


def test_quantities_become_numbers_and_strange_names_are_dropped() -> None:
    made = Resources.from_quantities(
        {
            "cpu": "1500m",
            "memory": "1Gi",
            "ephemeral-storage": "1.5",
            "pods": "110",
            "example.com/gpu": 2,
            "hugepages-2Mi": "4Mi",
            "attachable-volumes-x": "39",
            "gpu": "3",
        },
        "status.allocatable",
    )
    assert (made.cpu_milli, made.memory_bytes, made.ephemeral_bytes, made.pods) == (1500, 2**30, 2, 110)
    assert made.scalars == {"example.com/gpu": 2, "hugepages-2Mi": 2**22, "attachable-volumes-x": 39}
    assert made.get("cpu") == 1500
    assert made.get("memory") == 2**30
    assert made.get("ephemeral-storage") == 2
    assert made.get("pods") == 110
    assert made.get("example.com/gpu") == 2
    assert made.get("example.com/none") == 0


def test_a_bad_quantity_names_its_field() -> None:
    with pytest.raises(ValueError, match=r'^status\.capacity\.memory: "1 Gi" is not a quantity; write "1Gi" instead$'):
        Resources.from_quantities({"cpu": "1", "memory": "1 Gi"}, "status.capacity")


@given(AMOUNTS, AMOUNTS)
def test_sums_are_exact_for_each_resource_in_either_order(one: Resources, other: Resources) -> None:
    both = one.plus(other)
    assert both == other.plus(one)
    names = {*one.as_map(), *other.as_map()}
    assert {name: both.get(name) for name in names} == {name: one.get(name) + other.get(name) for name in names}


@given(AMOUNTS)
def test_equal_amounts_hash_alike_and_a_named_zero_is_no_difference(one: Resources) -> None:
    with_zero = one.plus(Resources(scalars={"example.com/other": 0}))
    assert with_zero == one
    assert hash(with_zero) == hash(one)


def test_amounts_equal_nothing_but_amounts() -> None:
    assert Resources() == Resources(scalars={"example.com/gpu": 0})
    assert Resources() != Resources(cpu_milli=1)
    assert Resources() != Resources(scalars={"example.com/gpu": 1})
    assert Resources() != object()


@pytest.mark.parametrize(
    ("name", "extended", "scalar", "pod_level"),
    [
        ("cpu", False, False, True),
        ("memory", False, False, True),
        ("gpu", False, False, False),
        ("example.com/gpu", True, True, False),
        ("requests.example.com/gpu", False, False, False),
        ("kubernetes.io/batch-cpu", False, True, False),
        ("sub.kubernetes.io/x", False, True, False),
        ("hugepages-1Gi", False, True, True),
        ("attachable-volumes-csi-x", False, True, False),
        ("Example.com/gpu", False, False, False),
        ("example.com/-gpu", False, False, False),
    ],
)
def test_names(name: str, extended: bool, scalar: bool, pod_level: bool) -> None:
    assert is_extended_name(name) is extended
    assert is_scalar_name(name) is scalar
    assert is_pod_level_name(name) is pod_level
