"""Changes as they are written, and the order in which they are played."""

from __future__ import annotations

import pytest

from bayplan.errors import InputError
from bayplan.simulator.explain.subject import Subject
from bayplan.simulator.what_if.changes import (
    Add,
    Apply,
    Delete,
    Drain,
    Reconfigure,
    Remove,
    Scale,
    in_order,
    read_add,
    read_delete,
    read_remove,
    read_scale,
)


def test_changes_are_played_in_one_order_however_they_are_written() -> None:
    web = Subject("Deployment", "", "web")
    written = [Drain("n1"), Remove("n2"), Scale(web, 3, "deploy/web=3"), Apply("a.yaml"), Delete(web, "deploy/web"),
               Add(1, like="n1"), Reconfigure("b.yaml")]  # fmt: skip
    assert [type(each).__name__ for each in in_order(written)] == [
        "Reconfigure", "Add", "Delete", "Apply", "Scale", "Remove", "Drain",
    ]  # fmt: skip


def test_a_size_names_a_workload_with_or_without_its_namespace() -> None:
    assert read_scale("deploy/web=20", "--scale") == Scale(Subject("Deployment", "", "web"), 20, "deploy/web=20")
    assert read_scale("sts/shop/db=0", "--scale").what == Subject("StatefulSet", "shop", "db")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("deploy/web", "is not a size of a workload; write one such as deploy/web=20"),
        ("deploy/web=many", "is not a size of a workload"),
        ("deploy/web=--5", "is not a size of a workload"),
        ("deploy/web=²", "is not a size of a workload"),
        (f"deploy/web={'9' * 5000}", "is not a size of a workload"),
        ("deploy/web=-1", "is too few; write at least 0"),
        ("dploy/web=1", "did you mean deployment/web?"),
        ("web=1", "write KIND/NAME"),
    ],
)
def test_what_is_no_size_is_told(text: str, told: str) -> None:
    with pytest.raises(InputError, match=r"--scale") as wrong:
        read_scale(text, "--scale")
    assert told in str(wrong.value)


def test_budgets_can_be_deleted_too() -> None:
    assert read_delete("pdb/shop/web", "--delete").what == Subject("PodDisruptionBudget", "shop", "web")


def test_new_nodes_are_like_one_thing() -> None:
    assert read_add(2, "n1", "", "--add") == Add(2, like="n1")
    for like, template in (("", ""), ("n1", "m5.yaml")):
        with pytest.raises(InputError, match=r"--like NODE or --node-template FILE"):
            read_add(2, like, template, "--add")
    with pytest.raises(InputError, match="write at least 1"):
        read_add(0, "n1", "", "--add")


def test_an_empty_selector_would_be_everything() -> None:
    with pytest.raises(InputError, match="would remove every node"):
        read_remove(" ", "--remove")
