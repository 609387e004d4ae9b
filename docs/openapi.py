"""The OpenAPI document: the pages over HTTP on the port of the players, each with its answers and their schemas."""

import json
import re
from http import HTTPStatus
from typing import Any, Final

from pydantic import TypeAdapter

from docs.asyncapi import describe_servers
from docs.message_examples import message_examples
from docs.schemas import SCHEMAS, Schema, WireSchema, without_titles
from fairest_protocol.calculation.record import MAX_BYTES
from fairest_protocol.calculation.record_lines import LINE_PATTERNS
from fairest_protocol.messages.daily import DailyPage
from fairest_protocol.messages.fields import SUBPROTOCOL
from fairest_protocol.messages.from_server import LobbyPage
from fairest_protocol.messages.matches import MatchesPage
from fairest_protocol.messages.ratings import Leaderboard, PlayerPage
from fairest_protocol.messages.rounds import ChainedEntry, RoundsPage, RoundsSummary
from fairest_protocol.messages.tournaments import Tournament, TournamentList
from fairest_protocol.value import Value
from fairest_server.edge.http_pages import JSON, METHODS, PREFLIGHT_SECONDS, TEXT
from fairest_server.edge.match_pages import PARAMETERS
from fairest_server.edge.page_parameters import CHAIN_PAGE_PATTERN, DAY_PATTERN, NAME_PATTERN, PAGE_PATTERN
from fairest_server.edge.record_pages import LINES
from fairest_server.edge.tournament_pages import CODE_PATTERN, NUMBER_PATTERN

ABOUT: Final = (
    "The pages that a Fairest server answers beside the WebSocket, for everybody and without a player; asyncapi.json "
    "describes the messages of the WebSocket, and docs/protocol.md both. Other methods are answered with 405, and a "
    "request for any other path is taken for that of a WebSocket."
)
HEALTH, SHARED = "health", "shared"
TAGS: Final = {
    HEALTH: "Pages for a liveness probe and for a balancer, under every `Host`.",
    SHARED: "Pages that the scripts of sites which the operator has named may read too (CORS).",
}
Answers = dict[HTTPStatus, str | tuple[str, str, Schema]]
"""Answers by their status: the meaning of a sentence, or the meaning, the content type and the schema of a page."""


class DescribedPage(Value):
    """A page: its path, what its operations are called after, its tag, its summary, its parameters and its answers."""

    path: str
    name: str
    tag: str
    summary: str
    answers: Answers
    parameters: tuple[Schema, ...] = ()


def _text(meaning: str, pattern: str, example: str) -> tuple[str, str, Schema]:
    """Return a page of one line that matches a pattern."""
    return meaning, TEXT, {"type": "string", "pattern": f"^{pattern}\n$", "examples": [f"{example}\n"]}


def _refer(name: str) -> Schema:
    return {"$ref": SCHEMAS + name}


def _page_number(pattern: str) -> Schema:
    """Return the parameter of a page's number in this form."""
    return {
        "name": "page",
        "in": "query",
        "description": "The number of a page, from 0.",
        "required": False,
        "schema": {"type": "string", "pattern": pattern},
    }


def _filter(name: str, pattern: str, meaning: str) -> Schema:
    """Return a parameter that a request may have."""
    return {
        "name": name,
        "in": "query",
        "description": f"{meaning[0].upper()}{meaning[1:]}.",
        "required": False,
        "schema": {"type": "string", "pattern": f"^{pattern}$"},
    }


