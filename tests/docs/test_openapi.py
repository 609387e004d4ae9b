"""The OpenAPI document: a real server has its pages and no other ones, and each answer fits what it says of it."""

import json
from collections.abc import Mapping
from contextlib import AsyncExitStack
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from redis.asyncio import Redis

from fairest_protocol.messages.from_client import Create
from fairest_protocol.messages.options import RoomOptions
from fairest_server.edge.admission import Admission
from fairest_server.edge.public_pages import health_pages, shared_pages
from fairest_server.edge.read_budget import ReadBudget
from fairest_server.edge.refusal_log import RefusalLog
from fairest_server.live.drain import Drain
from fairest_server.live.room_server import RoomServer
from fairest_server.settings import Settings
from fairest_server.store.lobby import Lobby
from fairest_server.store.matches import MatchList
from fairest_server.store.redis.durability import read_durability
from tests.support.daily import LONG_AGO, open_long_ago
from tests.support.limited import Limited, limited_server
from tests.support.listed_matches import make_row
from tests.support.long_tests import parametrize_with_long
from tests.support.processes import redis_process
from tests.support.raw_http import Answer, ask
from tests.support.records import store_records
from tests.support.tournaments import play_a_cup
from tests.support.waiting import until
from tests.support.wire_client import open_client, racing_players

DOCUMENT = json.loads((Path(__file__).parents[2] / "docs/openapi.json").read_text())
PATHS: Mapping[str, Mapping[str, Any]] = DOCUMENT["paths"]
SHARED = [path for path, methods in PATHS.items() if methods["get"]["tags"] == ["shared"]]
FRIEND = "https://friend.example"
NO_MATCH = "0" * 32


def faults(schema: object, value: object) -> list[str]:
    """Return all that a schema of the document finds wrong with a value."""
    validator = Draft202012Validator({"allOf": [schema], "components": DOCUMENT["components"]})
    return [each.message for each in validator.iter_errors(value)]


def header_faults(described: Mapping[str, Any], answer: Answer) -> list[str]:
    """Return what is wrong with the headers of an answer."""
    found = []
    for name in described:
        header = DOCUMENT["components"]["headers"][name]
        if name in answer.headers:
            found += faults(header["schema"], answer.headers[name])
        elif header["required"]:
            found.append(f"{name} is missing")
    return found


def answer_faults(path: str, answer: Answer, method: str = "get") -> list[str]:
    """Return all that is wrong with the answer to a request for the page of this path."""
    responses = PATHS[path][method]["responses"]
    if str(answer.status) not in responses:
        return [f"{answer.status} is not among {list(responses)}"]
    response = responses[str(answer.status)]
    found = header_faults(response["headers"], answer)
    if "content" not in response:
        return [*found, *([f"it has a body: {answer.body!r}"] if answer.body else [])]
    [(content_type, media)] = response["content"].items()
    if answer.headers["Content-Type"] != content_type:
        return [*found, f"it is of type {answer.headers['Content-Type']}"]
    text = answer.body.decode()
    return [*found, *faults(media["schema"], json.loads(text) if content_type == "application/json" else text)]


def asked(path: str, match: str = NO_MATCH) -> str:
    """Return a path that a client can ask for."""
    return (
        path.replace("{match}", match)
        .replace("{attempt}", match)
        .replace("{name}", "ann")
        .replace("{code}", "no-such-cup")
    )


async def test_the_document_has_the_pages_of_a_server_and_no_other(
    rooms: RoomServer, redis: Redis, settings_for_tests: Settings
) -> None:
    admission = Admission(settings_for_tests, Drain(), rooms.bans, RefusalLog())
    budget = ReadBudget(admission, settings_for_tests)
    shared = shared_pages(rooms, Lobby(redis), await read_durability(redis), budget)
    parts = {"/records/": "{match}", "/players/": "{name}", "/daily/": "{attempt}"}
    parts |= dict.fromkeys(("/tournaments/", "/tournament-races/"), "{code}")
    served = {path + parts.get(path, "") for path in (*health_pages(rooms), *shared)}
    assert served == set(PATHS)


