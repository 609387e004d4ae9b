"""The largest messages of a server: docs/protocol.md promises bounds for them, which follow from the rules."""

from typing import Final

import pytest

from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.cards import Card
from fairest_protocol.calculation.match_rules import MAX_CALLED_OFF
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import Ending, Outcome, Score, Turn
from fairest_protocol.calculation.record import MAX_TIME_MS, Record, RecordedMove, RecordedRound, RecordedStop
from fairest_protocol.calculation.rules import VARIANTS, Foundation, Rules, choose_rules
from fairest_protocol.calculation.terms import BEST_OF, parse_terms
from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.entries import Dealt
from fairest_protocol.messages.fast_encoding import encode_moved, encode_turned
from fairest_protocol.messages.fields import MAX_SERVER_MESSAGE_BYTES, Message, Phase
from fairest_protocol.messages.from_server import ListedRoom, LobbyPage, MatchRecord, Snapshot
from fairest_protocol.messages.options import RoomOptions, Spectators
from fairest_protocol.messages.scene import Scene, SeatScene
from fairest_server.room.catchup import MAX_MISSED_BYTES
from fairest_server.store.lobby import PAGE_ROOMS

KIB: Final = 1024
LONGEST: Final = choose_rules("senior", piles=8, redeals=2)
OPTIONS: Final = RoomOptions(
    rules="betsy-ross", piles=8, redeals=2, best_of=9, limit_seconds=7200, chase_seconds=7200, grace_seconds=3600,
    ready_seconds=3600, reveal_seconds=60, idle_seconds=3600, countdown_seconds=10, spectators=Spectators.HORIZON,
)  # fmt: skip
ROOM, NAME, CARD, TIME_MS = "a" * 30 + "-" + "b" * 29, "n" * 20, Card("Kd"), 2**53 - 1
HASH, ID, SIGNATURE = bytes(32), bytes(16), bytes(64)
ENVELOPES: Final = ((HASH,) * LONGEST.stock,) * (LONGEST.redeals + 1)
OUTCOME: Final = Outcome(0, (Score(104, 104, 104, 288, Ending.NOT_REVEALED),) * 2)


def most_moves(rules: Rules) -> int:
    """Return how many moves a seat can make in a round.

    In each pass each stock card is played from the stock once, and from the waste each reaches a foundation once.
    """
    return rules.stock * (rules.redeals + 1) + rules.stock + rules.redeals + 1


def size(message: Message) -> int:
    return len(encode(message))


def test_no_variant_has_more_moves_than_the_longest() -> None:
    all_rules = [choose_rules(name, redeals=each.redeals[-1]) for name, each in VARIANTS.items()]
    assert max(map(most_moves, all_rules)) == most_moves(LONGEST) == 387


@pytest.fixture(scope="module")
def largest_record() -> MatchRecord:
    """A record of nine rounds, with all moves and stops that there can be, behind all rounds that were called off."""
    move = RecordedMove(MAX_TIME_MS, 1, MOVES["redeal"])
    stop = RecordedStop(MAX_TIME_MS, (0, 1), Ending.OUT_OF_TIME)
    events: list[RecordedMove | RecordedStop] = [*[move] * (2 * most_moves(LONGEST)), stop, stop]
    raced = RecordedRound(ID, HASH, SIGNATURE, HASH, (HASH, HASH), (HASH, HASH), ENVELOPES, tuple(events), OUTCOME)
    called_off = RecordedRound(ID, HASH, SIGNATURE, HASH, (HASH, None), (None, None), (), (), None)
    record = Record(
        match_id=ID.hex(),
        room=ROOM,
        names=(NAME, NAME),
        terms=parse_terms(RoomOptions().resolved().terms()),
        finished_at_ms=MAX_TIME_MS,
        rounds=(*[called_off] * MAX_CALLED_OFF, *[raced] * BEST_OF[-1], called_off),
        key=HASH,
        signature=SIGNATURE,
    )
    return MatchRecord(match=ID.hex(), lines=tuple(record.lines()))


def test_a_record_has_at_most_2_mebibytes(largest_record: MatchRecord) -> None:
    assert 1024 * KIB < size(largest_record) < 2048 * KIB < MAX_SERVER_MESSAGE_BYTES


def size_of_round() -> int:
    """Return the size of the entries of the longest round, with a kibibyte each for the other ones, in bytes."""
    move = len(encode_moved(1, most_moves(LONGEST), MOVES["redeal"], CARD)) + 1
    turn = len(encode_turned(1, 2, LONGEST.stock, CARD, HASH)) + 1
    dealt = Dealt(
        layout=(Foundation(13, 12),) * 8, starters=(CARD,) * 8, markers=(CARD,) * 4, piles=8, redeals=2,
        envelopes=ENVELOPES, until_ms=TIME_MS,
    )  # fmt: skip
    cards = LONGEST.stock * (LONGEST.redeals + 1)
    return 2 * (most_moves(LONGEST) * move + cards * turn) + size(dealt) + 4 * KIB


def test_a_round_has_at_most_160_kibibytes() -> None:
    assert size_of_round() < 160 * KIB


def test_a_viewer_may_miss_a_whole_match() -> None:
    assert BEST_OF[-1] * size_of_round() < MAX_MISSED_BYTES


def test_a_snapshot_has_at_most_64_kibibytes() -> None:
    board = Board(
        layout=(Foundation(13, 12),) * 8, foundations=((CARD,) * 13,) * 8, piles=((CARD,) * 13,) * 8, turned=CARD,
        stock=96, redeals=2, direct=104,
    )  # fmt: skip
    seat = SeatScene(
        name=NAME, is_connected=False, until_ms=TIME_MS, entropy_hash=HASH, entropy=HASH, wins=9,
        wants_rematch=False, board=board, turn=Turn(2, 96), moves=387, has_stopped=False,
    )  # fmt: skip
    scene = Scene(
        options=OPTIONS, phase=Phase.COUNTDOWN, seats=(seat, seat), match=ID, round=ID, round_number=9, commitment=HASH,
        signature=SIGNATURE, secret=HASH, markers=(CARD,) * 4, envelopes=ENVELOPES, until_ms=TIME_MS,
        outcome=OUTCOME, duration_ms=TIME_MS, match_is_over=False,
    )  # fmt: skip
    snapshot = Snapshot(room=ROOM, seat=0, position=TIME_MS, tag="0" * 8, now_ms=TIME_MS, scene=scene)
    assert size(snapshot) < 64 * KIB


def test_a_page_of_the_lobby_has_at_most_64_kibibytes() -> None:
    room = ListedRoom(
        room=ROOM, phase=Phase.COUNTDOWN, names=(NAME, NAME), wins=(9, 9), rules="betsy-ross", piles=8, redeals=2,
        best_of=9, spectators=Spectators.HORIZON, since_ms=TIME_MS,
    )  # fmt: skip
    assert size(LobbyPage(page=100_000, pages=TIME_MS, total=TIME_MS, rooms=(room,) * PAGE_ROOMS)) < 64 * KIB
