"""A client checks the ledger of a round that credits distance, and notices one that does not add up."""

from itertools import product

import pytest

from fairest_cli.model.cheated import Cheated
from fairest_cli.model.known_room import KnownRoom
from fairest_cli.model.last_card import awaits_other
from fairest_cli.model.outcome_check import check_ledger, check_winner
from fairest_cli.model.seal_check import SealCheck
from fairest_cli.text.board_text import describe_ledger
from fairest_cli.text.move_text import describe_result
from fairest_cli.text.room_options import describe_options
from fairest_protocol.calculation.distance import Timing
from fairest_protocol.calculation.race import Ending, Outcome, Score
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.value import replace
from fairest_server.room.view import scene, view
from tests.support.races import KEY, Table
from tests.support.races_apart import credited_tables, outcome_of, race_apart

NAMES = ("ann", "bob")


def first_by_distance() -> Outcome:
    """Return the result of a race that the far seat 0 has won, though it arrived later."""
    return outcome_of(race_apart(3, (200, 20), lambda seat: (50, 60)[seat]))


def check(outcome: Outcome, *, has_credit: bool = True) -> None:
    check_ledger(outcome, has_credit=has_credit)
    check_winner(outcome, direct_breaks_ties=False)


def with_first(outcome: Outcome, **changes: int | None) -> Outcome:
    assert outcome.ledger is not None
    first, second = outcome.ledger
    return replace(outcome, ledger=(replace(first, **changes), second))  # type: ignore[arg-type]


def problem_of(table: Table, viewer: int | None) -> str:
    """Return why a viewer of this round has no proof of it, empty if there is one."""
    seal = SealCheck(key=KEY.public)
    try:
        for entry in view(table.steps, viewer):
            seal = seal.after(entry, table.state.options)
        check(outcome_of(table))  # type: ignore[arg-type]
    except Cheated as alarm:
        return str(alarm)
    return "" if seal.is_secret_known else "The secret is not known."


def test_an_honest_round_with_credit_is_proved_to_every_viewer() -> None:
    cases = product(enumerate(credited_tables()), (0, 1, None))
    problems = {(number, viewer): problem_of(table, viewer) for (number, table), viewer in cases}
    assert problems == dict.fromkeys(product(range(6), (0, 1, None)), "")


@pytest.mark.parametrize("changes", [{"arrival_ms": 1}, {"corrected_ms": 1}, {"credit_ms": 0}, {"arrival_ms": None}])
def test_a_ledger_that_does_not_add_up_is_an_alarm(changes: dict[str, int | None]) -> None:
    with pytest.raises(Cheated, match="do not add up"):
        check(with_first(first_by_distance(), **changes))


def test_more_credit_than_the_cards_allow_is_an_alarm() -> None:
    outcome = first_by_distance()
    assert outcome.ledger is not None
    arrival_ms = outcome.ledger[0].arrival_ms or 0
    credit_ms = outcome.scores[0].cards_turned * 300 + 1
    with pytest.raises(Cheated, match="do not add up"):
        check(with_first(outcome, credit_ms=credit_ms, corrected_ms=arrival_ms - credit_ms))


def test_another_winner_than_the_corrected_times_name_is_an_alarm() -> None:
    with pytest.raises(Cheated, match="another winner"):
        check(replace(first_by_distance(), winner=1))


def test_two_winners_without_times_are_an_alarm() -> None:
    with pytest.raises(Cheated, match="no times say who was first"):
        check_winner(replace(first_by_distance(), ledger=None), direct_breaks_ties=False)


@pytest.mark.parametrize(("has_ledger", "has_credit"), [(True, False), (False, True)])
def test_a_ledger_where_none_belongs_or_none_where_one_does_is_an_alarm(has_ledger: bool, has_credit: bool) -> None:
    outcome = first_by_distance()
    with pytest.raises(Cheated, match="credits distance where it is not to be credited"):
        check_ledger(outcome if has_ledger else replace(outcome, ledger=None), has_credit=has_credit)


def test_a_round_that_nobody_won_has_no_ledger() -> None:
    score = Score(30, 52, 10, 48, Ending.STUCK)
    check(Outcome(None, (score, score)))


def test_a_player_who_has_placed_every_card_knows_that_it_waits_for_the_other_one() -> None:
    table = race_apart(3, (200, 20), lambda seat: (50, 60)[seat])
    shown = [
        KnownRoom(room="a-b", seat=1, scene=scene(table.state, view(table.steps[:end], 1)))
        for end in range(len(table.steps) - 20, len(table.steps) + 1)
    ]
    assert [awaits_other(known) for known in shown if known.phase is Phase.RACING][-1]
    assert not awaits_other(shown[-1])


def test_the_result_says_what_was_credited() -> None:
    ledger = Timing(96_410, 150_000, 7_200, 89_210), Timing(91_300, 19_000, 900, 90_400)
    won = Score(52, 52, 20, 48, Ending.WON)
    lines = list(describe_ledger(NAMES, Outcome(0, (won, won), ledger)))
    assert lines == [
        "  ann: placed the last card after 96.41 s, credited 7.2 s for distance (150 ms a card): 89.21 s",
        "  bob: placed the last card after 91.30 s, credited 0.9 s for distance (19 ms a card): 90.40 s",
        "  The corrected times decide.",
    ]


def test_a_dead_heat_says_how_uncertain_the_credits_are() -> None:
    ledger = Timing(20_000, 150_000, 7_200, 12_800), Timing(13_700, 19_000, 900, 12_800)
    won = Score(52, 52, 20, 48, Ending.WON)
    [*_, last] = describe_result(Outcome(None, (won, won), ledger), NAMES)
    assert last == "  A dead heat: within the 0.08 s that the credits are uncertain by."


def test_a_result_without_a_ledger_says_nothing_of_distance() -> None:
    won, behind = Score(52, 52, 20, 48, Ending.WON), Score(40, 52, 10, 48, Ending.ROUND_OVER)
    assert not list(describe_ledger(NAMES, Outcome(0, (won, behind))))


def test_the_options_of_a_room_say_that_distance_is_credited() -> None:
    assert "distance is credited" in describe_options(RoomOptions(credit=1).resolved())
    assert "distance is credited" not in describe_options(RoomOptions().resolved())
