"""Values that clients of other authors have in their code, and records in their text: none changes by accident.

docs/protocol.md has them. A value that is to change needs a new version, a capability, or a procedure of its own.
"""

from types import ModuleType
from typing import Any

from fairest_protocol.calculation import (
    cards,
    certified,
    daily,
    distance,
    moves,
    record,
    seal,
    solver,
    terms,
    tournament,
)
from fairest_protocol.messages import capabilities, matches, ratings, rivals, rounds
from fairest_protocol.messages import daily as daily_messages

PUBLISHED: list[tuple[ModuleType, dict[str, Any]]] = [
    (
        solver,
        {
            "BEAMS": (
                *((1, 2, 1), (4, 8, 1), (16, 1, 2), (16, 8, 1)),
                *((64, 1, 2), (64, 4, 1), (256, 1, 2), (256, 4, 1)),
            ),
            "ONE_PILE_BEAMS": 2,
            "MAX_NODES": 40_000,
        },
    ),
    (certified, {"PROCEDURE": 1, "CAPABILITY": "certified", "STEPS": 16, "STEP_NODES": 2_000, "MIN_CHOICE": 4}),
    (distance, {"PROCEDURE": 1, "CAPABILITY": "credit", "MAX_ROUND_TRIP_US": 300_000, "UNCERTAIN_PART": 100}),
    (cards, {"RANK_LETTERS": "A23456789TJQK", "SUIT_LETTERS": ("CDHS", "cdhs")}),
    (moves, {"PILE_LETTERS": "abcdefgh", "FOUNDATION_DIGITS": "12345678"}),
    (
        record,
        {
            "MAX_BYTES": 4_194_304,
            "MAX_LINES": 10_000,
            "MAX_LINE_BYTES": 32_768,
            "MAX_TIME_MS": 253_370_764_800_000,
        },
    ),
    (
        seal,
        {
            "SECRET_BYTES": 32,
            "ROUND_ID_BYTES": 16,
            "KEY_BYTES": 32,
            "SIGNATURE_BYTES": 64,
            "CHECK_WORDS": 4,
            "NO_ROUNDS": b"\0" * 32,
        },
    ),
    (daily, {"DAY_MS": 24 * 3_600_000, "LIMIT_SECONDS": 20 * 60, "LIMIT_MS": 20 * 60_000}),
    (tournament, {"MOST_PLAYERS": 128, "MOST_ROUNDS": 15, "MOST_ROUND_ROBIN": 16, "WIN_POINTS": 2}),
    (
        terms,
        {
            "BEST_OF": (1, 3, 5, 7, 9),
            "SPECTATORS": ("horizon", "open", "closed"),
            "CLOCKS": {
                "limit_seconds": range(10, 7201),
                "chase_seconds": range(5, 7201),
                "grace_seconds": range(1, 3601),
                "ready_seconds": range(5, 3601),
                "reveal_seconds": range(1, 61),
                "idle_seconds": range(5, 3601),
                "countdown_seconds": range(11),
            },
        },
    ),
    (
        capabilities,
        {
            "SERVER_CAPABILITIES": (
                *("rivals", "certified", "ask_finish", "race_queue"),
                *("renew", "daily", "tournaments", "credit"),
            )
        },
    ),
    (
        rounds,
        {
            "PAGE_LINES": 250,
            "MERGE_SECONDS": 60,
            "CERTIFIED_SUFFIX": "-certified",
            "DAILY_SUFFIX": "-daily",
            "TOURNAMENT_SUFFIX": "-tournament",
        },
    ),
    (rivals, {"BOT_PREFIX": "bot-"}),
    (matches, {"PAGE_MATCHES": 20}),
    (daily_messages, {"PAGE_ATTEMPTS": 100}),
    (ratings, {"PAGE_PLAYERS": 50}),
]


def test_each_value_that_others_rely_on_is_the_one_that_is_published() -> None:
    wanted = {(module.__name__, name): value for module, values in PUBLISHED for name, value in values.items()}
    found = {(module.__name__, name): getattr(module, name) for module, values in PUBLISHED for name in values}
    assert found == wanted
