"""The names of all keys and the figures that come with them: another name would lose the data of a deployment."""

from types import FunctionType

from hypothesis import given
from hypothesis import strategies as st

from fairest_server.store import daily_keys, keys, players, tournament_keys

DAY = 86_400
ROOM = "quiet-amber-otter"
"""A room of bucket 8."""

FIGURES = {
    "BUCKETS": 16,
    "PLAYER_SECONDS": 400 * DAY,
    "NEW_PLAYER_SECONDS": 7 * DAY,
    "OPENED_SECONDS": 600,
    "PLAYER_ROOMS_SECONDS": 7 * DAY,
    "PLAYER_ROOMS_KEPT": 32,
    "NAME_SECONDS": DAY,
    "RECORD_SECONDS": 400 * DAY,
    "MATCHES_KEPT": 500,
    "RATED_SECONDS": 400 * DAY,
    "RESULTS_KEPT": 1_000_000,
    "RATED_DAYS": 30,
    "LAPSE_MS": 3_000,
    "PUBLIC_COUNTS_SECONDS": 15,
    "PAUSE_MS": 3_000,
    "SILENCE_MS": 1_500,
    "PAUSES_KEPT": 50,
    "CONTROL_KEPT": 1_000,
    "CONTROL_SECONDS": 5,
    "CONTROL_ANSWER_SECONDS": 60,
    "RENAMED_SECONDS": 30 * DAY,
    "LAST_OPPONENT_SECONDS": 3_600,
    "ROUND_WRITER_SECONDS": 3,
}
NAMES = [
    (keys.SIGNING_KEY, "fairest:key"),
    (keys.RESTORING, "fairest:restoring"),
    (keys.PROCESSES, "fairest:{processes}:alive"),
    (keys.LAST_HEARTBEAT, "fairest:{processes}:beat"),
    (keys.PAUSES, "fairest:{processes}:pauses"),
    (keys.CONTROL, "fairest:{processes}:control"),
    (keys.BANS, "fairest:{processes}:bans"),
    (keys.TICKETS, "fairest:{queue}:tickets"),
    (keys.ROUND_CHAIN, "fairest:{rounds}:chain"),
    (keys.CHAINED_ROUNDS, "fairest:{rounds}:chained"),
    (keys.ROUND_WRITER, "fairest:{rounds}:writer"),
    (keys.RATED_RESULTS, "fairest:{ratings}:results"),
    (keys.RATED_MARKS, "fairest:{ratings}:marks"),
    (keys.log(ROOM), f"fairest:{{8}}:log:{ROOM}"),
    (keys.deadlines(7), "fairest:{7}:deadlines"),
    (keys.signing_key_copy(7), "fairest:{7}:key"),
    (keys.lobby(7), "fairest:{7}:lobby"),
    (keys.round_outbox(7), "fairest:{7}:rounds"),
    (keys.matches(7), "fairest:{7}:matches"),
    (keys.matches_by_rules(7, "easy"), "fairest:{7}:matches:rules:easy"),
    (keys.matches_by_name(7, "Ann"), "fairest:{7}:matches:name:ann"),
    (keys.unrated(7), "fairest:{7}:unrated"),
    (keys.keepalive_channel(7), "fairest:{7}:quiet"),
    (keys.attached_rooms("p1"), "fairest:{processes}:rooms:p1"),
    (keys.public_counts("p1"), "fairest:{processes}:counts:p1"),
    (keys.control_answers("1-0"), "fairest:{processes}:answers:1-0"),
    (keys.player("aa"), "fairest:player:aa"),
    (keys.tallies("aa"), "fairest:{ratings}:player:aa"),
    (keys.pair("bb", "aa"), "fairest:{ratings}:pair:aa:bb"),
    (keys.rated_name("Ann"), "fairest:{ratings}:name:ann"),
    (keys.board("easy"), "fairest:{ratings}:board:easy"),
    (keys.board_days("easy"), "fairest:{ratings}:days:easy"),
    (keys.opened("aa"), "fairest:opened:{aa}"),
    (keys.opened_at("10.0.0.1"), "fairest:opened:10.0.0.1"),
    (keys.opened_with("aa", "k"), "fairest:opened:{aa}:k"),
    (keys.player_rooms("aa"), "fairest:rooms:aa"),
    (keys.last_opponent("aa"), "fairest:opponent:aa"),
    (keys.name("Ann"), "fairest:name:ann"),
    (keys.record("ab"), "fairest:{11}:record:ab"),
    (daily_keys.UNOPENED, "fairest:{0}:daily:unopened"),
    (daily_keys.deal("2026-01-05", "easy"), "fairest:{0}:daily:deal:2026-01-05:easy"),
    (daily_keys.attempts("2026-01-05", "easy"), "fairest:{0}:daily:attempts:2026-01-05:easy"),
    (daily_keys.running("2026-01-05", "easy"), "fairest:{0}:daily:running:2026-01-05:easy"),
    (daily_keys.addresses("2026-01-05", "easy"), "fairest:{0}:daily:addresses:2026-01-05:easy"),
    (daily_keys.table("2026-01-05", "easy"), "fairest:{0}:daily:table:2026-01-05:easy"),
    (daily_keys.moves("2026-01-05", "easy", "aa"), "fairest:{0}:daily:moves:2026-01-05:easy:aa"),
    (daily_keys.attempt("ab"), "fairest:{0}:daily:attempt:ab"),
    (tournament_keys.ACTIVE, "fairest:{0}:tournament:active"),
    (tournament_keys.ENDED, "fairest:{0}:tournament:ended"),
    (tournament_keys.tournament("a-b"), "fairest:{0}:tournament:state:a-b"),
    (tournament_keys.entered("aa"), "fairest:{0}:tournament:entered:aa"),
    (tournament_keys.running("a-b", 2), "fairest:{0}:tournament:running:a-b:2"),
    (tournament_keys.scores("a-b", 2), "fairest:{0}:tournament:scores:a-b:2"),
    (tournament_keys.placed("a-b", 2), "fairest:{0}:tournament:placed:a-b:2"),
    (tournament_keys.moves("a-b", 2, "aa"), "fairest:{0}:tournament:moves:a-b:2:aa"),
    (players.RENAMED, "renamed:"),
    (players.GIVEN_UP, "given_up:"),
]


