"""A short honest race of two players and a spectator, made by hand, for the tests of the history checker to damage."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from benchmarks.histories.board import Board
from benchmarks.histories.history import Event, History, Message, Run
from benchmarks.histories.records import Table
from benchmarks.histories.sealing import deal_of, entropy_hash, envelopes_of, hash_of, salt_of, seed_of

ROOM = "amber-quiet-lynx"
ROUND = bytes(range(16))
SECRET, ENTROPIES = bytes(range(32)), (bytes(range(32, 64)), bytes(range(64, 96)))
SEED = seed_of(SECRET, ENTROPIES, ROUND)
DEAL = deal_of(SEED, "classic", 0)
COMMITMENT = hash_of("secret", ROUND, SECRET).hex()
OPTIONS: Message = {
    "rules": "classic", "piles": 4, "redeals": 0, "best_of": 1, "limit_seconds": 100, "chase_seconds": 50,
    "grace_seconds": 20, "spectators": "horizon",
}  # fmt: skip
MOVES: Sequence[tuple[int, str]] = (
    (0, "sa"),
    (1, "sb"),
    (0, "sb"),
    (0, "sc"),
    (1, "sa"),
    (1, "sd"),
    (0, "stop"),
    (1, "stop"),
)
"""The seats' moves in the order in which they are stored; seat 0 is ahead for a while."""
VIEWERS = "player-0", "player-1", "spectator"


class Example:
    """Plays `MOVES` and shows every viewer what it may see."""

    def __init__(self) -> None:
        self.events: dict[str, list[Event]] = {viewer: [] for viewer in VIEWERS}
        self.positions = dict.fromkeys(VIEWERS, 2)
        self.at_s = 100.0
        self.tables = [new_table(), new_table()]
        self.racing = {0, 1}
        self.hidden: list[tuple[tuple[int, int], bool, Message]] = []
        self._begin()
        for seat, move in MOVES:
            self._move(seat, move)

    def put(self, viewer: str, kind: str, message: Message) -> None:
        """Add an event a hundredth of a second after the last one."""
        self.at_s += 0.01
        self.events[viewer].append(Event(self.at_s, 1, kind, message))

    def show(self, viewer: str, *entries: Message) -> None:
        """Show a viewer these entries in one view."""
        self.positions[viewer] += len(entries)
        position = self.positions[viewer]
        self.put(viewer, "received", {"type": "view", "position": position, "tag": "00", "entries": list(entries)})

    def _begin(self) -> None:
        for seat, viewer in zip((0, 1, None), VIEWERS, strict=True):
            self.put(viewer, "opened", {})
            self.put(viewer, "sent", {"type": "hello"})
            kind = "create" if seat == 0 else "join" if seat == 1 else "watch"
            self.put(viewer, "sent", {"type": kind})
            self.put(viewer, "received", snapshot(seat))
        opened = {"type": "round_opened", "round": ROUND.hex(), "round_number": 1, "commitment": COMMITMENT}
        hashes = [entropy_hash(ROUND, seat, ENTROPIES[seat]) for seat in (0, 1)]
        ready = [
            {"type": "player_ready", "seat": seat, "entropy_hash": hashes[seat], "until_ms": 0 if seat else None}
            for seat in (0, 1)
        ]
        revealed = [{"type": "revealed", "seat": seat, "entropy": ENTROPIES[seat].hex()} for seat in (0, 1)]
        layout = [vars(column) for column in DEAL.layout]
        dealt = {"type": "dealt", "layout": layout, "starters": DEAL.starters, "markers": [], "piles": 4, "redeals": 0,
                 "envelopes": envelopes_of(SEED, ROUND, DEAL)}  # fmt: skip
        for viewer in VIEWERS:
            self.show(viewer, opened, *ready, *revealed, dealt)
            self.show(viewer, {"type": "started", "until_ms": 0}, turned(0, 0), turned(1, 0))

    def _move(self, seat: int, move: str) -> None:
        own, board, number = VIEWERS[seat], self.tables[seat].board, self.tables[seat].board.moves + 1
        made, card = board.turn, board.turned if move[0] == "s" and len(move) == 2 else None
        self.tables[seat].play(move)
        moved = {"type": "moved", "seat": seat, "number": number, "move": move, "card": card}
        self.put(own, "sent", {"type": "play", "number": number, "move": move})
        entries, ended = [moved], []
        if move == "stop":
            ended = [{"type": "stopped", "seat": seat, "until_ms": 0}]
        else:
            entries.append(turned(seat, board.position))
        self.hidden.append((made, True, moved))
        self.hidden += [(board.turn, False, entry) for entry in entries[1:]]
        is_over = number == len([1 for each, _ in MOVES if each == seat]) and seat == 1
        if move == "stop":
            self.racing.discard(seat)
        released = self._release(everything=is_over)
        if is_over:
            ended = [finished(self.tables)]
        for viewer in VIEWERS:
            mine = entries if viewer == own else []
            others = [entry for entry in released if viewer == "spectator" or entry["seat"] != VIEWERS.index(viewer)]
            if mine or others or ended:
                self.show(viewer, *mine, *others, *ended)

    def _release(self, *, everything: bool) -> list[Message]:
        horizon = min((self.tables[seat].board.turn for seat in self.racing), default=(0, 0))
        free = [each for each in self.hidden if everything or each[0] < horizon or (each[0] == horizon and not each[1])]
        self.hidden = [each for each in self.hidden if each not in free]
        return [entry for _, _, entry in free]


