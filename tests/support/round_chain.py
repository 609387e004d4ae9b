"""The chain of rounds as somebody reads it who has only docs/protocol.md: over HTTP, with hashes of its own."""

import asyncio
import hashlib
import http.client
import json
import time
from collections import Counter
from http import HTTPStatus
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


def get_json(url: str, path: str) -> Any:
    """Return the JSON of a page of the server at the WebSocket URL `url`, after the time that the server asks for."""
    while True:
        connection = http.client.HTTPConnection(url.partition("#")[0].split("://")[1], timeout=20)
        connection.request("GET", path)
        answer = connection.getresponse()
        text = answer.read().decode()
        if answer.status != HTTPStatus.TOO_MANY_REQUESTS:
            break
        time.sleep(float(answer.headers["Retry-After"]))
    assert answer.status == 200, text
    return json.loads(text)


def encode(label: str, *parts: bytes) -> bytes:
    words = (f"fairest.v1.{label}".encode(), *parts)
    return b"".join(len(word).to_bytes(4, "big") + word for word in words)


def read_chain(url: str) -> list[dict[str, Any]]:
    """Return the entries of the chain, with every hash, number and signature checked."""
    summary = get_json(url, "/rounds")
    head, size = summary["head"], summary["page_lines"]
    statement = encode(
        "rounds head",
        head["number"].to_bytes(8, "big"),
        bytes.fromhex(head["chain"]),
        head["at_ms"].to_bytes(8, "big"),
    )
    Ed25519PublicKey.from_public_bytes(bytes.fromhex(summary["key"])).verify(
        bytes.fromhex(head["signature"]), statement
    )
    entries: list[dict[str, Any]] = []
    number, chain = summary["first_page"] * size, bytes(32)
    while number < head["number"]:
        page = get_json(url, f"/rounds?page={number // size}")
        if entries or not summary["first_page"]:
            assert page["before"] == chain.hex()
        chain = bytes.fromhex(page["before"])
        for line in page["lines"]:
            number += 1
            chain = hashlib.sha256(encode("rounds", chain, line.encode())).digest()
            entries.append(json.loads(line))
            assert entries[-1]["number"] == number
            if number == head["number"]:
                break
    assert chain.hex() == head["chain"]
    return entries


async def chain_of(url: str) -> list[dict[str, Any]]:
    """Return the entries of the chain that a server shows, read beside the event loop."""
    return await asyncio.to_thread(read_chain, url)


def endings(entries: list[dict[str, Any]]) -> Counter[str]:
    """Return how many rounds ended in which way, those without an end under `open`."""
    opened = {entry["commitment"] for entry in entries if entry["type"] == "opened"}
    ended = [entry for entry in entries if entry["type"] == "ended"]
    assert len(opened) == sum(entry["type"] == "opened" for entry in entries), "each round is opened once"
    assert len({entry["commitment"] for entry in ended}) == len(ended), "each round ends once"
    counts = Counter(entry["how"] for entry in ended)
    counts["open"] = len(opened - {entry["commitment"] for entry in ended})
    return +counts