@pytest.mark.parametrize("path", [path for path in PATHS if "{" not in path and path != "/daily"])
async def test_the_answer_of_a_page_is_the_one_described(server_url: str, path: str) -> None:
    answer = await ask(server_url, path)
    assert (answer.status, answer_faults(path, answer)) == (HTTPStatus.OK, [])


async def test_a_page_of_the_lobby_with_a_room_is_the_one_described(server_url: str) -> None:
    async with open_client(server_url) as client:
        await client.enter(Create(options=RoomOptions(listed=True)))
        answer = await ask(server_url, "/lobby?page=0")
    assert (len(json.loads(answer.body)["rooms"]), answer_faults("/lobby", answer)) == (1, [])


async def test_the_record_of_a_match_is_the_one_described(limited: Limited, redis: Redis) -> None:
    [record] = await store_records(redis, 1)
    async with limited() as url:
        answer = await ask(url, asked("/records/{match}", record.match_id))
    assert (answer.status, answer_faults("/records/{match}", answer)) == (HTTPStatus.OK, [])


async def test_a_page_of_the_chain_of_rounds_and_its_entries_are_the_ones_described(server_url: str) -> None:
    async with racing_players(server_url) as (first, _):
        await first.play("resign")

        async def both_entries_are_there() -> None:
            head = json.loads((await ask(server_url, "/rounds")).body)["head"]
            assert head["number"] == 2

        await until(both_entries_are_there, "the chain has the round's opening and its end")
        answer = await ask(server_url, "/rounds?page=0")
    entry = {"$ref": "#/components/schemas/ChainedEntry"}
    wrong = [fault for line in json.loads(answer.body)["lines"] for fault in faults(entry, json.loads(line))]
    assert (answer_faults("/rounds", answer), wrong) == ([], [])


@pytest.mark.parametrize(
    ("path", "request_path", "status"),
    [
        ("/lobby", "/lobby?page=x", HTTPStatus.BAD_REQUEST),
        ("/rounds", "/rounds?page=-1", HTTPStatus.BAD_REQUEST),
        ("/records/{match}", "/records/x", HTTPStatus.BAD_REQUEST),
        ("/rounds", "/rounds?page=9", HTTPStatus.NOT_FOUND),
        ("/records/{match}", f"/records/{NO_MATCH}", HTTPStatus.NOT_FOUND),
        ("/matches", "/matches?before=x", HTTPStatus.BAD_REQUEST),
        ("/leaderboard", "/leaderboard?page=-1", HTTPStatus.BAD_REQUEST),
        ("/leaderboard", "/leaderboard?rules=whist", HTTPStatus.BAD_REQUEST),
        ("/players/{name}", "/players/a!", HTTPStatus.BAD_REQUEST),
        ("/players/{name}", "/players/ann?against=!", HTTPStatus.BAD_REQUEST),
        ("/players/{name}", "/players/ann", HTTPStatus.NOT_FOUND),
        ("/daily", "/daily?day=today", HTTPStatus.BAD_REQUEST),
        ("/daily", "/daily", HTTPStatus.NOT_FOUND),
        ("/daily/{attempt}", "/daily/x", HTTPStatus.BAD_REQUEST),
        ("/daily/{attempt}", f"/daily/{NO_MATCH}", HTTPStatus.NOT_FOUND),
        ("/tournaments/{code}", "/tournaments/x", HTTPStatus.BAD_REQUEST),
        ("/tournaments/{code}", "/tournaments/no-such-cup", HTTPStatus.NOT_FOUND),
        ("/tournament-races/{code}", "/tournament-races/no-such-cup?round=0&name=ann", HTTPStatus.BAD_REQUEST),
        ("/tournament-races/{code}", "/tournament-races/no-such-cup?round=1", HTTPStatus.BAD_REQUEST),
        ("/tournament-races/{code}", "/tournament-races/no-such-cup?round=1&name=ann", HTTPStatus.NOT_FOUND),
    ],
)
async def test_an_answer_to_a_wrong_request_is_the_one_described(
    server_url: str, path: str, request_path: str, status: HTTPStatus
) -> None:
    answer = await ask(server_url, request_path)
    assert (answer.status, answer_faults(path, answer)) == (status, [])


