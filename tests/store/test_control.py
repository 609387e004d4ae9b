"""Requests of the operator and their answers on a real Redis."""

import json

import pytest
from redis.asyncio import Redis

from fairest_protocol.messages.fields import Phase
from fairest_server.store import keys
from fairest_server.store.control import (
    AddBan,
    Announce,
    BadRequest,
    Close,
    Control,
    ControlAnswer,
    Describe,
    DrainProcess,
    DropOldToken,
    Envelope,
    ProcessRow,
    RemoveBan,
    Rename,
    RoomRow,
    Verb,
    parse_envelope,
)
from fairest_server.store.processes import Processes

REQUEST = Envelope(to="p1", request=Describe(rooms=True))
ROW = RoomRow(room="quiet-otter", phase=Phase.WAITING, names=("ann", None), spectators=3, listed=True)


@pytest.fixture
def control(redis: Redis) -> Control:
    return Control(redis)


def encoded(*answers: ControlAnswer) -> list[bytes]:
    return [answer.model_dump_json().encode() for answer in answers]


@pytest.mark.parametrize(
    ("request_", "word"),
    [
        (Describe(rooms=True), "describe"),
        (Close(room="a-b", reason="bad name"), "close"),
        (DrainProcess(within_seconds=86_400), "drain"),
        (Announce(text="Soon."), "announce"),
        (AddBan(subject="ann", seconds=100 * 366 * 86_400, reason=None), "ban"),
        (RemoveBan(subject="ann"), "unban"),
        (Rename(name="ann", new_name="bob"), "rename"),
        (DropOldToken(player_id="aa", token_hash="bb"), "drop_old_token"),
    ],
)
def test_a_request_is_parsed_as_it_was_sent(request_: Verb, word: str) -> None:
    envelope = Envelope(to="p1", request=request_)
    text = envelope.model_dump_json()
    assert (json.loads(text)["request"]["verb"], parse_envelope(text.encode())) == (word, envelope)


@pytest.mark.parametrize(
    "request_",
    [
        {"verb": "drain", "within_seconds": -1},
        {"verb": "drain", "within_seconds": 86_401},
        {"verb": "ban", "subject": "ann", "reason": None, "seconds": 0},
        {"verb": "ban", "subject": "ann", "reason": None, "seconds": 100 * 366 * 86_400 + 1},
    ],
)
def test_a_request_with_a_time_beyond_its_limits_is_refused(request_: dict[str, object]) -> None:
    with pytest.raises(BadRequest, match=r"should be (greater|less) than or equal to"):
        parse_envelope(json.dumps({"to": "", "request": request_}).encode())


def test_a_bad_request_names_the_place_with_forty_letters_of_each_part() -> None:
    text = json.dumps({"to": "", "request": {"verb": "describe", "rooms": True, "x" * 50: 1}})
    with pytest.raises(BadRequest, match=rf"^'request\.describe\.{'x' * 40}: [A-Z]"):
        parse_envelope(text.encode())


def test_the_text_about_a_bad_request_has_two_hundred_letters_at_most() -> None:
    text = json.dumps({"to": "", "request": {"verb": "x" * 300}})
    with pytest.raises(BadRequest) as refused:
        parse_envelope(text.encode())
    assert len(str(refused.value).removeprefix('"request: ').removesuffix('"')) == 200


def test_an_answer_has_no_sentence_unless_it_says_why() -> None:
    assert ControlAnswer(done=True).sentence == ""


async def test_processes_that_have_lapsed_are_not_living(control: Control, redis: Redis) -> None:
    for process_id in ("p3", "p1", "p2"):
        await Processes(redis, redis, process_id).beat()
    await redis.zadd(keys.PROCESSES, {"p2": 1})
    assert await control.living() == ["p1", "p3"]


async def test_a_process_is_living_for_three_seconds_after_its_heartbeat(control: Control, redis: Redis) -> None:
    seconds, microseconds = await redis.time()
    now_ms = seconds * 1000 + microseconds // 1000
    # A margin of a minute, which the test never takes.
    await redis.zadd(keys.PROCESSES, {"recent": now_ms - 3_000 + 60_000, "lapsed": now_ms - 3_001})
    assert await control.living() == ["recent"]


async def test_a_request_is_read_with_the_next_heartbeat(control: Control, redis: Redis) -> None:
    processes = Processes(redis, redis, "p1")
    await processes.beat()
    request_id = await control.send(REQUEST)
    (unread,) = (await processes.beat()).requests
    assert (unread.request_id, parse_envelope(unread.text)) == (request_id, REQUEST)


async def test_requests_expire(control: Control, redis: Redis) -> None:
    await control.send(REQUEST)
    assert 50 < await redis.ttl(keys.CONTROL) <= 60


async def test_the_answers_to_a_request_are_those_of_each_process(control: Control) -> None:
    done, refused = ControlAnswer(done=True), ControlAnswer(done=False, sentence="no")
    await control.answer("1-0", "p1", encoded(done))
    await control.answer("1-0", "p2", encoded(refused))
    assert await control.answers("1-0") == {"p1": done, "p2": refused}


async def test_an_answer_in_parts_has_the_rooms_of_all_of_them(control: Control) -> None:
    process = ProcessRow(host="here", pid=7, connections=3, rooms=3, races=1, draining=False)
    other = ROW.model_copy(update={"room": "loud-otter"})
    first = ControlAnswer(done=True, process=process, rooms=(ROW,))
    await control.answer("1-0", "p1", encoded(first, ControlAnswer(done=True, rooms=(other, ROW))))
    assert await control.answers("1-0") == {"p1": first.model_copy(update={"rooms": (ROW, other, ROW)})}


async def test_an_answer_that_cannot_be_parsed_is_left_out(control: Control) -> None:
    await control.answer("1-0", "p1", [b"{"])
    await control.answer("1-0", "p2", encoded(ControlAnswer(done=True)))
    assert list(await control.answers("1-0")) == ["p2"]


async def test_the_answers_to_a_request_expire(control: Control, redis: Redis) -> None:
    await control.answer("1-0", "p1", encoded(ControlAnswer(done=True)))
    assert 50 < await redis.ttl(keys.control_answers("1-0")) <= 60


def test_of_two_faults_of_a_request_the_first_is_named() -> None:
    text = json.dumps({"to": 1, "request": {"verb": "describe", "rooms": "perhaps"}})
    with pytest.raises(BadRequest, match=r"^'to: "):
        parse_envelope(text.encode())
