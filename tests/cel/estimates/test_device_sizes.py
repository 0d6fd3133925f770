import pytest

from bayplan.cel.estimates.device_sizes import Path, device_size
from bayplan.cel.estimates.sizes import Size


@pytest.mark.parametrize(
    ("names", "most"),
    [
        ("driver", 63),
        ("allowMultipleAllocations", 1),
        ("attributes", 32),
        ("attributes @keys", 63),
        ("attributes @values @keys", 32),
        ("attributes @values model", 64),
        ("attributes @values @values", 64),
        ("capacity @values @values", 0),
    ],
)
def test_parts_of_a_device_have_a_largest_size(names: str, most: int) -> None:
    assert device_size(Path("device", *names.split())) == Size(0, most)


@pytest.mark.parametrize("names", ["", "other", "device attributes model", "device capacity @values memory"])
def test_other_paths_have_none(names: str) -> None:
    assert device_size(Path(*names.split())) is None


def test_two_continuations_can_share_their_last_place() -> None:
    domain = Path("device").then("attributes").then("@values")
    key = domain.then("@keys")
    domain.then("model")
    assert key.names == ["device", "attributes", "@values", "model"]


def test_a_path_without_room_is_copied() -> None:
    attributes = Path("device").then("attributes")
    keys, values = attributes.then("@keys"), attributes.then("@values")
    assert (keys.names[-1], values.names[-1]) == ("@keys", "@values")
