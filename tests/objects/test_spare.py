"""Spare pods and ledgers as they are written."""

from __future__ import annotations

import pytest

from bayplan.objects import spare
from bayplan.objects.spare import CPU_MILLI, MEMORY_MIB, Declared, Ledger, read_ledger
from bayplan.testing import pod


def test_a_ledger_is_read_as_it_was_written() -> None:
    ledger = Ledger(1500, 2048, 1_750_000_000.0, "1500m = …", "2.0Gi = …")
    assert read_ledger(ledger.as_text()) == ledger


@pytest.mark.parametrize(
    "text",
    [
        None, "", "[]", "{}", "5", '{"cpuMilli":-1,"memoryMiB":1,"sampledAt":"2025-06-15T15:06:40Z"}',
        '{"cpuMilli":true,"memoryMiB":1,"sampledAt":"2025-06-15T15:06:40Z"}',
        '{"cpuMilli":1,"memoryMiB":1.5,"sampledAt":"2025-06-15T15:06:40Z"}',
        '{"cpuMilli":1,"memoryMiB":1,"sampledAt":"yesterday"}',
        '{"cpuMilli":1,"memoryMiB":1,"sampledAt":7}',
    ],
)  # fmt: skip
def test_a_ledger_that_makes_no_sense_is_none(text: str | None) -> None:
    assert read_ledger(text) is None


def test_a_pod_opts_in_by_its_label_or_by_what_it_asks_for() -> None:
    assert spare.declared(pod("p").cpu("1").build()) is None
    assert spare.declared(pod("p").label({spare.CLASS_LABEL: "spare"}).build()) == Declared(0, 0)
    asking = pod("p").request({CPU_MILLI: 500, MEMORY_MIB: 64}).build()
    assert spare.declared(asking) == Declared(500, 64)
    assert spare.mistake_in(asking) is None
