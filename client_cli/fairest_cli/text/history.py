"""Past matches and the player's figures in words, for `fairest history` and for the page of the full screen. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, Final

from fairest_cli.records.history import PastMatch
from fairest_cli.records.statistics import Best, Race, Statistics, Tally
from fairest_cli.text.board_text import format_time
from fairest_cli.text.move_text import describe_winner, describe_wins
from fairest_cli.untrusted_text import clean

BARS: Final = "▁▂▃▄▅▆▇█"
ASCII_BARS: Final = ".:-=+*#@"
LETTERS: Final = {"won": "W", "lost": "L", "drawn": "D"}
MAX_RIVALS: Final = 8
"""The most rivals that are listed; the others are counted."""
MAX_NAME: Final = 20
"""The longest name that a server gives; one in a file may be longer."""


def describe_statistics(figures: Statistics, *, is_ascii: bool = False) -> Iterator[str]:
    """Yield the player's figures, the most telling ones first; nothing without a race."""
    if not figures.races:
        return
    lost = figures.races - figures.won - figures.drawn
    drawn = f", {figures.drawn} drawn" if figures.drawn else ""
    percent = round(100 * figures.won / figures.races)
    yield f"{_counted(figures.races, 'race')}: {figures.won} won ({percent} %), {lost} lost{drawn}"
    yield f"the last {len(figures.last)}: {sparkline(figures.last, is_ascii=is_ascii)}  {_letters(figures.last)}"
    yield "; ".join(_describe_streaks(figures))
    if figures.near_misses:
        yield f"{_counted(figures.near_misses, 'near miss', 'near misses')}: 45 or more of 52 cards, without winning"
    for best in figures.variants:
        yield describe_best(best)
    for tally in figures.rivals[:MAX_RIVALS]:
        yield f"against {_name(tally.name)}: {describe_tally(tally)}"
    if len(figures.rivals) > MAX_RIVALS:
        yield f"and {len(figures.rivals) - MAX_RIVALS} other rivals"


def describe_best(best: Best) -> str:
    """Return the bests at one variant: ``classic: 12 of 20 won (60 %); most cards 52 of 52; fastest win 3:05``."""
    words = [f"{clean(best.tally.name)}: {describe_tally(best.tally)}", f"most cards {best.most_cards} of {best.goal}"]
    if best.fastest_ms is not None:
        words.append(f"fastest win {format_time(best.fastest_ms / 1000)}")
    return "; ".join(words)


def describe_tally(tally: Tally) -> str:
    """Return a win rate: ``12 of 20 won (60 %)``."""
    return f"{tally.won} of {tally.races} won ({tally.percent} %)"


