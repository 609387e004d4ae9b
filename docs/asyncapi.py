"""The AsyncAPI document: servers, the channel with its close codes, an operation for each request with its replies."""

import json
from typing import Any, Final

from docs.message_examples import message_examples
from docs.schemas import SCHEMAS, Schema, attribute_docs, kind_of, shared_schemas
from fairest_protocol.messages import daily, from_client, from_server, tournaments
from fairest_protocol.messages.fields import SUBPROTOCOL, Message
from fairest_protocol.messages.refusals import CLOSE_CODES, CloseCode
from fairest_server.settings import Settings

REPLIES: Final[dict[type[Message], tuple[type[Message], ...]]] = {
    from_client.Hello: (from_server.Welcome,),
    from_client.GetLobby: (from_server.LobbyPage,),
    from_client.Create: (from_server.Snapshot,),
    from_client.Queue: (from_server.Queued, from_server.Snapshot),
    from_client.LeaveQueue: (from_server.LeftQueue,),
    from_client.Join: (from_server.Snapshot,),
    from_client.Watch: (from_server.Snapshot,),
    from_client.Resume: (from_server.View, from_server.Snapshot),
    from_client.Ready: (from_server.View,),
    from_client.Reveal: (from_server.View,),
    from_client.Play: (from_server.View, from_server.Accepted),
    from_client.Rematch: (from_server.View,),
    from_client.AskFinish: (from_server.View,),
    from_client.Leave: (from_server.Left,),
    from_client.GetRecord: (from_server.MatchRecord,),
    from_client.Renew: (from_server.Renewed,),
    daily.Daily: (daily.DailyView,),
    daily.PlayDaily: (daily.DailyView,),
    tournaments.CreateTournament: (tournaments.Tournament,),
    tournaments.JoinTournament: (tournaments.Tournament,),
    tournaments.LeaveTournament: (tournaments.Tournament,),
    tournaments.StartTournament: (tournaments.Tournament,),
    tournaments.WatchTournament: (tournaments.Tournament, tournaments.TournamentTick),
    tournaments.ReadyTournament: (tournaments.Tournament,),
    tournaments.RevealTournament: (tournaments.Tournament,),
    tournaments.RaceTournament: (tournaments.TournamentRace,),
    tournaments.PlayTournament: (tournaments.TournamentRace,),
    from_client.Ping: (from_server.Pong,),
}
"""The messages that answer each request; any request may be answered by `Refused` as well."""
UNASKED: Final[tuple[type[Message], ...]] = (
    from_server.View,
    from_server.Elsewhere,
    from_server.Placed,
    from_server.Watching,
    from_server.Left,
    from_server.Queued,
    from_server.LeftQueue,
    from_server.Announcement,
    from_server.Error,
)
"""The messages that a server also sends by itself."""

ABOUT: Final = (
    "Races of Calculation on identical, sealed deals. docs/protocol.md says what a schema cannot: the order of the "
    "messages, the horizon, limits, hashes, the record of a match, and how version 1 may grow. A client passes over "
    "fields, messages, entries and codes that it does not know."
)
TAGS: Final = {"client": "Messages of a client.", "server": "Messages of a server."}
CHANNEL: Final = "#/channels/race"


def make_asyncapi() -> str:
    """Return the document of the server, which receives the client's messages and sends its own."""
    clients, servers, _, schemas = shared_schemas()
    examples = message_examples()
    sides = {**dict.fromkeys(clients, "client"), **dict.fromkeys(servers, "server")}
    document = {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Fairest",
            "version": SUBPROTOCOL,
            "description": ABOUT,
            "tags": [{"name": name, "description": text} for name, text in TAGS.items()],
        },
        "defaultContentType": "application/json",
        "servers": describe_servers(),
        "channels": {"race": describe_channel(list(sides))},
        "operations": {
            **{kind_of(schemas[name]): describe_request(name, schemas[name]) for name in clients},
            **{kind_of(schemas[each.__name__]): describe_unasked(each, schemas) for each in UNASKED},
        },
        "components": {
            "messages": {
                name: describe_message(name, side, schemas[name], examples[kind_of(schemas[name])])
                for name, side in sides.items()
            },
            "schemas": schemas,
        },
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def describe_servers() -> dict[str, Any]:
    """Return a server as it starts without options, and one that its operator has put on the net."""
    port = Settings.model_fields["port"].default
    host = {
        "description": "The name of the server, with its port unless that is 443.",
        "examples": ["race.example.org", f"race.example.org:{port}"],
    }
    return {
        "local": {
            "host": f"127.0.0.1:{port}",
            "protocol": "ws",
            "description": "`fairest-server` without options, on this machine.",
        },
        "public": {
            "host": "{host}",
            "protocol": "wss",
            "description": "A server with a certificate. Its operator says the name.",
            "variables": {"host": host},
        },
    }


