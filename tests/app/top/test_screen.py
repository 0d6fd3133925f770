"""The screen of ``bayplan top`` fits the terminal, and shows names as they are."""

from __future__ import annotations

from typing import Any

import pytest
from rich.console import Console

from bayplan.app.top.screen import as_text, screen

NODE = {"name": "n1", "cpu": 0.95, "memory": 0.3, "pods": 3, "mostPods": 110, "state": "Ready"}
WAITING = {
    "pods": 2,
    "owner": "Job/big",
    "example": "lab/big-1",
    "message": "0/1 nodes are available: 1 Insufficient cpu.",
}


def top(nodes: int = 1, groups: int = 1, **node: Any) -> dict[str, Any]:
    return {
        "summary": {"nodes": nodes, "pods": 5, "bound": 3},
        "bindsPerSecond": 12.5,
        "queue": {"new": 0, "unschedulable": 2, "gated": 0},
        "nodes": [{**NODE, "name": f"n{number}", **node} for number in range(nodes)],
        "pending": [{**WAITING, "owner": f"Job/j{number}"} for number in range(groups)],
    }


def lines(document: dict[str, Any], height: int, width: int = 100, note: str = "") -> list[str]:
    console = Console(width=width, height=height, color_system=None)
    with console.capture() as captured:
        console.print(screen(document, height, note))
    return captured.get().splitlines()


def test_it_says_what_is_busy_and_what_waits_and_why() -> None:
    text = as_text(top(), 100)

    assert text.splitlines()[0] == "1 nodes   5 pods, 3 bound   12.5 binds/s   queue: 0 new, 2 unschedulable, 0 gated"
    assert "n0    ██████████  95%" in text
    assert "2        Job/j0  0/1 nodes are available: 1 Insufficient cpu." in text


@pytest.mark.parametrize("height", [10, 24, 60])
def test_it_is_never_higher_than_the_terminal(height: int) -> None:
    shown = lines(top(nodes=200, groups=50), height, note="cannot connect")

    assert len(shown) <= height
    assert any(line.startswith("n0") for line in shown)
    assert any("Job/j0" in line for line in shown)
    assert shown[-1].startswith("cannot connect")


def test_all_of_it_goes_into_a_file() -> None:
    text = as_text(top(nodes=40, groups=12), 100)

    assert sum(line.startswith("n") for line in text.splitlines()) == 40
    assert text.count("Job/j") == 12


def test_names_are_text_and_no_markup() -> None:
    document = top(name="[red]n[/red]")
    document["pending"][0]["message"] = "[link=x]no[/link]"

    text = as_text(document, 100)
    assert "[red]n[/red]" in text
    assert "[link=x]no[/link]" in text


def test_long_messages_are_cut_and_do_not_wrap() -> None:
    document = top()
    document["pending"][0]["message"] = "why " * 500

    assert max(len(line) for line in lines(document, 24)) <= 100
    assert sum("why" in line for line in lines(document, 24)) == 1
