"""Ratings computed again: no difference where all is right, and a sentence for whatever is not."""

from fairest_protocol.value import replace
from fairest_server.ratings.match_result import MatchResult, RoundResult, SeatResult
from fairest_server.ratings.recomputation import RatedMatch, Recomputation
from fairest_server.ratings.tally import MatchTallies, rate_match

PLAIN = SeatResult(won_ms=None, direct=0, is_near_miss=False, has_left=False)
PLAYERS = ("one", "two")


def won_by(winner: int) -> MatchResult:
    return MatchResult("classic", 20_000, (RoundResult(winner, (PLAIN, PLAIN)),))


def history(*winners: int) -> list[tuple[RatedMatch, MatchResult]]:
    """Matches between the same two players, as a server rates them."""
    before, rated = MatchTallies(), []
    for number, winner in enumerate(winners, 1):
        before = rate_match(before, won_by(winner), is_swapped=False)
        rated.append((RatedMatch(number, f"match-{number}", "classic", PLAYERS, before), won_by(winner)))
    return rated


def differences(recomputation: Recomputation, matches: list[tuple[RatedMatch, MatchResult | None]]) -> list[str]:
    return [sentence for rated, result in matches for sentence in recomputation.add(rated, result)]


def test_a_right_history_has_no_difference() -> None:
    recomputation = Recomputation(is_whole=True)
    matches = history(0, 1, 1, 0)
    assert differences(recomputation, [*matches]) == []
    assert recomputation.tallies["classic", "one"] == matches[-1][0].after.tallies[0]
    assert recomputation.pairs["classic", "one", "two"].wins == (2, 2)


def test_a_rating_that_is_a_thousandth_off_is_named() -> None:
    [(rated, result)] = history(0)
    first, second = rated.after.tallies
    forged = replace(rated, after=replace(rated.after, tallies=(replace(first, mean=first.mean + 1), second)))
    [sentence] = differences(Recomputation(is_whole=True), [(forged, result)])
    assert sentence == (
        f"classic of player one, after match match-1, number 1: mean is {first.mean + 1} and should be {first.mean}"
    )


def test_a_result_that_was_turned_round_is_named_for_both_players_and_the_pair() -> None:
    [(rated, _)] = history(0)
    found = differences(Recomputation(is_whole=True), [(rated, won_by(1))])
    assert [sentence.partition(",")[0] for sentence in found] == [
        "classic of player one",
        "classic of player two",
        "classic of the pair one and two",
    ]


def test_a_match_that_was_rated_twice_is_named() -> None:
    (first, result), (second, _) = history(0, 0)
    found = differences(
        Recomputation(is_whole=True), [(first, result), (replace(second, match_id=first.match_id), result)]
    )
    assert found == ["match match-1 was rated twice, the second time as number 2"]


def test_a_match_of_another_variant_is_named() -> None:
    [(rated, result)] = history(0)
    found = differences(Recomputation(is_whole=True), [(replace(rated, variant="easy"), result)])
    assert found == ["match match-1 was rated as easy, and it is classic"]


def test_the_effect_of_a_match_without_a_record_is_taken_over() -> None:
    (first, _), second = history(0, 1)
    recomputation = Recomputation(is_whole=True)
    assert differences(recomputation, [(first, None), second]) == []
    assert (recomputation.computed, recomputation.taken_over) == (1, 1)


def test_a_list_without_its_beginning_is_computed_from_its_first_entries_on() -> None:
    recomputation = Recomputation(is_whole=False)
    assert differences(recomputation, [*history(0, 1, 1)[1:]]) == []
    assert (recomputation.computed, recomputation.taken_over) == (1, 1)


def test_a_whole_list_does_not_take_over_what_a_forged_first_entry_claims() -> None:
    [_, (second, result)] = history(0, 1)
    assert differences(Recomputation(is_whole=True), [(second, result)])


def test_a_forged_rating_is_no_ground_for_the_next_one() -> None:
    (first, result), second = history(0, 1)
    tallies = (replace(first.after.tallies[0], mean=3_000_000), first.after.tallies[1])
    forged = replace(first, after=replace(first.after, tallies=tallies))
    recomputation = Recomputation(is_whole=True)
    assert len(differences(recomputation, [(forged, result), second])) == 1
    assert recomputation.tallies["classic", "one"] == second[0].after.tallies[0]
