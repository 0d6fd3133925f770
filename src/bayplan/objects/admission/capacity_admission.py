"""What an API server refuses in the capacity of a device: the amounts to ask for. `slice_admission` calls it."""

from __future__ import annotations

from fractions import Fraction

from bayplan.objects.admission import device_names
from bayplan.objects.devices.resource_slice import CapacityRequestPolicy, DeviceCapacity
from bayplan.objects.mistakes import Mistakes, mistake
from bayplan.objects.quantity import Quantity, parse, value

_MAX_OPTIONS = 10


def check_capacity(field: str, capacity: DeviceCapacity, is_shared: bool) -> Mistakes:
    policy, at = capacity.request_policy, f"{field}.requestPolicy"
    if policy is None:
        return
    if not is_shared:
        yield mistake(at, "is for devices that are shared", "write allowMultipleAllocations: true")
    elif policy.valid_values and policy.valid_range is not None:
        yield mistake(at, "says both validValues and validRange", "keep one of the two")
    elif policy.default is None and (policy.valid_values or policy.valid_range is not None):
        yield mistake(f"{at}.default", "there is none", "write what is given to those who ask for no amount")
    elif policy.valid_values:
        yield from _valid_values(f"{at}.validValues", policy, capacity.value)
    elif policy.valid_range is not None:
        yield from _valid_range(f"{at}.validRange", policy, capacity.value)


def _valid_values(field: str, policy: CapacityRequestPolicy, whole: Quantity) -> Mistakes:
    values = [parse(each) for each in policy.valid_values or ()]
    yield from device_names.at_most(field, values, _MAX_OPTIONS)
    if values != sorted(values):
        yield mistake(field, "are not in order", "write the smallest first")
    if len(set(values)) != len(values):
        yield mistake(field, "has a value twice", "write each once")
    if any(each > parse(whole) for each in values):
        yield mistake(field, f"has more than there is ({whole})", "write no larger values")
    if policy.default is not None and parse(policy.default) not in values:
        yield mistake(field, f"is without the default, {policy.default}", "add it, or write another default")


def _valid_range(field: str, policy: CapacityRequestPolicy, whole: Quantity) -> Mistakes:
    written, default = policy.valid_range, policy.default
    assert written is not None
    assert default is not None
    if written.min is None:
        yield mistake(f"{field}.min", "there is none", "write the smallest amount")
        return
    least, usual, all_of_it = parse(written.min), parse(default), parse(whole)
    most = None if written.max is None else parse(written.max)
    if least > all_of_it or (most is not None and most > all_of_it):
        yield mistake(field, f"goes beyond what there is ({whole})", "write smaller amounts")
    if usual < least or (most is not None and usual > most):
        yield mistake(field, f"is without the default, {default}", "write another default")
    if most is not None and least > most:
        yield mistake(f"{field}.min", "is larger than max", "write a smaller one")
    if written.step is not None:
        yield from _step(
            f"{field}.step",
            written.step,
            least,
            all_of_it,
            [default] if written.max is None else [default, written.max],
        )


def _step(field: str, step: Quantity, least: Fraction, whole: Fraction, amounts: list[Quantity]) -> Mistakes:
    if least + parse(step) > whole:
        yield mistake(field, f"{step} more than the least is more than there is", "write a smaller one")
    size = value(step)
    if not size:
        yield mistake(field, "is nothing", "write 1 or more")
        return
    for amount in amounts:
        if (value(amount) - _whole(least)) % size:
            yield mistake(field, f"{amount} is not a whole number of steps of {step} from the least", "write another")


def _whole(number: Fraction) -> int:
    """As a quantity is counted in whole units: rounded up."""
    return -(-number.numerator // number.denominator)