def sparkline(races: Sequence[Race], *, is_ascii: bool = False) -> str:
    """Return a bar for each race, as high as its share of cards placed; only a complete race has the highest."""
    bars = ASCII_BARS if is_ascii else BARS
    return "".join(bars[race.own.placed * (len(bars) - 1) // race.own.goal] for race in races)


def describe_match(match: PastMatch) -> str:
    """Return a match in one line for people: its date, players, result and rules."""
    if match.rules is None:
        return f"{clean(match.path.name)}: {clean(match.problem)}"
    when = _describe_time(match.finished_at_ms)
    first, second = seats_in_order(match.own_seat)
    players = f"{_name(match.names[first])} against {_name(match.names[second])}"
    return f"{when}  {players}: {_result(match)}  ({clean(match.rules.name)})"


def fit_match(match: PastMatch, columns: int) -> str:
    """Return a match in the fullest wording of at most `columns` columns, or in the shortest one. All name the variant.

    Where both names do not fit, the line says against whom this machine's player won or lost.
    """
    full = describe_match(match)
    if match.rules is None or len(full) <= columns:
        return full
    day, variant = _describe_time(match.finished_at_ms)[:10], f"  ({clean(match.rules.name)})"
    first, second = seats_in_order(match.own_seat)
    ours, rival, result = _name(match.names[first]), _name(match.names[second]), _result(match)
    wordings = [f"{day}  {ours} against {rival}: {result}{variant}"]
    if match.own_seat is None:
        wordings.append(f"{day[5:]}  {result}{variant}")
    else:
        own_result = _own_result(result, ours, rival)
        wordings.append(f"{day}  against {rival}: {own_result}{variant}")
        # A name is cut before a number or the variant is.
        cuts = (rival, *(f"{rival[:room]}." for room in range(len(rival) - 1, 0, -1)))
        wordings += [f"{day[5:]}  {name}: {own_result}{variant}" for name in cuts]
    return next((each for each in wordings if len(each) <= columns), wordings[-1])


def _own_result(result: str, ours: str, rival: str) -> str:
    """Return a result without the name of its winner, as our win or our loss."""
    for name, word in ((ours, "won"), (rival, "lost")):
        if result.startswith(f"{name} won"):
            return word + result.removeprefix(f"{name} won")
    return result


def seats_in_order(own_seat: int | None) -> tuple[int, int]:
    """Return both seats with this machine's player first."""
    return (1, 0) if own_seat == 1 else (0, 1)


def describe_history(matches: Sequence[PastMatch], figures: Statistics) -> Iterator[str]:
    """Yield the figures, then a line for each match, and the command that replays it."""
    if not matches:
        yield "There are no records here yet. Race a bot: fairest play"
        return
    yield from describe_statistics(figures)
    if figures.races:
        yield ""
    for match in matches:
        yield describe_match(match)
        yield f"    fairest replay {clean(str(match.path))}"


def history_as_json(matches: Iterable[PastMatch], figures: Statistics) -> dict[str, Any]:
    """Return the figures and the matches as an object for JSON."""
    return {
        "races": figures.races,
        "won": figures.won,
        "drawn": figures.drawn,
        "near_misses": figures.near_misses,
        "streak": {"result": figures.streak_result, "races": figures.streak},
        "longest_won": figures.longest_won,
        "last": [{"placed": race.own.placed, "goal": race.own.goal, "result": race.result} for race in figures.last],
        "variants": [
            {
                **_tally_as_json(best.tally),
                "most_cards": best.most_cards,
                "goal": best.goal,
                "fastest_ms": best.fastest_ms,
            }
            for best in figures.variants
        ],
        "rivals": [_tally_as_json(tally) for tally in figures.rivals],
        "matches": [_match_as_json(match) for match in matches],
    }


def _tally_as_json(tally: Tally) -> dict[str, Any]:
    return {"name": tally.name, "races": tally.races, "won": tally.won, "drawn": tally.drawn}


def _match_as_json(match: PastMatch) -> dict[str, Any]:
    if match.rules is None:
        return {"path": str(match.path), "problem": match.problem}
    return {
        "path": str(match.path),
        "names": list(match.names),
        "own_seat": match.own_seat,
        "variant": match.rules.name,
        "finished_at_ms": match.finished_at_ms,
        "rounds": [
            {
                "number": played.number + 1,
                "winner": played.outcome.winner,
                "placed": [score.placed for score in played.outcome.scores],
                "duration_ms": played.duration_ms,
            }
            for played in match.rounds
        ],
    }


def _describe_streaks(figures: Statistics) -> Iterator[str]:
    words = {"won": "won", "lost": "lost", "drawn": "drawn"}[figures.streak_result]
    yield f"the last {'race' if figures.streak == 1 else f'{figures.streak} races'} {words}"
    if figures.longest_won:
        yield f"longest row of wins: {figures.longest_won}"


def _letters(races: Sequence[Race]) -> str:
    return "".join(LETTERS[race.result] for race in races)


def _counted(count: int, noun: str, plural: str = "") -> str:
    return f"{count} {noun if count == 1 else plural or f'{noun}s'}"


def _name(name: str) -> str:
    return clean(name)[:MAX_NAME]


def _describe_time(at_ms: int) -> str:
    """Return a time in words, in the zone of this machine; the systems differ in how far from today they reach."""
    try:
        return datetime.fromtimestamp(at_ms / 1000).astimezone().strftime("%Y-%m-%d %H:%M")
    except (OSError, OverflowError, ValueError):
        return "at a time that this system cannot show"


def _result(match: PastMatch) -> str:
    names = [_name(name) for name in match.names]
    if len(match.rounds) == 1:
        return describe_winner(match.rounds[0].outcome, names, is_past=True)
    winners = [played.outcome.winner for played in match.rounds]
    return describe_wins([winners.count(seat) for seat in (0, 1)], names)