@parametrize_with_long("path", SHARED, quick=5)
async def test_a_refusal_for_the_host_is_the_one_described(limited: Limited, path: str) -> None:
    async with limited(own_hosts="play.example") as url:
        answer = await ask(url, asked(path), host="evil.example")
    assert (answer.status, answer_faults(path, answer)) == (HTTPStatus.FORBIDDEN, [])


@pytest.mark.parametrize("path", ["/records/{match}", "/matches", "/leaderboard", "/players/{name}", "/daily"])
async def test_a_refusal_for_many_records_is_the_one_described(limited: Limited, path: str) -> None:
    async with limited(messages_burst=1, messages_per_second=0.01) as url:
        await ask(url, asked(path))
        answer = await ask(url, asked(path))
    assert (answer.status, answer_faults(path, answer)) == (HTTPStatus.TOO_MANY_REQUESTS, [])


async def test_a_page_of_finished_matches_is_the_one_described(limited: Limited, redis: Redis) -> None:
    listed = MatchList(redis)
    for number in range(21):
        await listed.add("quiet-amber-otter", make_row(number, finished_at_ms=2_000_000_000_000 + number))
    async with limited() as url:
        answer = await ask(url, "/matches?player=ann")
    assert (len(json.loads(answer.body)["matches"]), answer_faults("/matches", answer)) == (20, [])


async def test_a_daily_deal_and_the_record_of_an_attempt_are_the_ones_described(limited: Limited, redis: Redis) -> None:
    await open_long_ago(redis, None, ann=[])
    async with limited() as url:
        answer = await ask(url, f"/daily?day={LONG_AGO.day}")
        assert (answer.status, answer_faults("/daily", answer)) == (HTTPStatus.OK, [])
        record = await ask(url, f"/daily/{json.loads(answer.body)['rows'][0]['attempt']}")
    assert (record.status, answer_faults("/daily/{attempt}", record)) == (HTTPStatus.OK, [])


@pytest.mark.long
async def test_a_tournament_and_the_record_of_a_race_are_the_ones_described(limited: Limited) -> None:
    async with limited() as url, AsyncExitStack() as stack:
        code = await play_a_cup(url, stack)
        shown = await ask(url, f"/tournaments/{code}")
        assert (shown.status, answer_faults("/tournaments/{code}", shown)) == (HTTPStatus.OK, [])
        record = await ask(url, f"/tournament-races/{code}?round=1&name=player-1")
    assert (record.status, answer_faults("/tournament-races/{code}", record)) == (HTTPStatus.OK, [])


@pytest.mark.long
async def test_the_answers_while_redis_is_away_are_the_ones_described() -> None:
    with redis_process() as redis:
        async with limited_server(redis.url) as url:
            redis.kill()
            for path in ("/readyz", "/lobby", "/records/{match}", "/matches", "/leaderboard", "/players/{name}"):

                async def is_refused(path: str = path) -> None:
                    answer = await ask(url, asked(path))
                    assert (answer.status, answer_faults(path, answer)) == (HTTPStatus.SERVICE_UNAVAILABLE, [])

                await until(is_refused, f"{path} says that it cannot be shown")


@pytest.mark.parametrize("path", PATHS)
@parametrize_with_long("method", ["head", "options"], quick=1)
async def test_the_answer_to_another_method_is_the_one_described(limited: Limited, path: str, method: str) -> None:
    async with limited() as url:
        answer = await ask(url, asked(path), method=method.upper())
    assert answer_faults(path, answer, method) == []


@parametrize_with_long("path", SHARED, quick=5)
async def test_the_origin_of_a_named_site_stands_in_the_answer(limited: Limited, path: str) -> None:
    async with limited(origins=FRIEND) as url:
        answer = await ask(url, asked(path), f"Origin: {FRIEND}")
    assert (answer.allowed_origin, answer_faults(path, answer)) == (FRIEND, [])


def test_a_record_with_a_line_that_no_server_writes_does_not_fit() -> None:
    schema = PATHS["/records/{match}"]["get"]["responses"]["200"]["content"]["application/x-ndjson"]["schema"]
    assert faults(schema, '{"type":"match"}\n')
