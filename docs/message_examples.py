"""An example of each message: from docs/protocol.md, which shows an exchange with a real server, or else made here."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from docs.tournament_examples import tournament_examples
from fairest_protocol.calculation.daily import LIMIT_MS, daily_round_id, daily_seed
from fairest_protocol.calculation.deal import seal_deal
from fairest_protocol.calculation.rules import find_variant
from fairest_protocol.calculation.seal import commit_secret
from fairest_protocol.messages.codec import ProtocolViolation, decode_from_client, decode_from_server, encode
from fairest_protocol.messages.daily import DailySeal, DailyView
from fairest_protocol.messages.fields import Message
from fairest_protocol.messages.from_client import AskFinish, Join, Ping, Rematch, Watch
from fairest_protocol.messages.from_server import (
    Accepted,
    Announcement,
    Elsewhere,
    Error,
    MatchRecord,
    Placed,
    Pong,
    Renewed,
    UnknownMessage,
    Watching,
)
from fairest_server.daily.attempt import show_start
from fairest_server.room.match_record import record_last_match
from tests.support.races import KEY, Table

DOCS: Final = Path(__file__).parent
ROOM: Final = "amber-quiet-lynx"


def find_examples(page: str) -> dict[str, str]:
    """Return the first complete example of each message and entry on a page, by its `type`."""
    examples: dict[str, str] = {}
    for message in _messages_on(page):
        for each in (message, *message.get("entries", ())):
            if isinstance(each, dict) and "type" in each:
                examples.setdefault(str(each["type"]), json.dumps(each, separators=(",", ":")))
    return examples


def message_examples() -> dict[str, dict[str, Any]]:
    """Return an example of each message, by its `type`: the first valid one of the page, or one that is made here."""
    examples: dict[str, dict[str, Any]] = {}
    for shown in _messages_on((DOCS / "protocol.md").read_text("utf-8")):
        for decode in (decode_from_client, decode_from_server):
            valid = _validated(shown, decode)
            if valid is not None:
                examples.setdefault(valid["type"], valid)
    for made in _made():
        message = json.loads(encode(made))
        examples.setdefault(message["type"], message)
    return examples


def _messages_on(page: str) -> Iterator[dict[str, Any]]:
    for text in re.findall(r"^(?:[<>] )?({.*})$", page, re.MULTILINE):
        try:
            yield json.loads(text)
        except ValueError:
            # Abbreviated by "...".
            continue


def _validated(shown: dict[str, Any], decode: Callable[[str], Message]) -> dict[str, Any] | None:
    """Return a message of the page, a server's with all of its fields; or None if `decode` cannot read it in full."""
    if '"..."' in json.dumps(shown).replace("\\", ""):
        return None
    try:
        message = decode(json.dumps(shown))
    except ProtocolViolation:
        return None
    if isinstance(message, UnknownMessage):
        return None
    written: dict[str, Any] = shown if decode is decode_from_client else json.loads(encode(message))
    return written


def _made() -> Iterator[Message]:
    """Yield the messages that the page does not show in full."""
    yield Join(room=ROOM)
    yield Watch(room=ROOM)
    yield Rematch()
    yield AskFinish()
    yield Renewed(id="renew-1")
    yield Ping(id="ping-7")
    yield Pong(id="ping-7", now_ms=1_795_441_242_771)
    yield Accepted(number=12)
    yield Elsewhere(room=ROOM)
    yield Placed(placed=(17, 21))
    yield Watching(watching=12)
    yield Announcement(text="This server restarts at noon; your race goes on afterwards.")
    try:
        decode_from_client('{"type":"play","number":1,"move":"s9"}')
    except ProtocolViolation as breach:
        yield Error(code=breach.breach, sentence=breach.sentence)
    yield _make_record()
    yield _make_daily_view()
    yield from tournament_examples()


def _make_record() -> MatchRecord:
    """Return the record of a race of three moves, of which the last one resigns."""
    table = Table()
    table.start()
    for seat, move in ((0, "sa"), (1, "sb"), (1, "resign")):
        table.play(seat, move)
    record = record_last_match(ROOM, table.steps)
    assert record is not None, "the match is over"
    return MatchRecord(match=record.match_id, lines=tuple(KEY.sign(record).lines()))


def _make_daily_view() -> DailyView:
    """Return the answer to `daily` by which an attempt begins."""
    rules, day = find_variant("classic").rules, "2026-11-24"
    round_id, secret, beacon = daily_round_id(day, rules), bytes(range(32)), bytes(range(32, 64))
    sealed = seal_deal(rules, daily_seed(secret, beacon, round_id), round_id)
    started_ms = 1_795_483_200_000
    until_ms = started_ms + LIMIT_MS
    seal = DailySeal(round=round_id, commitment=commit_secret(round_id, secret), beacon_number=1200, beacon=beacon)
    return DailyView(
        day=day,
        rules=rules.name,
        until_ms=until_ms,
        now_ms=started_ms,
        moves=0,
        entries=show_start(rules, sealed, started_ms, until_ms),
        seal=seal,
        result=None,
    )