ASK_AGAIN: Final = "Redis is away, or the page took longer than six seconds; ask again."
MATCH: Final[Schema] = {
    "name": "match",
    "in": "path",
    "description": "The id of a match.",
    "required": True,
    "schema": {"type": "string", "pattern": "^[0-9a-f]{32}$"},
}
ATTEMPT: Final[Schema] = {
    "name": "attempt",
    "in": "path",
    "description": "The id of an attempt.",
    "required": True,
    "schema": {"type": "string", "pattern": "^[0-9a-f]{32}$"},
}
NAME: Final[Schema] = {
    "name": "name",
    "in": "path",
    "description": "The name of a player, in any case.",
    "required": True,
    "schema": {"type": "string", "pattern": f"^{NAME_PATTERN}$"},
}
TOURNAMENT: Final[Schema] = {
    "name": "code",
    "in": "path",
    "description": "The code of a tournament.",
    "required": True,
    "schema": {"type": "string", "pattern": f"^{CODE_PATTERN}$", "maxLength": 60},
}
PAGES: Final = (
    DescribedPage(
        "/livez",
        "Alive",
        HEALTH,
        "Say that the process lives, and the version of the server.",
        {HTTPStatus.OK: _text("The process lives.", "alive fairest [0-9A-Za-z.+!-]{1,60}", "alive fairest 0.2.0")},
    ),
    DescribedPage(
        "/readyz",
        "Ready",
        HEALTH,
        "Say whether players should come to this process.",
        {
            HTTPStatus.OK: _text("The process may get players.", "ready", "ready"),
            HTTPStatus.SERVICE_UNAVAILABLE: "Players should go elsewhere now, for this reason.",
        },
    ),
    DescribedPage(
        "/key",
        "Key",
        SHARED,
        "Show the public key by which this server signs rounds, records and the chain of rounds.",
        {HTTPStatus.OK: _text("An Ed25519 key, 32 bytes as hexadecimal text.", "[0-9a-f]{64}", "59f99139" * 8)},
    ),
    DescribedPage(
        "/durability",
        "Durability",
        SHARED,
        "Show what the server's Redis promises about accepted moves.",
        {HTTPStatus.OK: "A sentence."},
    ),
    DescribedPage(
        "/lobby",
        "Lobby",
        SHARED,
        "Show a page of the listed rooms. One behind the last is empty.",
        {
            HTTPStatus.OK: ("The message `lobby`.", JSON, _refer("LobbyPage")),
        },
        (_page_number(f"^{PAGE_PATTERN}$"),),
    ),
    DescribedPage(
        "/rounds",
        "Rounds",
        SHARED,
        "Show the head of the chain of rounds, or with `page` a page of its entries.",
        {
            HTTPStatus.OK: (
                "The head without `page`, otherwise the page.",
                JSON,
                {"oneOf": [_refer("RoundsSummary"), _refer("RoundsPage")]},
            ),
            HTTPStatus.NOT_FOUND: "The page is not kept any more, or it is behind the head.",
            HTTPStatus.TOO_MANY_REQUESTS: "This address has read many pages lately.",
        },
        (_page_number(f"^{CHAIN_PAGE_PATTERN}$"),),
    ),
    DescribedPage(
        "/records/{match}",
        "Record",
        SHARED,
        "Show the record of a match.",
        {
            HTTPStatus.OK: ("The lines of the record.", LINES, _refer("Record")),
            HTTPStatus.NOT_FOUND: "No record of this match is kept.",
            HTTPStatus.TOO_MANY_REQUESTS: "This address has read many pages lately.",
        },
        (MATCH,),
    ),
    DescribedPage(
        "/matches",
        "Matches",
        SHARED,
        "Show finished matches of listed rooms, the newest first: all, or those of a player or a variant.",
        {
            HTTPStatus.OK: ("A page of matches.", JSON, _refer("MatchesPage")),
            HTTPStatus.TOO_MANY_REQUESTS: "This address has read many pages lately.",
        },
        tuple(_filter(name, pattern, meaning) for name, (pattern, meaning) in PARAMETERS.items()),
    ),
    DescribedPage(
        "/leaderboard",
        "Leaderboard",
        SHARED,
        "Show players of a variant by their rating. A page behind the last is empty.",
        {
            HTTPStatus.OK: ("A page of the leaderboard.", JSON, _refer("Leaderboard")),
            HTTPStatus.TOO_MANY_REQUESTS: "This address has read many pages lately.",
        },
        (_filter("rules", *PARAMETERS["rules"]), _page_number(f"^{PAGE_PATTERN}$")),
    ),
    DescribedPage(
        "/players/{name}",
        "Player",
        SHARED,
        "Show the ratings of a player by variant, and with `against` its score against another player.",
        {
            HTTPStatus.OK: ("The page of the player.", JSON, _refer("PlayerPage")),
            HTTPStatus.NOT_FOUND: "Nobody is known by one of the names.",
            HTTPStatus.TOO_MANY_REQUESTS: "This address has read many pages lately.",
        },
        (NAME, _filter("against", NAME_PATTERN, "the name of another player")),
    ),
    DescribedPage(
        "/daily",
        "Daily",
        SHARED,
        "Show a daily deal: its seal and its counts, and once it is opened its secret and a page of its table.",
        {
            HTTPStatus.OK: ("The page of the deal.", JSON, _refer("DailyPage")),
            HTTPStatus.NOT_FOUND: "There is no daily deal of this variant on this day.",
            HTTPStatus.TOO_MANY_REQUESTS: "This address has read many pages lately.",
        },
        (
            _filter("rules", *PARAMETERS["rules"]),
            _filter("day", DAY_PATTERN, "the day in UTC, today without it"),
            _page_number(f"^{PAGE_PATTERN}$"),
        ),
    ),
    DescribedPage(
        "/daily/{attempt}",
        "Attempt",
        SHARED,
        "Show the record of an attempt at a daily deal that is opened.",
        {
            HTTPStatus.OK: ("Both lines of the record.", LINES, {"type": "string"}),
            HTTPStatus.NOT_FOUND: "No record of this attempt can be shown.",
            HTTPStatus.TOO_MANY_REQUESTS: "This address has read many pages lately.",
        },
        (ATTEMPT,),
    ),
    DescribedPage(
        "/tournaments",
        "Tournaments",
        SHARED,
        "Show the tournaments that are open or under way, at most a hundred, and the thirty that have ended last.",
        {HTTPStatus.OK: ("The list.", JSON, _refer("TournamentList"))},
    ),
    DescribedPage(
        "/tournaments/{code}",
        "Tournament",
        SHARED,
        "Show a tournament: its players, its rounds, and the standings.",
        {
            HTTPStatus.OK: ("The tournament.", JSON, _refer("Tournament")),
            HTTPStatus.NOT_FOUND: "There is no tournament with this code.",
            HTTPStatus.TOO_MANY_REQUESTS: "This address has read many pages lately.",
        },
        (TOURNAMENT,),
    ),
    DescribedPage(
        "/tournament-races/{code}",
        "TournamentRace",
        SHARED,
        "Show the record of the race of a player in a round that is over.",
        {
            HTTPStatus.OK: ("Both lines of the record.", LINES, {"type": "string"}),
            HTTPStatus.NOT_FOUND: "No record of this race can be shown.",
            HTTPStatus.TOO_MANY_REQUESTS: "This address has read many pages lately.",
        },
        (
            TOURNAMENT,
            _filter("round", f"^{NUMBER_PATTERN}$", "the number of the round"),
            _filter("name", f"^{NAME_PATTERN}$", "the name of the player"),
        ),
    ),
)


