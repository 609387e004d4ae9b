"""Every refusal of a room: the message that it answers, its code, and the number of a move."""

from collections.abc import Callable

import pytest

from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.seal import commit_entropy
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import AskFinish, Leave, Play, Ready, Rematch, Reveal
from fairest_protocol.messages.from_server import Refused
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.refusals import SENTENCES, Refusal
from fairest_server.room.commands import Command, CreateRoom, Disconnect, MakeMove, PlayerRequest, TakeSeat
from fairest_server.room.decide import decide
from tests.support.races import Table

OTHER_ROUND = bytes(16)
HASH = bytes(32)
NEWCOMER = TakeSeat("player-2", "cyd", "link-2")


def round_id(table: Table) -> bytes:
    assert table.state.round is not None
    return table.state.round.round_id


def opened() -> Table:
    table = Table(1)
    table.seat_both()
    return table


def dealing() -> Table:
    table = opened()
    table.get_ready(0, 1)
    return table


def racing() -> Table:
    table = Table(1)
    table.start()
    return table


def stopped() -> Table:
    table = racing()
    table.play(0, "stop")
    return table


def finished() -> Table:
    table = racing()
    table.play(0, "resign")
    return table


def finished_before_the_deal() -> Table:
    table = dealing()
    table.let_time_pass()
    return table


def closed() -> Table:
    table = Table(1)
    table.submit(table.request(0, Leave()))
    table.let_time_pass()
    assert table.state.phase is Phase.CLOSED
    return table


def ready_twice() -> Table:
    table = opened()
    table.get_ready(0)
    return table


def move(number: int = 1) -> MakeMove:
    return MakeMove("link-0", number, MOVES["sa"])


Make = Callable[[Table], Command]
CASES: list[tuple[Callable[[], Table], Make, str, Refusal]] = [
    (racing, lambda _: MakeMove("nobody", 1, MOVES["sa"]), "play", Refusal.NOT_SEATED),
    (opened, lambda _: move(), "play", Refusal.RACE_NOT_STARTED),
    (dealing, lambda _: move(), "play", Refusal.RACE_NOT_STARTED),
    (finished_before_the_deal, lambda _: move(), "play", Refusal.RACE_NOT_STARTED),
    (finished, lambda _: move(2), "play", Refusal.RACE_OVER),
    (stopped, lambda _: move(2), "play", Refusal.SEAT_STOPPED),
    (racing, lambda _: MakeMove("link-0", 1, MOVES["ab"]), "play", Refusal.PILE_TO_PILE),
    (opened, lambda _: PlayerRequest("nobody", Leave()), "leave", Refusal.NOT_SEATED),
    (
        opened,
        lambda _: PlayerRequest("link-0", Ready(round=OTHER_ROUND, entropy_hash=HASH)),
        "ready",
        Refusal.WRONG_ROUND,
    ),
    (
        ready_twice,
        lambda table: PlayerRequest("link-0", Ready(round=round_id(table), entropy_hash=HASH)),
        "ready",
        Refusal.ALREADY_READY,
    ),
    (
        dealing,
        lambda _: PlayerRequest("link-0", Reveal(round=OTHER_ROUND, entropy=HASH)),
        "reveal",
        Refusal.WRONG_ROUND,
    ),
    (
        dealing,
        lambda table: PlayerRequest("link-0", Reveal(round=round_id(table), entropy=HASH)),
        "reveal",
        Refusal.WRONG_ENTROPY,
    ),
    (closed, lambda _: NEWCOMER, "join", Refusal.ROOM_CLOSED),
    (opened, lambda _: NEWCOMER, "join", Refusal.ROOM_FULL),
    (opened, lambda _: TakeSeat("player-2", "cyd", "link-2", to="resume"), "resume", Refusal.NOT_SEATED),
]


def answer_in(prepare: Callable[[], Table], make: Make) -> tuple[object, int | None]:
    """Return the answer of a room to a message, and the number of the move in it."""
    table = prepare()
    command = make(table)
    return table.submit(command), command.number if isinstance(command, MakeMove) else None


