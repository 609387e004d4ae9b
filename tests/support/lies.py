"""Generated lies about the end of a round, told by a server that knows the deck: every one from a seed.

A lie is told to both players. It keeps neither of them cut off for as long as a seat waits: such a cut cannot be told
from a network that failed, and the client says so (docs/fairness.md).
"""

import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, NamedTuple

from fairest_cli.model.round_end import TOLERANCE_MS
from fairest_protocol.calculation.cards import Card
from fairest_protocol.calculation.race import Ending, Outcome, Score, judge
from fairest_protocol.messages import entries
from fairest_protocol.messages.entries import Entry
from fairest_protocol.messages.fields import Phase, as_seat
from fairest_protocol.messages.from_server import Error, Left
from fairest_protocol.messages.options import Spectators
from fairest_protocol.messages.refusals import Breach, CloseCode, Refusal
from fairest_protocol.messages.scene import Scene
from fairest_protocol.value import replace
from fairest_server.room.state import RoomState
from tests.support.lying_server import EPOCH_MS, ROOM, Line, LyingServer, pick, refusal, snapshot
from tests.support.races import KEY

Lie = Callable[[LyingServer, RoomState, random.Random], Awaitable["Story"]]
"""Tells a lie from a state of the room, and returns what it was."""


class Story(NamedTuple):
    """The words of a lie, the seats to which it was told, and whether it is true, so that it may pass without an alarm.

    `is_result`: it is a result that follows from entries, so it has to be proved if it is true.
    """

    told: str
    seats: tuple[int, ...] = (0, 1)
    is_true: bool = False
    is_result: bool = False


ENTRANCES: Final = ("create", "join", "resume", "hello")
FINAL_CODES: Final = [code for code in CloseCode if code >= 4000 or code in (CloseCode.TOO_BIG, CloseCode.BINARY_FRAME)]
RESUME_REFUSALS: Final = [Refusal.NO_SUCH_ROOM, Refusal.ROOM_CLOSED, Refusal.NOT_SEATED, Refusal.ROOM_FULL]


def _open_round(state: RoomState) -> Any:
    assert state.round is not None
    return state.round


def _shown(line: Line) -> Scene:
    assert line.model.scene is not None
    return line.model.scene


def _scores(state: RoomState, endings: tuple[Ending, Ending], chance: random.Random) -> tuple[Score, Score]:
    """Return the counts as they are, or some at random, with these endings."""
    goal = state.rules.goal
    if chance.random() < 0.9:
        return _true_counts(state, endings)
    first, second = (
        Score(chance.randint(0, goal), goal, chance.randint(0, 10), chance.randint(0, 48), ending) for ending in endings
    )
    return first, second


def _true_counts(state: RoomState, endings: tuple[Ending, Ending]) -> tuple[Score, Score]:
    goal, race = state.rules.goal, state.race
    counts = (
        [(racer.board.placed, racer.board.direct, racer.seen) for racer in race.racers] if race else [(0, 0, 0)] * 2
    )
    first, second = (
        Score(placed, goal, direct, seen, ending)
        for (placed, direct, seen), ending in zip(counts, endings, strict=True)
    )
    return first, second


def _endings(state: RoomState, chance: random.Random) -> tuple[Ending, Ending]:
    """Return two endings: those of a round that could be over, or any."""
    if chance.random() < 0.15:
        return pick(chance, list(Ending)), pick(chance, list(Ending))
    if state.race is None:
        lost, over = pick(chance, [Ending.NOT_REVEALED, Ending.RESIGNED]), Ending.ROUND_OVER
        both: tuple[Ending, Ending] = pick(chance, [(lost, over), (over, lost), (Ending.NOT_REVEALED,) * 2])
        return both
    if chance.random() < 0.3:
        resigned, over = Ending.RESIGNED, Ending.ROUND_OVER
        return pick(chance, [(resigned, over), (over, resigned)])  # type: ignore[no-any-return]
    first, second = (
        racer.ending or pick(chance, [Ending.AWAY, Ending.OUT_OF_TIME, Ending.AWAY]) for racer in state.race.racers
    )
    return first, second


