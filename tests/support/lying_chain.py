"""Chains of rounds made by a test: rightly hashed and signed, with whatever entries the test wants in them."""

import json
import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from fairest_cli.records.receipt_rounds import SeenRound
from fairest_protocol.calculation.seal import NO_ROUNDS, chain_round_line, commit_secret, make_seed
from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.rounds import PAGE_LINES, RoundsHead, RoundsPage, RoundsSummary
from fairest_server.live.signing import SigningKey

KEY = SigningKey(bytes([7]) * 32)
START_MS = 1_900_000_000_000
"""A time in 2030, so that no head of a test is old."""


class MadeRound:
    """A round with all its bytes, drawn from a seeded source."""

    def __init__(self, chance: random.Random, rules: str = "classic 4 0") -> None:
        self.round_id, self.secret = chance.randbytes(16), chance.randbytes(32)
        self.entropies = [chance.randbytes(32), chance.randbytes(32)]
        self.rules = rules
        self.commitment = commit_secret(self.round_id, self.secret).hex()
        self.seed = make_seed(self.secret, self.entropies, self.round_id)

    def seen(self, at_ms: int, **changes: Any) -> SeenRound:
        """Return the round as the receipt of a player has it who saw its end."""
        fields: dict[str, Any] = {
            "file": "receipt.jsonl",
            "commitment": self.commitment,
            "round_id": self.round_id.hex(),
            "rules": self.rules,
            "seen_ms": at_ms,
            "entropies": [each.hex() for each in self.entropies],
            "ready": {0, 1},
            "how": "finished",
            "secret": self.secret.hex(),
            "endings": ["won", "round_over"],
        }
        return SeenRound(**fields | changes)


class MadeChain:
    """A chain of rounds that begins at `start_ms`. Time goes on by a second with each entry."""

    def __init__(self, start_ms: int = START_MS) -> None:
        self.lines: list[str] = []
        self.chains: list[bytes] = [NO_ROUNDS]
        self.now_ms = start_ms

    def add(self, entry: Mapping[str, Any]) -> None:
        """Add an entry with the next number."""
        self.now_ms += 1000
        self.add_line(json.dumps({"number": len(self.lines) + 1, "at_ms": self.now_ms, **entry}))

    def add_line(self, line: str) -> None:
        self.lines.append(line)
        self.chains.append(chain_round_line(self.chains[-1], line))

    def open(self, made: MadeRound) -> None:
        self.add({"type": "opened", "commitment": made.commitment, "rules": made.rules})

    def end(self, made: MadeRound, **changes: Any) -> None:
        """End a round; without `changes` seat 0 has won it."""
        fields = {
            "type": "ended",
            "commitment": made.commitment,
            "how": "proved",
            "why": None,
            "endings": ["won", "round_over"],
            "revealed": [True, True],
            "seed": made.seed.hex(),
        }
        self.add(fields | changes)

    def break_off(self, made: MadeRound) -> None:
        """End a round as if neither player had revealed its bytes."""
        endings = ["not_revealed", "not_revealed"]
        self.end(made, how="broken_off", endings=endings, revealed=[False, False], seed=None)

    def play(self, made: MadeRound) -> None:
        self.open(made)
        self.end(made)

    def cut(self, number: int) -> None:
        """Drop the entries behind this number."""
        del self.lines[number:], self.chains[number + 1 :]

    def head(self, later_ms: int = 0) -> RoundsHead:
        return KEY.sign_head(len(self.lines), self.chains[-1], self.now_ms + later_ms)

    def page(self, number: int) -> RoundsPage:
        first = number * PAGE_LINES
        return RoundsPage(page=number, before=self.chains[first], lines=tuple(self.lines[first : first + PAGE_LINES]))

    def pages(self) -> list[RoundsPage]:
        return [self.page(number) for number in range(-(-len(self.lines) // PAGE_LINES))]

    def summary(self, **changes: Any) -> RoundsSummary:
        fields: dict[str, Any] = {
            "key": KEY.public,
            "head": self.head(600_000),
            "page_lines": PAGE_LINES,
            "first_page": 0,
        }
        return RoundsSummary(**fields | changes)

    def answers(self) -> dict[str, bytes]:
        """Return the body of each page that a server of this chain has."""
        pages = {f"/rounds?page={page.page}": encode(page) for page in self.pages()}
        return {"/rounds": encode(self.summary()), **pages}


class LaggingOnce(dict[str, bytes]):
    """The pages of a server of two processes: the first request for `path` comes to the one with the shorter chain."""

    def __init__(self, path: str, shorter: Mapping[str, bytes], longer: Mapping[str, bytes]) -> None:
        super().__init__(longer)
        self._path = path
        self._shorter = shorter

    def get(self, path: str, *_: object) -> bytes | None:  # type: ignore[override]
        if path != self._path:
            return super().get(path)
        self._path = ""
        return self._shorter.get(path)


@contextmanager
def serving_pages(answers: Mapping[str, bytes]) -> Iterator[str]:
    """Serve these bodies over HTTP; yield the URL by which a client names the server."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = answers.get(self.path)
            self.send_response(200 if body is not None else 404)
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    # How often it looks whether it is to end, in seconds: the default, 0.5, would hold up each test for a quarter.
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"ws://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