def make_openapi() -> str:
    """Return the document, with three operations for each page: `GET`, `HEAD` and `OPTIONS`."""
    document = {
        "openapi": "3.1.0",
        "info": {"title": "Fairest over HTTP", "version": SUBPROTOCOL, "description": ABOUT},
        "servers": _servers(),
        "tags": [{"name": name, "description": text} for name, text in TAGS.items()],
        "paths": {page.path: {method.lower(): _operation(page, method) for method in METHODS} for page in PAGES},
        "components": {"schemas": _schemas(), "headers": _headers()},
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _servers() -> list[dict[str, Any]]:
    """Return the same servers as for the WebSocket. Every variable of OpenAPI has a default."""
    servers = []
    for server in describe_servers().values():
        described = {"url": f"http{server['protocol'].removeprefix('ws')}://{server['host']}"}
        variables = {
            name: {"description": each["description"], "default": each["examples"][0]}
            for name, each in server.get("variables", {}).items()
        }
        servers.append({**described, "description": server["description"], "variables": variables})
    return servers


def _operation(page: DescribedPage, method: str) -> dict[str, Any]:
    """Return what a method does: `GET` shows the page, `HEAD` its headers, `OPTIONS` answers a browser's preflight."""
    summary = {"GET": page.summary, "HEAD": "Answer as `GET`, without the body."}.get(method, "Answer a preflight.")
    answers: Answers = {HTTPStatus.NO_CONTENT: "The methods of this page."}
    if method != "OPTIONS":
        answers = {HTTPStatus.SERVICE_UNAVAILABLE: ASK_AGAIN, **page.answers}
    if page.tag == SHARED:
        # Said before anything of the page is looked up.
        refusals = {
            HTTPStatus.BAD_REQUEST: "A parameter or a header is malformed, or `Host` or `Origin` stands there twice.",
            HTTPStatus.FORBIDDEN: "The operator has named the hosts of this server, and `Host` is another one.",
        }
        answers = {**answers, **refusals}
    return {
        "operationId": f"{method.lower()}{page.name}",
        "tags": [page.tag],
        "summary": summary,
        "description": summary if method == "GET" else f"{summary} The page: {page.summary}",
        "parameters": list(page.parameters),
        "responses": {
            str(status.value): _response(page, method, status, answers[status]) for status in sorted(answers)
        },
    }


def _response(
    page: DescribedPage, method: str, status: HTTPStatus, answer: str | tuple[str, str, Schema]
) -> dict[str, Any]:
    """Return an answer with its headers, and its content unless the method has none."""
    meaning, content_type, schema = (answer, TEXT, _refer("Sentence")) if isinstance(answer, str) else answer
    names = ["Cache-Control", "X-Content-Type-Options"] if status is not HTTPStatus.NO_CONTENT else []
    if status is HTTPStatus.NO_CONTENT:
        names += ["Allow", "Access-Control-Allow-Methods", "Access-Control-Max-Age"]
    if status is HTTPStatus.TOO_MANY_REQUESTS:
        names.append("Retry-After")
    if page.tag == SHARED and status is not HTTPStatus.FORBIDDEN:
        names.append("Access-Control-Allow-Origin")
    described = {"description": meaning, "headers": {name: {"$ref": f"#/components/headers/{name}"} for name in names}}
    if method != "GET":
        return described
    media: Schema = {"schema": schema}
    if schema == _refer("LobbyPage"):
        media["example"] = message_examples()["lobby"]
    return {**described, "content": {content_type: media}}


def _headers() -> dict[str, Any]:
    """Return the headers of answers by their names. All but `Access-Control-Allow-Origin` are always there."""
    constants = {
        "Cache-Control": ("Pages are of this moment.", "no-store"),
        "X-Content-Type-Options": ("The content type is right.", "nosniff"),
        "Allow": ("The methods of the page.", ", ".join(METHODS)),
        "Access-Control-Allow-Methods": ("The methods of the page, for a browser.", ", ".join(METHODS)),
        "Access-Control-Max-Age": ("The seconds for which a browser need not ask again.", str(PREFLIGHT_SECONDS)),
    }
    headers: dict[str, Any] = {
        name: {"description": text, "required": True, "schema": {"type": "string", "const": value}}
        for name, (text, value) in constants.items()
    }
    headers["Retry-After"] = {
        "description": "The seconds after which to ask again.",
        "required": True,
        "schema": {"type": "string", "pattern": "^[1-9][0-9]*$"},
    }
    headers["Access-Control-Allow-Origin"] = {
        "description": "The `Origin` of the request, if scripts of that site may read the answer.",
        "required": False,
        "schema": {"type": "string", "pattern": "^https?://[^ /]+$"},
    }
    return headers


def _schemas() -> dict[str, Schema]:
    """Return the schemas of the answers, in the JSON Schema of 2020 on which OpenAPI 3.1 is built."""
    adapters = [
        (each, "serialization", TypeAdapter(each))
        for each in (
            LobbyPage,
            RoundsSummary,
            RoundsPage,
            MatchesPage,
            Leaderboard,
            PlayerPage,
            DailyPage,
            TournamentList,
            Tournament,
        )
    ]
    roots, made = TypeAdapter.json_schemas(
        [*adapters, ("entry", "serialization", TypeAdapter(ChainedEntry))],  # type: ignore[list-item]
        ref_template=SCHEMAS + "{model}",
        schema_generator=WireSchema,
    )
    schemas: dict[str, Schema] = _with_items(without_titles(made["$defs"]))
    # Only answers over the WebSocket repeat the id of a request.
    del schemas["LobbyPage"]["properties"]["id"]
    schemas["ChainedEntry"] = {
        "description": "An entry of the chain of rounds.",
        **without_titles(roots["entry", "serialization"]),
    }
    schemas["RoundsPage"]["properties"]["lines"]["items"] |= {
        "contentMediaType": JSON,
        "contentSchema": _refer("ChainedEntry"),
    }
    schemas["Record"] = {
        "description": "The lines of a record, as its file has them. docs/record.json has the pattern of each line.",
        "type": "string",
        "maxLength": MAX_BYTES,
        "pattern": _record_pattern(),
    }
    schemas["Sentence"] = {
        "description": "A sentence for people, and a line feed.",
        "type": "string",
        "pattern": "^[^\n]+\n$",
    }
    return dict(sorted(schemas.items()))


def _with_items(node: Any) -> Any:
    """Return the schema with one schema for all items of a list that has one for each of them, as tools expect."""
    if isinstance(node, list):
        return [_with_items(each) for each in node]
    if not isinstance(node, dict):
        return node
    plain = {key: _with_items(value) for key, value in node.items()}
    match plain:
        case {"prefixItems": [first, *others]}:
            del plain["prefixItems"]
            plain["items"] = first if all(each == first for each in others) else {"anyOf": [first, *others]}
    return plain


def _record_pattern() -> str:
    """Return the pattern of a whole record: every line but the last ends with its chain."""
    chained = {
        kind: re.sub(r"\\}$", ',"chain":"[0-9a-f]{64}"\\}\n', pattern) for kind, pattern in LINE_PATTERNS.items()
    }
    between = "|".join(chained[kind] for kind in LINE_PATTERNS if kind not in ("match", "seal"))
    return f"^{chained['match']}({between})+{LINE_PATTERNS['seal']}\n$"
