from bayplan.cel.estimates.sizes import MOST, UNKNOWN, Size, exactly, scaled, wrapped


def test_what_is_too_much_stays_at_the_largest_number() -> None:
    assert UNKNOWN.plus(exactly(1)) == Size(1, MOST)
    assert UNKNOWN.times(exactly(2)) == Size(0, MOST)
    assert scaled(MOST, 2.0) == MOST


def test_scaling_rounds_up() -> None:
    assert [scaled(each, 0.1) for each in (0, 1, 10, 11)] == [0, 1, 1, 2]


def test_either_has_the_outer_bounds() -> None:
    assert Size(2, 5).either(Size(1, 4)) == Size(1, 5)


def test_some_sizes_begin_again_at_zero() -> None:
    assert wrapped(MOST + 3) == 2
    assert wrapped(-1) == MOST
