"""A bot in plain Python, from docs/protocol.md: `python bot.py URL [ROOM or OPTIONS [FILE]]`, see README.md here."""

import asyncio
import hashlib
import json
import random
import secrets
import sys
from pathlib import Path
from typing import Any

import websockets

Json = dict[str, Any]
PROTOCOL, RANKS, PILES, FOUNDATIONS = websockets.Subprotocol("fairest.v1"), "A23456789TJQK", "abcdefgh", "12345678"
PHASE = {"round_opened": "ready", "player_ready": None, "revealed": None, "dealt": "countdown", "started": "racing"}
PHASE |= {"turned": None, "moved": None, "round_finished": "finished", "round_voided": "waiting"}
PHASE |= {"seat_freed": "waiting"}


def seal(label: str, *parts: bytes | str) -> str:
    """Return the hash of a label and parts, each behind its length. Texts are bytes in hexadecimal."""
    unhexed = (bytes.fromhex(each) if isinstance(each, str) else each for each in parts)
    texts = [f"fairest.v1.{label}".encode(), *unhexed]
    return hashlib.sha256(b"".join(len(text).to_bytes(4, "big") + text for text in texts)).hexdigest()


def choose_move(board: Json) -> str | None:
    """Return a legal move, if there is one: always the same for a board, so a move that is sent again is the same."""
    tops = {name: pile[-1] for name, pile in zip(PILES, board["piles"], strict=False) if pile}
    tops |= {"s": board["turned"]} if board["turned"] else {}
    for name, each, cards in zip(FOUNDATIONS, board["layout"], board["foundations"], strict=False):
        rank = RANKS[(each["start"] - 1 + each["step"] * len(cards)) % 13]
        found = [source for source, card in tops.items() if card[0] == rank and len(cards) < each["length"]]
        if found:
            return f"{found[0]}{name}"
    smallest = min(range(len(board["piles"])), key=lambda place: len(board["piles"][place]))
    return f"s{PILES[smallest]}" if board["turned"] else "redeal" if tops and board["redeals"] else None


