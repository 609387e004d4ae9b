"""Motion on a table, at any time: cards on their way, and slots that flash."""

from hypothesis import given
from hypothesis import strategies as st

from fairest_cli.tui.board.layout import Rect
from fairest_cli.tui.board.motion import FLASH_MS, FLIGHT_MS, FRAME_MS, LONG_FLASH_MS, Motion, place_between
from fairest_protocol.calculation.cards import Card
from fairest_protocol.calculation.moves import MOVES

SEVEN = Card("7H")
RECTS = st.builds(Rect, st.integers(0, 200), st.integers(0, 60), st.just(8), st.just(5))


def test_a_card_travels_for_some_frames_and_arrives() -> None:
    motion = Motion().with_move(MOVES["sa"], SEVEN, 1000)
    assert [motion.progress(1000 + at) for at in range(0, FLIGHT_MS, FRAME_MS)] == [0.0, 0.25, 0.5, 0.75]
    assert motion.progress(1000 + FLIGHT_MS) is None
    assert motion.is_over(1000 + FLIGHT_MS)


def test_a_card_travels_from_its_source_to_its_target() -> None:
    flight = Motion().with_move(MOVES["b4"], SEVEN, 0).flight
    assert flight is not None
    assert (flight.source, flight.target) == ("pile-1", "foundation-3")
    flight = Motion().with_move(MOVES["sc"], SEVEN, 0).flight
    assert flight is not None
    assert (flight.source, flight.target) == ("stock-0", "pile-2")


def test_a_foundation_that_receives_a_card_flashes_and_a_pile_does_not() -> None:
    assert Motion().with_move(MOVES["s2"], SEVEN, 0).lit(10) == {"foundation-1"}
    assert Motion().with_move(MOVES["sb"], SEVEN, 0).lit(10) == frozenset()


def test_a_flash_ends_by_itself() -> None:
    motion = Motion().with_move(MOVES["s2"], SEVEN, 0)
    assert motion.lit(FLASH_MS - 1)
    assert not motion.lit(FLASH_MS)
    assert motion.is_over(FLASH_MS)


def test_the_next_card_replaces_the_one_under_way() -> None:
    motion = Motion().with_move(MOVES["sa"], SEVEN, 0).with_move(MOVES["b4"], Card("8D"), 50)
    assert motion.flight is not None
    assert motion.flight.card == "8D"
    assert motion.progress(50) == 0


def test_a_complete_foundation_flashes_longer() -> None:
    motion = Motion().with_move(MOVES["s2"], SEVEN, 0).with_flash("foundation-1", 0, LONG_FLASH_MS)
    assert motion.lit(LONG_FLASH_MS - 1) == {"foundation-1"}
    assert motion.is_over(LONG_FLASH_MS)


def test_nothing_moves_before_the_first_move() -> None:
    assert Motion().is_over(0)


@given(RECTS, RECTS, st.floats(0, 1))
def test_a_card_stays_between_its_source_and_its_target(source: Rect, target: Rect, progress: float) -> None:
    place = place_between(source, target, progress, 5, 1)
    assert min(source.x, target.x) <= place.x <= max(source.x, target.x)
    assert min(source.y, target.y) <= place.y <= max(source.y, target.y)
    assert (place.columns, place.lines) == (5, 1)


@given(RECTS, RECTS)
def test_a_card_begins_at_its_source_and_ends_at_its_target(source: Rect, target: Rect) -> None:
    first, last = place_between(source, target, 0, 5, 1), place_between(source, target, 1, 5, 1)
    assert (first.x, first.y, last.x, last.y) == (source.x, source.y, target.x, target.y)