def new_table() -> Table:
    """Return a seat's table as it was dealt."""
    board = Board(DEAL.layout, [[card] for card in DEAL.starters], [[] for _ in range(4)], len(DEAL.orders[0]), 0)
    return Table(board, DEAL.orders)


def turned(seat: int, position: int) -> Message:
    """Return the entry with which a seat turns the card at a position."""
    card, salt = DEAL.orders[0][position], salt_of(SEED, 0, position).hex()
    return {"type": "turned", "seat": seat, "turn": [0, position], "card": card, "salt": salt}


def scores(tables: Sequence[Table]) -> list[Message]:
    """Return the scores of a round that both seats have stopped."""
    return [{"placed": table.board.placed, "goal": 52, "direct": table.board.direct, "cards_turned": table.board.turns,
             "ending": "stopped"} for table in tables]  # fmt: skip


def finished(tables: Sequence[Table]) -> Message:
    """Return the entry that ends the round."""
    outcome = {"winner": None, "scores": scores(tables)}
    return {"type": "round_finished", "outcome": outcome, "match_is_over": True, "secret": SECRET.hex()}


def snapshot(seat: int | None) -> Message:
    """Return the snapshot of a room in which no round is open."""
    empty = {
        "name": "ann",
        "entropy_hash": None,
        "entropy": None,
        "board": None,
        "turn": None,
        "moves": 0,
        "has_stopped": False,
    }
    scene = {"options": OPTIONS, "phase": "waiting", "seats": [empty, empty], "round": None, "commitment": None,
             "envelopes": [], "match_is_over": False}  # fmt: skip
    return {"type": "snapshot", "room": ROOM, "seat": seat, "position": 2, "tag": "00", "scene": scene}


def record(moves: Sequence[tuple[int, str]] = MOVES) -> list[str]:
    """Return the record of a match with these moves, with its chain; its signature is not one."""
    tables = [new_table(), new_table()]
    for seat, move in moves:
        tables[seat].play(move)
    hashes = [entropy_hash(ROUND, seat, ENTROPIES[seat]) for seat in (0, 1)]
    told: list[dict[str, Any]] = [
        {"type": "match", "format": 3, "match": ROUND.hex(), "room": ROOM, "terms": "rules=classic piles=4 redeals=0"},
        {"type": "round", "id": ROUND.hex(), "commitment": COMMITMENT, "secret": SECRET.hex(), "entropy_hashes": hashes,
         "entropies": [entropy.hex() for entropy in ENTROPIES], "envelopes": envelopes_of(SEED, ROUND, DEAL)},
        *({"type": "move", "at_ms": place, "seat": seat, "move": move} for place, (seat, move) in enumerate(moves)),
        {"type": "result", "winner": None, "scores": scores(tables)},
    ]  # fmt: skip
    chain, lines = b"", []
    for line in told:
        chain = hash_of("line", chain, json.dumps(line, separators=(",", ":")).encode())
        lines.append(json.dumps(line | {"chain": chain.hex()}, separators=(",", ":")))
    return [*lines, json.dumps({"type": "seal", "signature": ""})]


def log(moves: Sequence[tuple[int, str]] = MOVES) -> list[tuple[int, int, str]]:
    """Return the raw log of the room."""
    texts = [json.dumps({"type": "round_opened", "round": ROUND.hex()}), *(f"{seat}{move}" for seat, move in moves)]
    return [(index, 1000 + index, text) for index, text in enumerate(texts, 1)]


def honest_run() -> Run:
    """Return a run in which everything is right."""
    example = Example()
    return Run(ROOM, [History(viewer, example.events[viewer]) for viewer in VIEWERS], [record()], log())


def message_end(view: Message) -> int:
    """Return the position of the last entry of a view."""
    return int(view["position"])


def edit(run: Run, viewer: str, change: Callable[[Message], Message | None], *, kind: str = "received") -> None:
    """Change the messages of a viewer; `change` returns None for a message that is to be left out."""
    history = next(history for history in run.histories if history.viewer == viewer)
    changed = [(event, change(json.loads(json.dumps(event.message))) if event.kind == kind else event.message)
               for event in history.events]  # fmt: skip
    history.events = [replace(event, message=message) for event, message in changed if message is not None]


def edit_entries(run: Run, viewer: str, change: Callable[[Message], Message | None]) -> None:
    """Change the entries in the views of a viewer."""

    def change_view(message: Message) -> Message:
        if message["type"] == "view":
            changed = [change(entry) for entry in message["entries"]]
            message["entries"] = [entry for entry in changed if entry is not None]
        return message

    edit(run, viewer, change_view)


def answer_play(run: Run, viewer: str, number: int, code: str) -> None:
    """Have a play of the viewer refused with a code, and never acknowledged."""
    history = next(history for history in run.histories if history.viewer == viewer)
    place, sent = next(
        (place, event)
        for place, event in enumerate(history.events)
        if event.kind == "sent" and event.message["type"] == "play" and event.message["number"] == number
    )
    refused = {"type": "refused", "to": "play", "code": code, "number": number}
    # The rest is what a client knows whose connection is lost with the refusal.
    history.events = [*history.events[: place + 1], Event(sent.at_s + 0.001, 1, "received", refused)]
