"""The leaderboard of a server and the page of a player, read over plain HTTP: no WebSocket, no player is created.

Names need no cleaning: they were checked when the answer was parsed.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Final
from urllib.parse import quote, urlencode

from fairest_cli.model.deal_check import known_rules
from fairest_cli.session.server_pages import PageUnreadable, read_message
from fairest_protocol.messages.ratings import Leaderboard, PairVariant, PlayerPage, RatedVariant
from fairest_protocol.messages.rivals import is_bot_name
from fairest_protocol.messages.scene import Scene

RATING_WAITS_SECONDS: Final = (0.5, 1.5, 4.0)
"""The waits after a match before each request for the new rating."""


def fetch_leaderboard(server_url: str, rules: str, page: int) -> Leaderboard:
    """Return a page of the leaderboard of a variant, counted from 0. Raises `PageUnreadable`. Blocks."""
    return read_message(server_url, f"/leaderboard?{urlencode({'rules': rules, 'page': page})}", Leaderboard)


def fetch_player(server_url: str, name: str, against: str | None) -> PlayerPage:
    """Return the page of a player, and its score against another one. Raises `PageUnreadable`. Blocks."""
    query = "" if against is None else f"?{urlencode({'against': against})}"
    return read_message(server_url, f"/players/{quote(name, safe='')}{query}", PlayerPage)


def describe_leaderboard(board: Leaderboard) -> Iterator[str]:
    """Yield a page of the leaderboard for people, within 80 columns."""
    if not board.total:
        yield f"No established rating in {board.rules} yet: it takes some 17 rounds against people."
        return
    if not board.players and board.page >= board.pages:
        yield f"There is no such page; the last one is --page {board.pages - 1}."
        return
    yield f"{board.rules}: {board.total} {'player' if board.total == 1 else 'players'}"
    yield from describe_ranks(board)
    if board.page + 1 < board.pages:
        yield f"More with --page {board.page + 1}"


def describe_ranks(board: Leaderboard, columns: int = 80) -> Iterator[str]:
    """Yield the heads of the columns, and a line for each player of a page of the leaderboard.

    Where that is too wide for `columns`, the rounds, the deviation and the streak are left out, in this order.
    """
    rows = [("", "player", "rating", "+-", "rounds", "won", "streak")]
    rows += [
        (
            f"{each.place}.",
            each.name,
            str(each.rating),
            str(each.deviation),
            str(each.rounds),
            format_share(each.wins, each.rounds),
            format_streak(each.streak),
        )
        for each in board.players
    ]
    for left_out in ((), ("rounds",), ("rounds", "+-"), ("rounds", "+-", "streak")):
        kept = [number for number, head in enumerate(rows[0]) if head not in left_out]
        lines = list(_format_table([[row[number] for number in kept] for row in rows], left=1))
        if max(map(len, lines)) <= columns:
            break
    yield from lines


def describe_standing(page: PlayerPage, rules: str) -> str:
    """Return the rating of a player in a variant, and its score against the other one; empty without a rated round.

    The players are named in full: ``ann, classic: 1612 +- 80, place 3; against bob 3 : 2``.
    """
    rated = next((each for each in page.ratings if each.rules == rules), None)
    if rated is None:
        return ""
    place = f", place {rated.place}" if rated.place is not None else ""
    state = ", provisional" if rated.is_provisional else ""
    pair = next((each for each in page.pairs if each.rules == rules), None)
    if pair is None:
        return f"{page.name}, {rules}: {format_rating(rated)}{state}{place}."
    drawn = f", {pair.draws} drawn" if pair.draws else ""
    score = f"against {page.against}: {pair.wins[0]} : {pair.wins[1]}{drawn}"
    return f"{page.name}, {rules}: {format_rating(rated)}{state}{place}; {score}."


async def standings_after_match(server_url: str, scene: Scene, seat: int) -> AsyncIterator[str]:
    """Yield what `describe_standing` says of the player in `seat` once a match is over, and again when it changes.

    A server rates a match soon after its record is there, so it is asked some times. Nothing is yielded by a server
    that keeps no ratings or does not answer, and nothing for a race against a bot, which is not rated. Safe to cancel.
    """
    names, rules = (scene.seats[seat].name or "", scene.seats[1 - seat].name or ""), known_rules(scene.options)
    if rules is None or not all(names) or any(map(is_bot_name, names)):
        return
    shown = ""
    for seconds in RATING_WAITS_SECONDS:
        await asyncio.sleep(seconds)
        try:
            page = await asyncio.to_thread(fetch_player, server_url, *names)
        except PageUnreadable:
            continue
        sentence = describe_standing(page, rules.name)
        if sentence and sentence != shown:
            shown = sentence
            yield sentence


def describe_player(page: PlayerPage) -> Iterator[str]:
    """Yield the page of a player for people."""
    if not page.ratings:
        yield f"{page.name} has no rated round here. Rounds against bots are not rated."
    for each in page.ratings:
        yield from _describe_variant(page.name, each)
    if page.against is not None:
        yield from _describe_pairs(page.name, page.against, page.pairs)


def format_share(part: int, whole: int) -> str:
    """Return a share in whole percent."""
    return f"{round(100 * part / whole)} %" if whole else "-"


def format_streak(streak: int) -> str:
    """Return a streak: rounds won or lost in a row, or a dash."""
    return f"{streak} won" if streak > 0 else f"{-streak} lost" if streak < 0 else "-"


def format_rating(rated: RatedVariant) -> str:
    """Return a rating with its deviation, and a question mark while it is provisional."""
    mark = "?" if rated.is_provisional else ""
    return f"{rated.rating}{mark} +- {rated.deviation}"


def _describe_variant(name: str, rated: RatedVariant) -> Iterator[str]:
    place = f", place {rated.place}" if rated.place is not None else ""
    state = ", provisional" if rated.is_provisional else ""
    yield f"{name}, {rated.rules}: {format_rating(rated)}{state}{place}"
    lost = rated.rounds - rated.wins - rated.draws
    won = f"{rated.wins} won ({format_share(rated.wins, rated.rounds)})"
    rounds = "1 round" if rated.rounds == 1 else f"{rated.rounds} rounds"
    yield f"    {rounds}: {won}, {lost} lost, {rated.draws} drawn; last on {rated.last_day}"
    yield f"    streak: {format_streak(rated.streak)}; best: {rated.best_streak} won; near misses: {rated.near_misses}"
    best = "-" if rated.best_ms is None else format_time(rated.best_ms)
    yield f"    best time for all cards: {best}; best direct score: {rated.best_direct}; left early: {rated.left}"


def _describe_pairs(name: str, against: str, pairs: Sequence[PairVariant]) -> Iterator[str]:
    if not pairs:
        yield f"{name} and {against} have no rated round against each other."
        return
    yield f"{name} against {against}:"
    for pair in pairs:
        drawn = f", {pair.draws} drawn" if pair.draws else ""
        direct = f"direct score {pair.direct[0]} : {pair.direct[1]}"
        yield f"    {pair.rules}: {pair.wins[0]} : {pair.wins[1]}{drawn}; {direct}; last on {pair.last_day}"


def format_time(milliseconds: int) -> str:
    """Return a time as minutes and seconds."""
    minutes, seconds = divmod(round(milliseconds / 1000), 60)
    return f"{minutes}:{seconds:02}"


def _format_table(rows: Sequence[Sequence[str]], left: int) -> Iterator[str]:
    """Yield a line for each row; the column `left` is aligned to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (
            cell.ljust(width) if column == left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()
