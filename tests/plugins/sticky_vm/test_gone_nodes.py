"""Nodes that are gone: machines that stick to them are due after a time, each once, unless the node comes back."""

from __future__ import annotations

from bayplan.clock import VirtualClock
from bayplan.plugins.sticky_vm.gone_nodes import GoneNodes
from bayplan.plugins.sticky_vm.owners import Place
from bayplan.testing import pod

VM = Place("VirtualMachine", "default", "vm", "u1", "node")
OTHER = Place("VirtualMachine", "default", "other", "u2", "node")
POD = pod("launcher").build()


def test_the_time_counts_from_when_the_node_was_first_missed() -> None:
    clock = VirtualClock(100.0)
    gone = GoneNodes(clock, after_s=60.0)
    assert gone.next_due_s() is None
    gone.missed("n1", VM, POD)
    clock.advance(40.0)
    gone.missed("n1", OTHER, POD)
    assert gone.due() == []
    assert gone.next_due_s() == 20.0
    clock.advance(20.0)
    assert gone.next_due_s() == 0.0
    assert gone.due() == [("n1", VM, POD), ("n1", OTHER, POD)]
    assert gone.due() == []
    assert gone.next_due_s() is None


def test_a_machine_that_misses_a_node_which_is_long_gone_is_due_at_once() -> None:
    clock = VirtualClock()
    gone = GoneNodes(clock, after_s=60.0)
    gone.missed("n1", VM, POD)
    clock.advance(60.0)
    gone.due()
    gone.missed("n1", OTHER, POD)
    assert gone.due() == [("n1", OTHER, POD)]


def test_a_node_that_comes_back_is_counted_anew() -> None:
    clock = VirtualClock()
    gone = GoneNodes(clock, after_s=60.0)
    gone.missed("n1", VM, POD)
    clock.advance(59.0)
    gone.is_back("n1")
    gone.missed("n1", VM, POD)
    clock.advance(59.0)
    assert gone.due() == []
    assert gone.next_due_s() == 1.0
