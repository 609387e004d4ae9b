"""The knowledge that one viewer has of a room, folded from the messages of the server, with every mistake on the way.

The client plays from it, and the checker looks at its problems: positions with gaps, moves against the rules,
cards that do not open their envelopes, commitments that were not kept, results that do not follow.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from benchmarks.histories.board import Board, IllegalMoveError, board_from_scene
from benchmarks.histories.history import Message, first_of
from benchmarks.histories.sealing import Column, deal_of, entropy_hash, envelope, envelopes_of, hash_of, seed_of


@dataclass
class Round:
    """The open round, or the last one, as far as it was shown. Lists have an item for each seat."""

    id: str = ""
    commitment: str = ""
    hashes: list[str | None] = field(default_factory=lambda: [None, None])
    entropies: list[str | None] = field(default_factory=lambda: [None, None])
    envelopes: list[list[str]] = field(default_factory=list)
    boards: list[Board | None] = field(default_factory=lambda: [None, None])
    has_stopped: list[bool] = field(default_factory=lambda: [False, False])
    is_whole: bool = False
    """Whether it was seen from its opening on, not joined by a snapshot."""


@dataclass
class Knowledge:
    """A room in the eyes of one viewer."""

    room: str = ""
    seat: int | None = None
    position: int = 0
    """The last entry that was read."""
    cursor: int = 0
    """The last entry that was sent: lower than `position` while entries that were read before come again."""
    tag: str | None = None
    phase: str = "none"
    names: list[str | None] = field(default_factory=lambda: [None, None])
    rules: Message = field(default_factory=dict)
    """The options of the room."""
    round: Round = field(default_factory=Round)
    match_is_over: bool = False
    entries: dict[int, Message] = field(default_factory=dict)
    is_stale: bool = False
    """Whether an entry came again that was another one before: this viewer needs a snapshot."""

    @property
    def own(self) -> Board | None:
        """The board of this viewer's seat."""
        return None if self.seat is None else self.round.boards[self.seat]

    def begin(self, snapshot: Message) -> None:
        """Start over from a snapshot."""
        scene = snapshot["scene"]
        self.entries, self.is_stale = {}, False
        self.room, self.seat = snapshot["room"], snapshot["seat"]
        self.position = self.cursor = snapshot["position"]
        self.tag = snapshot["tag"]
        self.phase, self.rules = scene["phase"], scene["options"]
        self.names = [seat["name"] for seat in scene["seats"]]
        self.match_is_over = scene["match_is_over"]
        self.round = Round(
            scene["round"] or "",
            scene["commitment"] or "",
            [seat["entropy_hash"] for seat in scene["seats"]],
            [seat["entropy"] for seat in scene["seats"]],
            scene["envelopes"],
            [board_from_scene(scene, seat) for seat in (0, 1)],
            [seat["has_stopped"] for seat in scene["seats"]],
        )

    def read(self, view: Message) -> Iterator[str]:
        """Read a view; yield what is wrong with it. Entries up to `position` were read before and are passed over."""
        first = first_of(view)
        if first != self.cursor + 1:
            yield f"a view from {first} on follows position {self.cursor}"
        for place, entry in enumerate(view["entries"], first):
            self.is_stale |= self.entries.setdefault(place, entry) != entry
            if place > self.position:
                self.position = place
                yield from self.read_entry(entry)
        self.cursor = view["position"]
        if self.cursor == self.position:
            self.tag = view["tag"]

    def read_entry(self, entry: Message) -> Iterator[str]:
        """Read one entry; yield what is wrong with it."""
        reader = getattr(self, f"_read_{entry['type']}", None)
        if reader is not None:
            yield from (f"{entry['type']} in round {self.round.id[:8]}: {problem}" for problem in reader(entry) or ())

    def _read_seated(self, entry: Message) -> None:
        self.names[entry["seat"]] = entry["name"]

    def _read_seat_freed(self, entry: Message) -> None:
        self.names[entry["seat"]] = None
        if self.phase == "finished":
            self.match_is_over = True
        if self.phase in ("ready", "finished"):
            self.phase = "waiting"

    def _read_round_opened(self, entry: Message) -> None:
        self.round = Round(entry["round"], entry["commitment"], is_whole=True)
        self.phase, self.match_is_over = "ready", False

    def _read_round_voided(self, entry: Message) -> Iterator[str]:
        yield from self._check_secret(entry["secret"])
        self.phase = "waiting"

    def _read_player_ready(self, entry: Message) -> None:
        self.round.hashes[entry["seat"]] = entry["entropy_hash"]
        if all(self.round.hashes):
            self.phase = "dealing"

    def _read_revealed(self, entry: Message) -> Iterator[str]:
        seat, shown = entry["seat"], bytes.fromhex(entry["entropy"])
        if entropy_hash(bytes.fromhex(self.round.id), seat, shown) != self.round.hashes[seat]:
            yield f"the bytes of seat {seat} do not belong to their hash"
        self.round.entropies[seat] = entry["entropy"]

    def _read_dealt(self, entry: Message) -> None:
        layout = [Column(**column) for column in entry["layout"]]
        self.round.envelopes, self.phase = entry["envelopes"], "countdown"
        self.round.boards = [
            Board(
                layout,
                [[card] for card in entry["starters"]] or [[] for _ in layout],
                [[] for _ in range(entry["piles"])],
                len(entry["envelopes"][0]),
                entry["redeals"],
            )
            for _ in (0, 1)
        ]

    def _read_started(self, _: Message) -> None:
        self.phase = "racing"

    def _read_turned(self, entry: Message) -> Iterator[str]:
        pass_number, position = entry["turn"]
        sealed = pass_number if pass_number < len(self.round.envelopes) else 0
        salt, round_id = bytes.fromhex(entry["salt"]), bytes.fromhex(self.round.id)
        if envelope(round_id, sealed, position, entry["card"], salt) != self.round.envelopes[sealed][position]:
            yield f"{entry['card']} and its salt do not open the envelope at {pass_number}, {position}"
        board = self.round.boards[entry["seat"]]
        if board is None:
            yield "no board is dealt"
            return
        try:
            board.turn_card(pass_number, position, entry["card"])
        except IllegalMoveError as reason:
            yield str(reason)

    def _read_moved(self, entry: Message) -> Iterator[str]:
        board = self.round.boards[entry["seat"]]
        if board is None:
            yield "no board is dealt"
            return
        if entry["number"] != board.moves + 1:
            yield f"move {entry['number']} of seat {entry['seat']} follows {board.moves}"
        try:
            card = board.play(entry["move"])
        except IllegalMoveError as reason:
            yield f"{entry['move']}: {reason}"
            return
        if card != entry["card"]:
            yield f"{entry['move']} moved {entry['card']}, not {card}"
        if entry["move"] in ("stop", "resign"):
            self.round.has_stopped[entry["seat"]] = True

    def _read_stopped(self, entry: Message) -> None:
        self.round.has_stopped[entry["seat"]] = True

    def _read_round_finished(self, entry: Message) -> Iterator[str]:
        self.phase, self.match_is_over = "finished", entry["match_is_over"]
        yield from self._check_secret(entry["secret"])
        for seat, score in enumerate(entry["outcome"]["scores"]):
            board = self.round.boards[seat]
            if board and (score["placed"], score["direct"]) != (board.placed, board.direct):
                shown = f"{board.placed} cards, {board.direct} direct"
                yield f"seat {seat} scored {score['placed']}, {score['direct']} direct, its moves lead to {shown}"

    def _read_room_closed(self, _: Message) -> None:
        self.phase = "closed"

    def _check_secret(self, secret_text: str) -> Iterator[str]:
        """Yield a problem unless the secret was the one that was committed to, and deals what lay in the envelopes."""
        round_id, secret = bytes.fromhex(self.round.id), bytes.fromhex(secret_text)
        if hash_of("secret", round_id, secret).hex() != self.round.commitment:
            yield "the secret is not the one that was committed to"
        first, second = self.round.entropies
        if self.round.envelopes and first and second:
            seed = seed_of(secret, (bytes.fromhex(first), bytes.fromhex(second)), round_id)
            deal = deal_of(seed, self.rules["rules"], self.rules["redeals"])
            if envelopes_of(seed, round_id, deal) != self.round.envelopes:
                yield "the secret deals other cards than those in the envelopes"