def test_each_figure_is_the_one_of_running_deployments() -> None:
    figures = {name: value for name, value in vars(keys).items() if name.isupper() and isinstance(value, int)}
    assert figures == FIGURES


def test_each_key_has_the_name_that_running_deployments_know() -> None:
    assert {known: name for name, known in NAMES if name != known} == {}


def test_no_key_is_left_out_here() -> None:
    documented = len(list_keys())
    # The last two are not keys, but stand before a player's id under one.
    assert documented == len(NAMES) - 2


def list_keys() -> list[str]:
    """Return the names of all functions and constants that name a key."""
    return [
        f"{module.__name__}.{name}"
        for module in (keys, daily_keys, tournament_keys)
        for name, value in vars(module).items()
        if (name.isupper() and isinstance(value, str))
        or (isinstance(value, FunctionType) and name not in ("bucket", "of_room", "round_id"))
    ]


@given(st.binary(min_size=16, max_size=16), st.integers(0, 99))
def test_the_record_of_a_match_has_the_hash_tag_of_its_room(drawn: bytes, number: int) -> None:
    room = f"room-{number}"
    match_id = keys.round_id(room, drawn).hex()
    assert keys.record(match_id).startswith(f"fairest:{{{keys.bucket(room)}}}:")


@given(st.binary(min_size=16, max_size=16))
def test_the_id_of_a_round_is_as_drawn_but_for_its_last_digit(drawn: bytes) -> None:
    assert keys.round_id(ROOM, drawn).hex() == f"{drawn.hex()[:-1]}8"


def test_the_keys_of_a_room_are_those_of_the_room_and_of_its_bucket() -> None:
    number = keys.bucket(ROOM)
    assert keys.of_room(ROOM) == keys.RoomKeys(
        log=keys.log(ROOM),
        deadlines=keys.deadlines(number),
        lobby=keys.lobby(number),
        round_outbox=keys.round_outbox(number),
    )