def describe_channel(names: list[str]) -> dict[str, Any]:
    """Return the only channel, with these messages."""
    headers = {"type": "object", "properties": {"Sec-WebSocket-Protocol": {"type": "string", "const": SUBPROTOCOL}}}
    return {
        "address": "/",
        "title": "One connection of a player",
        "description": "A WebSocket, with one JSON object in each text frame. The first message is `hello`.",
        "servers": [{"$ref": "#/servers/local"}, {"$ref": "#/servers/public"}],
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in names},
        "bindings": {"ws": {"method": "GET", "headers": headers, "bindingVersion": "0.1.0"}},
        "x-close-codes": close_codes(),
    }


def describe_request(name: str, schema: Schema) -> dict[str, Any]:
    """Return the operation in which the server receives this message and replies."""
    [answers] = [answers for request, answers in REPLIES.items() if request.__name__ == name]
    replies = [*(each.__name__ for each in answers), from_server.Refused.__name__]
    return {
        "action": "receive",
        "channel": {"$ref": CHANNEL},
        **describe(schema),
        "messages": refer_to(name),
        "reply": {"channel": {"$ref": CHANNEL}, "messages": refer_to(*replies)},
    }


def describe_unasked(message: type[Message], schemas: dict[str, Schema]) -> dict[str, Any]:
    """Return the operation in which the server sends this message by itself."""
    schema = schemas[message.__name__]
    return {"action": "send", "channel": {"$ref": CHANNEL}, **describe(schema), "messages": refer_to(message.__name__)}


def describe_message(name: str, side: str, schema: Schema, example: dict[str, Any]) -> dict[str, Any]:
    """Return a message of the client or of the server, with an example."""
    return {
        "name": kind_of(schema),
        "title": name,
        **describe(schema),
        "tags": [{"name": side}],
        "payload": {"$ref": SCHEMAS + name},
        "examples": [{"name": kind_of(schema), "payload": example}],
    }


def describe(schema: Schema) -> dict[str, str]:
    """Return the first paragraph of a schema's description as the summary, and the whole of it."""
    text = str(schema["description"])
    return {"summary": text.partition("\n\n")[0], "description": text}


def refer_to(*names: str) -> list[dict[str, str]]:
    """Return references to these messages of the channel."""
    return [{"$ref": f"{CHANNEL}/messages/{name}"} for name in names]


def close_codes() -> list[dict[str, Any]]:
    """Return the close codes, with the codes of the `error` that may come before each, and what they mean."""
    meanings = dict(attribute_docs(CloseCode))
    return [
        {
            "code": int(code),
            "errors": [str(breach) for breach, closed_with in CLOSE_CODES.items() if closed_with is code],
            "meaning": meanings[code.name],
            "connect_again": _connect_again(code),
        }
        for code in CloseCode
    ]


def _connect_again(code: CloseCode) -> str | None:
    """Return whether a client connects again after this code, or None after a normal end."""
    match code:
        case CloseCode.NORMAL:
            return None
        case CloseCode.INTERNAL | CloseCode.RESTARTING:
            return "yes"
        case CloseCode.BINARY_FRAME | CloseCode.TOO_BIG:
            return "no"
        case CloseCode.TRY_LATER:
            return "later"
    return "not in the same way"
