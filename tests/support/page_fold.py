"""The scene of a viewer, folded from the entries of its view: written from docs/protocol.md alone.

It takes and returns JSON, imports nothing of Fairest, and is compared with the fold of the server and our clients.
"""

from typing import Any

Json = dict[str, Any]
TYPES = (
    *("seated", "seat_freed", "attached", "detached", "paused", "round_opened", "round_voided", "player_ready"),
    *("revealed", "dealt", "started", "turned", "moved", "stopped", "round_finished", "rematch_wanted", "room_closed"),
    "finish_asked",
)


def empty_seat() -> Json:
    """Return a seat of a new room."""
    return {
        "name": None,
        "is_connected": False,
        "until_ms": None,
        "entropy_hash": None,
        "entropy": None,
        "wins": 0,
        "matches_won": 0,
        "wants_rematch": False,
        "board": None,
        "turn": None,
        "moves": 0,
        "has_stopped": False,
    }


def empty_scene(options: Json) -> Json:
    """Return the scene of a new room."""
    return {
        "options": options,
        "phase": "waiting",
        "seats": [empty_seat(), empty_seat()],
        "match": None,
        "round": None,
        "round_number": 0,
        "commitment": None,
        "signature": None,
        "secret": None,
        "markers": [],
        "envelopes": [],
        "until_ms": None,
        "outcome": None,
        "duration_ms": None,
        "match_is_over": False,
    }


def _kept(seat: Json, *names: str) -> Json:
    return empty_seat() | {name: seat[name] for name in ("name", "is_connected", "until_ms", *names)}


def _deal(entry: Json) -> Json:
    starters = entry["starters"]
    return {
        "layout": entry["layout"],
        "foundations": [[card] for card in starters] if starters else [[] for _ in entry["layout"]],
        "piles": [[] for _ in range(entry["piles"])],
        "turned": None,
        "stock": len(entry["envelopes"][0]),
        "redeals": entry["redeals"],
        "direct": 0,
    }


def _move(board: Json, move: str, card: str | None) -> None:
    if move in ("stop", "resign"):
        return
    if move == "redeal":
        board["stock"] = sum(map(len, board["piles"]))
        board["piles"] = [[] for _ in board["piles"]]
        board["redeals"] -= 1
        return
    source, target = move[0], move[1]
    if source == "s":
        board["turned"] = None
    else:
        board["piles"]["abcdefgh".index(source)].pop()
    if target in "12345678":
        board["foundations"][int(target) - 1].append(card)
        board["direct"] += source == "s"
    else:
        board["piles"]["abcdefgh".index(target)].append(card)


def after(scene: Json, entry: Json) -> Json:
    """Change `scene` by one more entry, and return it."""
    assert entry["type"] in TYPES, f"the page knows no entry {entry['type']}"
    if "seat" in entry:
        return _after_entry_of_seat(scene, entry, scene["seats"][entry["seat"]])
    return _after_entry_of_room(scene, entry)


def _after_entry_of_seat(scene: Json, entry: Json, seat: Json) -> Json:
    match entry["type"]:
        case "seated":
            seat["name"] = entry["name"]
        case "seat_freed":
            scene["seats"] = [_kept(each) for each in scene["seats"]]
            scene["seats"][entry["seat"]] = empty_seat()
            scene |= {"phase": "waiting", "until_ms": None}
        case "attached":
            seat |= {"is_connected": True, "until_ms": None}
        case "detached":
            seat |= {"is_connected": False, "until_ms": entry["until_ms"]}
        case "player_ready":
            seat["entropy_hash"] = entry["entropy_hash"]
            if all(each["entropy_hash"] for each in scene["seats"]):
                scene |= {"phase": "dealing", "until_ms": entry["until_ms"]}
        case "revealed":
            seat["entropy"] = entry["entropy"]
        case "turned":
            seat["board"]["turned"] = entry["card"]
            seat["board"]["stock"] -= 1
            seat["turn"] = entry["turn"]
        case "moved":
            seat["moves"] = entry["number"]
            if seat["board"] is not None:
                _move(seat["board"], entry["move"], entry["card"])
        case "stopped":
            seat["has_stopped"] = True
            if scene["phase"] == "racing":
                scene["until_ms"] = entry["until_ms"]
        case "rematch_wanted":
            seat["wants_rematch"] = True
    return scene


def _after_entry_of_room(scene: Json, entry: Json) -> Json:
    match entry["type"]:
        case "paused":
            for holder, name in ((scene, "until_ms"), *((each, "until_ms") for each in scene["seats"])):
                if holder[name] is not None:
                    holder[name] += entry["length_ms"]
        case "round_opened":
            kept = ("wins", "matches_won") if entry["round_number"] > 1 else ("matches_won",)
            seats = [_kept(each, *kept) for each in scene["seats"]]
            scene = empty_scene(scene["options"]) | {
                "phase": "ready",
                "seats": seats,
                "round_number": entry["round_number"],
            }
            scene |= {name: entry[name] for name in ("match", "round", "commitment", "signature")}
            scene["until_ms"] = entry["until_ms"]
        case "round_voided":
            scene |= {"phase": "waiting", "secret": entry["secret"], "until_ms": None}
        case "dealt":
            for each in scene["seats"]:
                each["board"] = _deal(entry)
            scene |= {"phase": "countdown", "until_ms": entry["until_ms"]}
            scene |= {name: entry[name] for name in ("markers", "envelopes")}
        case "started":
            scene |= {"phase": "racing", "until_ms": entry["until_ms"]}
        case "round_finished":
            scene |= {"phase": "finished", "until_ms": None}
            scene |= {name: entry[name] for name in ("outcome", "duration_ms", "match_is_over", "secret")}
            for each, wins in zip(scene["seats"], entry["wins"], strict=True):
                each |= {"wins": wins, "has_stopped": True}
                if entry["match_is_over"] and wins > min(entry["wins"]):
                    each["matches_won"] += 1
        case "room_closed":
            scene |= {"phase": "closed", "until_ms": None}
    return scene