def _seconds(liar: LyingServer, chance: random.Random) -> int:
    """Return any time that a clock of the room may have a meaning for."""
    options = liar.options
    over = (options.reveal_seconds, options.grace_seconds, options.chase_seconds, options.limit_seconds)
    return int(pick(chance, [0, 1, *(seconds + 1 for seconds in over), *(seconds // 2 for seconds in over)]))


async def _cut_shortly(liar: LyingServer, chance: random.Random) -> str:
    """Cut a player or both off for less than a seat waits, and let them come back to all that they had seen."""
    seconds = pick(chance, [0, 1, 8, liar.options.grace_seconds // 2])
    lines: Sequence[Line] = pick(chance, [liar.lines[:1], liar.lines[1:], liar.lines])
    for line in lines:
        line.is_away = True
        await line.cut(None)
        await line.is_lost()
    liar.advance(seconds)
    for line in lines:
        line.is_away = False
        await line.is_back()
    return f"{[line.seat for line in lines]} cut for {seconds} s"


async def finish(liar: LyingServer, state: RoomState, chance: random.Random) -> Story:
    """End the round with a result, after any time, with entries that might explain it or without."""
    endings, seconds = _endings(state, chance), _seconds(liar, chance)
    if chance.random() < 0.9:
        await liar.release()
    cut = ""
    if chance.random() < 0.2:
        liar.advance(pick(chance, [0, 1, liar.options.reveal_seconds - 1]))
        cut = await _cut_shortly(liar, chance)
    before: list[Entry] = []
    if chance.random() < 0.4:
        before.append(entries.Detached(seat=pick(chance, [0, 1]), until_ms=EPOCH_MS))
    if chance.random() < 0.1 and state.phase is Phase.RACING:
        before.append(entries.Stopped(seat=pick(chance, [0, 1]), until_ms=EPOCH_MS))
    if chance.random() < 0.2 and state.phase is Phase.DEALING:
        # Bytes of one player are shown, and this player is said to have shown none.
        before.append(liar.race.revealing(pick(chance, [0, 1])))
    for line in liar.lines:
        await line.show(*before)
    await liar.is_heard()
    liar.advance(seconds)
    scores, breaks_ties = _scores(state, endings, chance), liar.options.direct_breaks_ties
    winner = judge(scores, direct_breaks_ties=breaks_ties) if chance.random() < 0.9 else pick(chance, [0, 1, None])
    standing = _standing(state, winner)
    wins, is_over = standing if chance.random() < 0.97 else ((1, 1), not standing[1])
    after: list[Entry] = []
    if Ending.RESIGNED in endings and chance.random() < 0.5:
        after.append(entries.SeatFreed(seat=as_seat(endings.index(Ending.RESIGNED)), reason="left"))
    finished = entries.RoundFinished(
        outcome=Outcome(winner, scores),
        wins=wins,
        match_is_over=is_over,
        duration_ms=1,
        secret=_open_round(state).secret if chance.random() < 0.97 else bytes(32),
    )
    is_true = (
        finished.secret == _open_round(state).secret
        and finished.outcome == Outcome(judge(scores, direct_breaks_ties=breaks_ties), _true_counts(state, endings))
        and (wins, is_over) == standing
        and all(_could_end(liar, state, seat, ending) for seat, ending in enumerate(endings))
    )
    how = "shows"
    if state.phase is not Phase.READY and chance.random() < 0.2:
        how = "has"
        await _show_at_return(liar, (finished, *after))
    else:
        for line in liar.lines:
            await line.show(finished, *after)
    told = f"{how} {endings[0]}, {endings[1]} after {seconds} s behind {[entry.type for entry in before]} {cut}"
    return Story(told, is_true=is_true, is_result=how == "shows")


async def _show_at_return(liar: LyingServer, shown: Sequence[Entry]) -> None:
    """Cut both players, and let them come back to a snapshot in which these entries have happened."""
    for line in liar.lines:
        seen = _shown(line)
        for entry in shown:
            seen = seen.after(entry)
        line.position += len(shown)
        last = snapshot(line.seat, line.position, seen)
        line.on_resume = lambda _, last=last: last  # type: ignore[misc]
    for line in liar.lines:
        await line.cut(pick(random.Random(line.position), [None, 1000, 1012]))


def _standing(state: RoomState, winner: int | None) -> tuple[tuple[int, int], bool]:
    """Return the rounds won after a round that this seat has won, and whether the match is over."""
    first, second = (state.seat(seat).wins + (winner == seat) for seat in (0, 1))
    best_of, number = state.options.best_of, _open_round(state).number
    return (first, second), max(first, second) > best_of // 2 or number >= best_of


def _could_end(liar: LyingServer, state: RoomState, seat: int, ending: Ending) -> bool:
    """Return whether a seat's race could end so by now. Nobody was away, and both players have sent their bytes."""
    if state.race is None:
        return False
    own, other = state.race.racers[seat], state.race.racers[1 - seat]
    if own.ending is not None:
        return ending is own.ending
    if ending is not Ending.OUT_OF_TIME or state.phase is not Phase.RACING:
        return False
    over_ms = liar.happened_ms("started") + liar.options.limit_seconds * 1000
    if other.ending is not None:
        over_ms = min(over_ms, liar.happened_ms("stopped") + liar.options.chase_seconds * 1000)
    return liar.clock() >= over_ms - TOLERANCE_MS


async def put_out(liar: LyingServer, _state: RoomState, chance: random.Random) -> Story:
    """Send `left`, with a seat freed before it or without, to one player or to both."""
    chosen = pick(chance, [(0,), (1,), (0, 1)])
    reason = pick(chance, ["left", "away", "not_ready", "closed"])
    reached: set[int] = set()
    for line in liar.lines:
        freed = [entries.SeatFreed(seat=seat, reason=reason) for seat in chosen] if chance.random() < 0.6 else []
        await line.show(*freed)
        if line.seat in chosen:
            await line.send(Left())
        reached.update({line.seat} if freed or line.seat in chosen else ())
    return Story(f"left for {chosen}", tuple(reached))


async def refuse_unasked(liar: LyingServer, _state: RoomState, chance: random.Random) -> Story:
    """Refuse entering a room to a player who is in it."""
    to, code = pick(chance, ENTRANCES), pick(chance, [code for code in Refusal if code not in TO_SEND_AGAIN])
    line: Line = pick(chance, liar.lines)
    await line.send(refusal(to, code))
    return Story(f"refused {to} {code}", (line.seat,))


TO_SEND_AGAIN: Final = (Refusal.TRY_AGAIN, Refusal.IN_DOUBT)


async def close(liar: LyingServer, _state: RoomState, chance: random.Random) -> Story:
    """Close the connection of one player or of both with a final code."""
    code = pick(chance, FINAL_CODES)
    lines: Sequence[Line] = pick(chance, [liar.lines[:1], liar.lines[1:], liar.lines])
    for line in lines:
        if code == CloseCode.BANNED:
            await line.send(Error(code=Breach.BANNED, sentence="You are banned."))
        if code == CloseCode.BAD_TOKEN and chance.random() < 0.5:
            await line.send(Error(code=Breach.BAD_TOKEN, sentence="No player has this token."))
        await line.close(code)
    return Story(f"close {code}", tuple(line.seat for line in lines))


async def cut_and_refuse(liar: LyingServer, _state: RoomState, chance: random.Random) -> Story:
    """Cut a player off for less than a seat waits, then do not let the player back."""
    code, seconds = pick(chance, RESUME_REFUSALS), pick(chance, [0, 10, liar.options.grace_seconds - 10])
    line: Line = pick(chance, liar.lines)
    line.on_resume = lambda _: refusal("resume", code)
    await line.cut(pick(chance, [None, 1000, 1011, 1012, 1013]))
    liar.advance(seconds)
    return Story(f"cut for {seconds} s, then {code}", (line.seat,))


async def cut_and_forget(liar: LyingServer, state: RoomState, chance: random.Random) -> Story:
    """Cut a player off, then show a room in which the round is gone, or has become another one."""
    line: Line = pick(chance, liar.lines)
    scene = Scene(options=liar.options, seats=_shown(line).seats)
    if chance.random() < 0.5:
        seats = tuple(seat.model_copy(update={"entropy_hash": None}) for seat in scene.seats)
        scene = scene.model_copy(update={"seats": seats})
    line.on_resume = lambda _: snapshot(line.seat, 1, scene, tag="11111111")
    await line.cut(pick(chance, [None, 1000, 1012]))
    return Story("cut, then a room without the round", (line.seat,), is_true=state.phase is Phase.READY)


async def call_off(liar: LyingServer, state: RoomState, chance: random.Random) -> Story:
    """Call the round off, and open the commitment: before both players were bound, that may be."""
    round_ = _open_round(state)
    voided = entries.RoundVoided(round=round_.round_id, secret=round_.secret)
    freed = entries.SeatFreed(seat=pick(chance, [0, 1]), reason="not_ready")
    shown = (voided, freed) if chance.random() < 0.5 else (voided,)
    if chance.random() < 0.5:
        await _show_at_return(liar, shown)
    else:
        for line in liar.lines:
            await line.show(*shown)
    return Story("round_voided", is_true=state.phase is Phase.READY)


async def open_another(liar: LyingServer, state: RoomState, chance: random.Random) -> Story:
    """Open another round, signed as it should be, before this one has ended: of a new match, or as the next of this."""
    round_ = _open_round(state)
    match, number = pick(chance, [(None, 1), (round_.match_id, round_.number + 1), (round_.match_id, round_.number)])
    drawn = KEY.draw_round(ROOM, match, number, liar.options.terms())
    opened = liar.opening_of(drawn, match, number)
    for line in liar.lines:
        await line.show(opened)
    return Story(f"round_opened {number}")


async def change_rules(liar: LyingServer, _state: RoomState, chance: random.Random) -> Story:
    """Cut a player off, then show the same room with another option."""
    line: Line = pick(chance, liar.lines)
    options = liar.options
    change: dict[str, Any] = pick(
        chance,
        [
            {"best_of": 1 if options.best_of > 1 else 3},
            {"limit_seconds": options.limit_seconds - 1},
            {"reveal_seconds": options.reveal_seconds - 1},
            {"direct_breaks_ties": not options.direct_breaks_ties},
            {"spectators": Spectators.OPEN if options.spectators is not Spectators.OPEN else Spectators.CLOSED},
        ],
    )
    scene = _shown(line).model_copy(update={"options": options.model_copy(update=change)})
    line.on_resume = lambda _: snapshot(line.seat, line.position, scene)
    await line.cut(None)
    return Story(f"changes {list(change)}", (line.seat,))


async def invent_boards(liar: LyingServer, state: RoomState, chance: random.Random) -> Story:
    """Show both players at their return a round that is over, with cards on the foundations that nobody has placed."""
    winner = pick(chance, [0, 1])
    seats = [_shown(liar.lines[0]).seats[0], _shown(liar.lines[1]).seats[1]]
    boards = [seat.board for seat in seats]
    if boards[winner] is None:
        return await call_off(liar, state, chance)
    board = boards[winner]
    assert board is not None
    full = tuple(
        tuple(Card(f"{'A23456789TJQK'[rank - 1]}C") for rank in foundation.sequence()) for foundation in board.layout
    )
    boards[winner] = replace(board, foundations=full)
    endings = (Ending.WON, Ending.ROUND_OVER) if winner == 0 else (Ending.ROUND_OVER, Ending.WON)
    counts = [(each.placed, each.direct) if each else (0, 0) for each in boards]
    first, second = (
        Score(placed, state.rules.goal, direct, 48, ending)
        for (placed, direct), ending in zip(counts, endings, strict=True)
    )
    wins, is_over = _standing(state, winner)
    finished = entries.RoundFinished(
        outcome=Outcome(winner, (first, second)),
        wins=wins,
        match_is_over=is_over,
        duration_ms=1,
        secret=_open_round(state).secret,
    )
    for line in liar.lines:
        scene = _shown(line)
        shown = [seat.model_copy(update={"board": each}) for seat, each in zip(scene.seats, boards, strict=True)]
        last = scene.model_copy(update={"seats": tuple(shown)}).after(finished)
        line.position += 1
        message = snapshot(line.seat, line.position, last)
        line.on_resume = lambda _, message=message: message  # type: ignore[misc]
    for line in liar.lines:
        await line.cut(None)
    return Story(f"invents that {winner} has won")


async def close_room(liar: LyingServer, _state: RoomState, chance: random.Random) -> Story:
    """Close the room as the operator does, and open nothing."""
    freed = [entries.SeatFreed(seat=seat, reason="closed") for seat in (0, 1)]
    for line in liar.lines:
        await line.show(*freed[: pick(chance, [0, 2])], entries.RoomClosed(reason=pick(chance, [None, "repairs"])))
    return Story("room_closed")


async def contradict(liar: LyingServer, _state: RoomState, chance: random.Random) -> Story:
    """Send something that cannot follow."""
    line: Line = pick(chance, liar.lines)
    if chance.random() < 0.5:
        line.position += 7
        await line.show(entries.Attached(seat=0))
        return Story("a gap in the positions", (line.seat,))
    await line.send_text('{"type":"view"}')
    return Story("a message that is none", (line.seat,))


async def fall_silent(liar: LyingServer, _state: RoomState, chance: random.Random) -> Story:
    """Cut both players and never answer again."""
    liar.is_gone = True
    for line in liar.lines:
        await line.cut(None)
    liar.advance(pick(chance, [1, 10, 3600]))
    return Story("silence")


async def be_honest(liar: LyingServer, _state: RoomState, _chance: random.Random) -> Story:
    """Go on with the race to its end."""
    await liar.play_on()
    return Story("honest", is_true=True)


LIES: Final[list[Lie]] = [
    *[finish] * 12,
    put_out,
    put_out,
    refuse_unasked,
    refuse_unasked,
    close,
    close,
    cut_and_refuse,
    cut_and_forget,
    call_off,
    open_another,
    change_rules,
    invent_boards,
    invent_boards,
    close_room,
    contradict,
    fall_silent,
    be_honest,
    be_honest,
]