def test_a_refusal_answers_its_message_with_its_code_and_sentence() -> None:
    answers = [(prepare.__name__, to, code, *answer_in(prepare, make)) for prepare, make, to, code in CASES]
    wrong = [
        (room, to, code, answer)
        for room, to, code, answer, number in answers
        if answer != Refused(to=to, code=code, sentence=SENTENCES[code], number=number)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("prepare", "message", "sentence"),
    [
        (Table, Ready(round=OTHER_ROUND, entropy_hash=HASH), "Nobody gets ready while the room is waiting."),
        (racing, Ready(round=OTHER_ROUND, entropy_hash=HASH), "Nobody gets ready while the room is racing."),
        (opened, Reveal(round=OTHER_ROUND, entropy=HASH), "Nothing is to be revealed while the room is ready."),
        (racing, Rematch(), "A rematch can be asked for when the match is over."),
        (
            racing,
            AskFinish(),
            "You can ask the other player to finish once your own race has ended and the other one goes on.",
        ),
    ],
)
def test_a_request_in_another_phase_is_refused_with_the_phase(
    prepare: Callable[[], Table], message: Ready | Reveal | Rematch | AskFinish, sentence: str
) -> None:
    refused = prepare().submit(PlayerRequest("link-0", message))
    assert refused == Refused(to=message.type, code=Refusal.WRONG_PHASE, sentence=sentence)


@pytest.mark.parametrize(
    ("command", "to"),
    [
        (NEWCOMER, "join"),
        (TakeSeat("player-0", "ann", "link-0", to="resume"), "resume"),
        (Disconnect("link-0"), "join"),
    ],
)
def test_a_room_without_a_log_does_not_exist(command: Command, to: str) -> None:
    refused = decide(None, command, Table(1).draw_round)
    assert refused == Refused(to=to, code=Refusal.NO_SUCH_ROOM, sentence=SENTENCES[Refusal.NO_SUCH_ROOM])


def test_a_code_that_is_in_use_is_drawn_again() -> None:
    refused = Table(1).submit(CreateRoom(RoomOptions(), "player-2", "cyd", "link-2"))
    sentence = "The code drawn for this room was taken; try again."
    assert refused == Refused(to="create", code=Refusal.TRY_AGAIN, sentence=sentence)


@pytest.mark.parametrize(
    ("table", "code"), [(opened(), Refusal.ROOM_FULL), (closed(), Refusal.ROOM_CLOSED)], ids=["full", "closed"]
)
def test_a_repeated_create_of_a_player_without_a_seat_is_refused_like_join(table: Table, code: Refusal) -> None:
    refused = table.submit(CreateRoom(RoomOptions(), "player-2", "cyd", "link-2", is_repeatable=True))
    assert refused == Refused(to="create", code=code, sentence=SENTENCES[code])


@pytest.mark.parametrize("seat", [0, 1])
def test_a_request_that_was_accepted_is_accepted_again_without_an_event(seat: int) -> None:
    table = opened()
    entropies = table.get_ready(0, 1)
    table.reveal(seat, entropies[seat])
    again = Ready(round=round_id(table), entropy_hash=commit_entropy(round_id(table), seat, entropies[seat]))
    assert table.submit(table.request(seat, again)) == ()
    assert table.reveal(seat, entropies[seat]) == ()


def test_a_rematch_that_was_asked_for_is_not_asked_for_again() -> None:
    table = finished()
    table.submit(table.request(0, Rematch()))
    assert table.submit(table.request(0, Rematch())) == ()


def test_the_last_move_of_a_race_that_is_over_is_still_accepted() -> None:
    table = racing()
    table.play(0, "sa")
    table.play(1, "resign")
    answer = table.submit(table.request(0, Play(number=1, move=MOVES["sa"])))
    assert getattr(answer, "type", None) == "accepted"
