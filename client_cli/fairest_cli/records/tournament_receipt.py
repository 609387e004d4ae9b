"""The receipt of a player of a tournament: what this machine was shown of its rounds, in one file of one line.

It holds a client that was started again to what it was shown before, and the server to its commitments: `fairest verify
--receipt` judges it, alone or beside the record of a race, and `fairest audit` looks its rounds up in the chain.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from fairest_cli.model.tournament_game import RoundWitness
from fairest_cli.records.private_file import write_private
from fairest_cli.records.receipt_replay import BadReceipt
from fairest_cli.records.receipt_rounds import SeenRound
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import Ending
from fairest_protocol.calculation.rules import Rules, find_variant
from fairest_protocol.calculation.seal import NO_ROUNDS, hash_tournament_round, mix_entropies
from fairest_protocol.calculation.timed_moves import read_bytes, read_number, read_text
from fairest_protocol.messages.rounds import describe_tournament
from fairest_protocol.messages.tournaments import RaceScore
from fairest_protocol.value import Value

KEY_DIGITS: Final = 32
"""The digits of the server's key in the name of a file, as in those of other receipts."""
MAX_BYTES: Final = 4 * 1024 * 1024
"""The longest receipt that is read: one of 15 rounds with 128 players has 400 KB."""
_HEAD: Final = '{"type":"tournament_receipt",'
_CODE: Final = "[a-z]+(-[a-z]+){1,5}"
_NAME: Final = "[A-Za-z0-9_-]{2,20}"


class TournamentReceipt(Value):
    """A receipt: all that the server with the public key `key` has shown to the player `name`, by rounds."""

    server: str
    key: bytes
    tournament: bytes
    code: str
    name: str
    rules: Rules
    rounds: Mapping[int, RoundWitness]

    def text(self) -> str:
        """Return the line that a file has."""
        fields = {
            "type": "tournament_receipt",
            "server": self.server,
            "key": self.key.hex(),
            "tournament": self.tournament.hex(),
            "code": self.code,
            "name": self.name,
            "rules": self.rules.name,
            "rounds": [_describe(number, self.rounds[number]) for number in sorted(self.rounds)],
        }
        return json.dumps(fields, separators=(",", ":")) + "\n"

    def seen_rounds(self, file: str) -> Iterator[SeenRound]:
        """Yield the rounds as an audit compares them with the chain of rounds; `file` is the name of the receipt."""
        described = describe_tournament(self.rules.name, self.rules.piles, self.rules.redeals)
        for witness in self.rounds.values():
            seen = SeenRound(file, witness.commitment.hex(), witness.round_id.hex(), described, witness.seen_ms)
            if witness.entropies:
                # The chain has a dealt round as one of two seats: the mix of all players, and nobody.
                seen.entropies = [mix_entropies(witness.round_id, witness.entropies).hex(), NO_ROUNDS.hex()]
                seen.ready = {0, 1}
            if witness.seed is not None and witness.secret is not None:
                seen.how, seen.secret = "finished", witness.secret.hex()
                seen.endings = [Ending.ROUND_OVER.value] * 2
            yield seen


def is_tournament_receipt(text: str) -> bool:
    """Return whether a text means to be the receipt of a tournament."""
    return text.startswith(_HEAD)


def parse_tournament_receipt(text: str) -> TournamentReceipt:
    """Parse a receipt. Raises `BadReceipt`. That it does not contradict itself is not checked here."""
    try:
        fields = json.loads(text)
        tournament = read_bytes(fields["tournament"], 16)
        return TournamentReceipt(
            server=str(fields["server"]),
            key=read_bytes(fields["key"], 32),
            tournament=tournament,
            code=read_text(fields["code"], _CODE),
            name=read_text(fields["name"], _NAME),
            rules=find_variant(fields["rules"]).rules,
            rounds=dict(_read_round(tournament, each) for each in fields["rounds"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as reason:
        raise BadReceipt(f"it is not the receipt of a tournament: {reason!r}") from reason


def keep_receipt(folder: Path, receipt: TournamentReceipt) -> None:
    """Write a receipt, in the place of an older one of the same player and tournament. Raises OSError."""
    write_private(_path(folder, receipt.code, receipt.name, receipt.key), receipt.text())


def load_receipt(folder: Path, code: str, name: str, key: bytes) -> TournamentReceipt | None:
    """Return the receipt of a player of a tournament, None without one that can be read."""
    with suppress(OSError, BadReceipt, UnicodeDecodeError):
        return _load(_path(folder, code, name, key))
    return None


def read_tournament_rounds(folder: Path, key: bytes) -> Iterator[SeenRound]:
    """Yield the rounds in the receipts of tournaments of the server of this key; other files are passed over."""
    for path in sorted(folder.glob(f"*-{key.hex()[:KEY_DIGITS]}.json")):
        with suppress(OSError, BadReceipt, UnicodeDecodeError):
            receipt = _load(path)
            if receipt.key == key:
                yield from receipt.seen_rounds(path.name)


def own_names_in(folder: Path, code: str) -> Iterator[str]:
    """Yield the names of this machine's players who have a receipt of a tournament with this code."""
    for path in sorted(folder.glob(f"{code}-*.json")):
        with suppress(OSError, BadReceipt, UnicodeDecodeError):
            yield _load(path).name


def _load(path: Path) -> TournamentReceipt:
    if path.stat().st_size > MAX_BYTES:
        raise BadReceipt("it is longer than the receipt of a tournament can be")
    return parse_tournament_receipt(path.read_text(encoding="utf-8"))


def _path(folder: Path, code: str, name: str, key: bytes) -> Path:
    return folder / f"{code}-{name.lower()}-{key.hex()[:KEY_DIGITS]}.json"


def _describe(number: int, witness: RoundWitness) -> dict[str, Any]:
    return {
        "round": number,
        "commitment": witness.commitment.hex(),
        "seen_ms": witness.seen_ms,
        "hashes": [[name, shown.hex()] for name, shown in witness.hashes],
        "entropies": [[name, shown.hex()] for name, shown in witness.entropies],
        "envelopes": [[envelope.hex() for envelope in sealed] for sealed in witness.envelopes],
        "moves": [move.text for move in witness.moves],
        "result": None if witness.result is None else witness.result.model_dump(mode="json"),
        "secret": None if witness.secret is None else witness.secret.hex(),
    }


def _read_round(tournament: bytes, fields: dict[str, Any]) -> tuple[int, RoundWitness]:
    number, result, secret = read_number(fields["round"]), fields["result"], fields["secret"]
    if not 1 <= number < 2**16:
        raise ValueError("there is no such round")
    return number, RoundWitness(
        round_id=hash_tournament_round(tournament, number),
        commitment=read_bytes(fields["commitment"], 32),
        hashes=tuple((read_text(name, _NAME), read_bytes(shown, 32)) for name, shown in fields["hashes"]),
        entropies=tuple((read_text(name, _NAME), read_bytes(shown, 32)) for name, shown in fields["entropies"]),
        envelopes=tuple(tuple(read_bytes(each, 32) for each in sealed) for sealed in fields["envelopes"]),
        secret=None if secret is None else read_bytes(secret, 32),
        moves=tuple(MOVES[text] for text in fields["moves"]),
        result=None if result is None else RaceScore.model_validate_json(json.dumps(result)),
        seen_ms=read_number(fields["seen_ms"]),
    )