class Bot:
    """A player, and its knowledge of the room. Entries that are not in `PHASE` are ignored."""

    def __init__(self, url: str, entry: Json, record_file: str) -> None:
        self.url, self.entry, self.record_file, self.token, self.pause = url, entry, record_file, None, 0.25
        self.entropies: dict[str, str] = {}  # own random bytes by round: they stay the same after a drop

    async def run(self) -> None:
        """Play the match, over a new connection whenever one ends."""
        while True:
            try:
                self.asked, path = Json(), f"/r/{self.entry['room']}" if "room" in self.entry else ""
                async with websockets.connect(self.url + path, subprotocols=[PROTOCOL], max_size=2**22) as self.socket:
                    await self.ask(type="hello", token=self.token, capabilities=["credit"])
                    async for frame in self.socket:
                        if await self.receive(json.loads(frame)):
                            return await self.ask(type="leave")
            except (OSError, websockets.WebSocketException) as fault:
                close = getattr(fault, "rcvd", None)
                if close and (close.code >= 4000 or close.code in (1003, 1009)):
                    sys.exit(f"The connection has ended for good: {fault}")
            await asyncio.sleep(random.uniform(self.pause / 2, self.pause))
            self.pause = min(2 * self.pause, 60)

    async def ask(self, **message: Any) -> None:
        """Send a request, unless it is the one that waits for its answer on this connection."""
        if message != self.asked:
            await self.socket.send(json.dumps(message))
        self.asked = message

    async def receive(self, message: Json) -> bool:
        """Take a message, and send what it requires; return whether all is done. Unknown types are ignored."""
        match message["type"]:
            case "welcome":
                self.token = message["token"] or self.token
                await self.ask(**self.entry)
            case "snapshot" | "view":
                if message["type"] == "snapshot":
                    self.seat, self.room, self.scene = message["seat"], message["room"], message["scene"]
                    print(f"room {self.room}, seat {self.seat}", flush=True)
                for entry in message.get("entries", ()):
                    if entry["type"] in PHASE:
                        self.apply(entry, self.scene, self.scene["seats"][entry.get("seat", self.seat)])
                self.entry = {"type": "resume", "room": self.room, "position": message["position"]}
                self.entry["tag"], self.pause = message["tag"], 0.25
                return await self.act(self.scene, self.scene["seats"][self.seat], self.scene["phase"])
            case "record":
                Path(self.record_file).write_text("".join(f"{line}\n" for line in message["lines"]), "utf-8")
                return True
            case "refused" if message["code"] in ("try_again", "in_doubt"):
                await asyncio.sleep(random.uniform(0.25, 0.5))
                await self.socket.send(json.dumps(self.asked))
            case "left" | "refused" if message.get("to") not in ("ready", "reveal", "play"):
                sys.exit(message.get("sentence", "This seat was freed."))
        return False

    async def act(self, scene: Json, own: Json, phase: str) -> bool:
        """Send what the phase requires of this seat; return whether all is done."""
        is_over = scene["match_is_over"] or bool(phase == "waiting" and scene["outcome"])
        if is_over and self.record_file:
            await self.ask(type="get_record")
        elif phase == "ready" and not own["entropy_hash"]:
            entropy = self.entropies.setdefault(scene["round"], secrets.token_hex(32))
            entropy_hash = seal("entropy", scene["round"], bytes([self.seat]), entropy)
            await self.ask(type="ready", round=scene["round"], entropy_hash=entropy_hash)
        elif phase in ("ready", "dealing") and all(each["entropy_hash"] for each in scene["seats"]):
            await self.ask(type="reveal", round=scene["round"], entropy=self.entropies[scene["round"]])
        elif phase == "racing" and (move := choose_move(own["board"])):
            await self.ask(type="play", number=own["moves"] + 1, move=move)
        return is_over and not self.record_file

    def apply(self, entry: Json, scene: Json, seat: Json) -> None:
        """Change the scene by an entry, about this seat if it names one, as far as the bot needs it; and check it."""
        known = seat if "seat" in entry else scene
        known |= {name: value for name, value in entry.items() if name in known}  # fields of the same name
        scene["phase"] = PHASE[entry["type"]] or scene["phase"]
        is_right, is_own, board = True, entry.get("seat") == self.seat, seat["board"]
        if entry["type"] == "round_opened":
            for each in scene["seats"]:
                each |= {"entropy_hash": None, "entropy": None, "moves": 0}
        elif entry["type"] == "revealed":
            is_right = seal("entropy", scene["round"], bytes([entry["seat"]]), entry["entropy"]) == seat["entropy_hash"]
            is_right &= not is_own or entry["entropy"] == self.entropies[scene["round"]]
        elif entry["type"] == "dealt":
            seat["board"] = entry | {"turned": None, "piles": [[] for _ in range(entry["piles"])]}
            seat["board"]["foundations"] = [[card] for card in entry["starters"]] or [[] for _ in entry["layout"]]
        elif entry["type"] == "turned":
            number, position = min(entry["turn"][0], len(scene["envelopes"]) - 1), entry["turn"][1]
            parts = bytes([number]), position.to_bytes(2, "big"), entry["card"].encode(), entry["salt"]
            is_right = seal("envelope", scene["round"], *parts) == scene["envelopes"][number][position]
            seat["board"] = board and board | {"turned": entry["card"]}  # that of the other seat is not kept
        elif entry["type"] == "moved" and is_own:
            seat["moves"], (source, *_, target) = entry["number"], entry["move"]
            places = dict([*zip(PILES, board["piles"]), *zip(FOUNDATIONS, board["foundations"])])  # noqa: B905
            places.get(target, []).append(entry["card"])
            places.get(source, [None]).pop()
            board |= {"turned": None} if source == "s" else {}
            if entry["move"] == "redeal":
                board |= {"redeals": board["redeals"] - 1, "piles": [[] for _ in board["piles"]]}
        elif entry["type"] in ("round_finished", "round_voided"):
            is_right = seal("secret", scene["round"], entry["secret"]) == scene["commitment"]
            print(f"round {scene['round_number']}: {scene['outcome']}", flush=True)
        assert is_right, f"The server lies: {entry} is not what was sealed."


if __name__ == "__main__":
    server, chosen, file = sys.argv[1:] + ["{}", ""][len(sys.argv) - 2 :]
    create = {"type": "create", "options": json.loads(chosen)} if chosen.startswith("{") else None
    asyncio.run(Bot(server, create or {"type": "join", "room": chosen}, file).run())
