"""No page holds a card or a decision before its time: every frame and every state of the document, beside the record.

One player has run far ahead and waits. The other one sits at a page and is slow: its next move is made only once both
pages, its own and that of a spectator, show the one before. So a card that is there early is there for long.
"""

import asyncio
import json
import random
import re
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
from playwright.async_api import Page, WebSocket

from fairest_cli.bots.policies import choose_greedy
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.cards import Card
from fairest_protocol.calculation.deal import Deal
from fairest_protocol.calculation.moves import MOVES, REDEAL, Move
from fairest_protocol.calculation.race import Turn
from fairest_protocol.calculation.record import Record, RecordedMove
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Create, GetRecord
from fairest_protocol.messages.from_server import MatchRecord
from fairest_protocol.messages.options import RoomOptions, Spectators
from tests.page.conftest import needed_browser
from tests.page.test_browser import RANKS, SUITS, name_of
from tests.support.bots import Bot, bot
from tests.support.browser import Browser, get_ready
from tests.support.processes import Fleet
from tests.support.waiting import until

pytestmark = [pytest.mark.long, pytest.mark.timeout(180)]

AHEAD, SLOW = 0, 1
"""The seats of the two players."""
STOCK = 48
KEPT_STOCK = 5
"""The player ahead leaves this many cards in its stock, so that it cannot win."""
LATE_AT = 20
"""After this many moves of the slow player another spectator comes."""
IN_MARKUP = re.compile('<script type="application/json" id="first-view">(.*?)</script>')
IN_FRAMES = re.compile(r'"([A23456789TJQK][CDHScdhs])"')
WATCH_CARDS = """
const [NAMES, SUITS, SIGNS] = [%s, %s, ["A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K"]];
const NAME = new RegExp(`\\\\b(?:${NAMES.join("|")}) of (?:${Object.values(SUITS).join("|")})\\\\b`, "g");
window.seenCards = new Set();
const note = (node) => {
  const isElement = node.nodeType === Node.ELEMENT_NODE;
  for (const [name] of (isElement ? node.outerHTML : node.textContent ?? "").matchAll(NAME)) seenCards.add(name);
  for (const card of isElement ? [node, ...node.querySelectorAll("*")].filter((each) => each.matches("g.card")) : []) {
    const suit = /suit-(.)/.exec(card.getAttribute("class"))[1].toUpperCase();
    seenCards.add(`${NAMES[SIGNS.indexOf(card.querySelector("text")?.textContent)]} of ${SUITS[suit]}`);
  }
};
new MutationObserver((records) => {
  for (const { target, addedNodes } of records) [target, ...addedNodes].forEach(note);
}).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
""" % (json.dumps(RANKS), json.dumps(SUITS))  # noqa: UP031 (the script has braces of its own)


SHOWS = """([seat, placed]) => {
  const board = document.querySelector(`.seat.seat-${seat}`);
  return board !== null && board.querySelector(".slot.stock") !== null
    && board.querySelectorAll(".slot.pile g.card").length === placed
    && !/on the way/.test(board.querySelector(".state").textContent);
}"""
"""Whether the board of a seat shows this many cards on its piles, and no move is on its way."""


@dataclass(eq=False)
class Reader:
    """A page of which everything is read: `frames` are those that it received, each with the stage at which it came."""

    page: Page
    frames: list[tuple[int, str]] = field(default_factory=list)
    cards: list[set[str]] = field(default_factory=list)
    """For each stage the names of all cards that the document has held until its end."""
    stage: int = 0

    def listen(self, socket: WebSocket) -> None:
        socket.on("framereceived", lambda text: self.frames.append((self.stage, str(text))))

    async def end_stage(self, placed: int) -> None:
        """Wait until the page shows this many cards on the piles of the slow player; note what was seen until then."""
        await until(partial(self.page.evaluate, SHOWS, [SLOW, placed]), f"{placed} cards are on the piles")
        self.cards += [set()] * (self.stage - len(self.cards))
        self.cards.append(set(await self.page.evaluate("[...seenCards]")))
        self.stage += 1


async def read(browser: Browser, url: str, path: str, stage: int = 0) -> Reader:
    """Open a page of which everything is read from its first moment."""
    page = await browser.blank()
    reader = Reader(page, stage=stage)
    page.on("websocket", reader.listen)
    await page.add_init_script(WATCH_CARDS)
    answer = await page.goto(url.replace("ws", "http", 1).rstrip("/") + path)
    assert answer is not None
    # The markup brings what a first frame would.
    reader.frames += [(stage, text) for text in IN_MARKUP.findall(await answer.text())]
    return reader


def move_ahead(board: Board, chance: random.Random) -> Move | None:
    """Return the next move of the player ahead: the waste is dealt again early; None near the end of the stock."""
    if board.redeals:
        laying = [move for move in board.legal_moves() if move.takes_turned and not move.places]
        return chance.choice(laying) if laying else REDEAL
    return choose_greedy(board, chance) if board.stock > KEPT_STOCK else None


async def run_ahead(player: Bot, is_ahead: asyncio.Event) -> None:
    """Race to near the end of the stock, then say so and wait; at the end of the match, ask for the record."""
    async with aclosing(player.connection.updates()) as updates:
        async for update in updates:
            model = update.model
            if isinstance(update.message, MatchRecord):
                player.record_text = "".join(f"{line}\n" for line in update.message.lines)
                player.verify()
                return
            if update.message is None or model.own is None:
                continue
            if model.phase is Phase.READY and not model.own.entropy_hash:
                await player.connection.get_ready()
            elif model.phase is Phase.FINISHED:
                await player.connection.request(GetRecord())
            elif model.may_send_next_move and model.board is not None and not is_ahead.is_set():
                move = move_ahead(model.board, player.chance)
                if move is None:
                    is_ahead.set()
                else:
                    await player.connection.play(move)


@dataclass(eq=False)
class SlowRace:
    """A race that was read: the pages, by who sits at them, and the record of its only round."""

    readers: dict[str, Reader]
    record: Record


@asynccontextmanager
async def slow_race(browser: Browser, url: str, options: RoomOptions) -> AsyncIterator[SlowRace]:
    """Let a person lay the stock on piles, card by card, while the other player is far ahead, and read the pages.

    The person has a browser of its own: in one browser, player and spectator would be the same player.
    """
    ahead, is_ahead = bot(url, Create(options=options), seed=4), asyncio.Event()
    async with needed_browser() as own_browser, asyncio.TaskGroup() as races:
        racing = races.create_task(run_ahead(ahead, is_ahead))
        room = await ahead.connection.entered()
        watching = await read(browser, url, f"/r/{room}")
        await watching.page.wait_for_selector(".end input")
        playing = await read(own_browser, url, f"/r/{room}?join")
        await get_ready(playing.page)
        await is_ahead.wait()
        await playing.page.wait_for_selector("button.slot.stock")
        readers = {"player": playing, "spectator": watching}
        await lay_everything(readers, options, lambda: read(browser, url, f"/r/{room}", playing.stage))
        await ahead.connection.play(MOVES["stop"])
        await playing.page.click("text=Stop my race")
        await playing.page.click("text=Press again")
        await racing
        await playing.page.wait_for_selector("p.right >> text=The record was checked")
        for viewer, reader in readers.items():
            await (own_browser if viewer == "player" else browser).check(reader.page)
    assert ahead.record is not None
    yield SlowRace(readers, ahead.record)


async def lay_everything(readers: dict[str, Reader], options: RoomOptions, come_late: Any) -> None:
    """Make the moves of the slow player one by one, each once all pages show the one before."""
    page, redeals = readers["player"].page, options.resolved().redeals or 0
    for redeal in range(redeals + 1):
        # In the last pass only as far as the other player has come: from there on that one would be the slow player.
        count = STOCK if redeal < redeals else STOCK - KEPT_STOCK - 1
        for placed in range(count + 1):
            if readers["player"].stage == LATE_AT:
                readers["spectator who comes late"] = await come_late()
            for reader in readers.values():
                await reader.end_stage(placed)
            if placed < count:
                await page.keyboard.press("abcd"[placed % 4])
        if redeal < redeals:
            await page.click("button >> text=Redeal")


@dataclass(frozen=True)
class Stage:
    """The most that may be shown after some moves of the slow player: its turn, cards, and the moves of the other."""

    turn: Turn
    cards: set[str]
    moves: int


def stages_of(record: Record) -> list[Stage]:
    """Return the stages of the only round of a record, by its moves alone: the start, then one for each slow move."""
    steps = list(record.steps(0))
    deal = steps[0][1].deal
    made_at = [
        before.racers[AHEAD].turn
        for (_, before), (event, _) in pairwise(steps)
        if isinstance(event, RecordedMove) and event.seat == AHEAD and event.move is not MOVES["stop"]
    ]
    reached = [steps[0][1].racers[SLOW].turn]
    reached += [
        race.racers[SLOW].turn
        for event, race in steps
        if isinstance(event, RecordedMove) and event.seat == SLOW and event.move is not MOVES["stop"]
    ]
    return [Stage(turn, cards_until(deal, turn), sum(each < turn for each in made_at)) for turn in reached]


def cards_until(deal: Deal, turn: Turn) -> set[str]:
    """Return the cards that a player has seen who has reached this turn."""
    stock: tuple[Card, ...] = deal.orders[0][: turn.position + 1] if turn.pass_number == 0 else deal.orders[0]
    return {*map(str, (*deal.starters, *deal.markers, *stock))}


def early(reader: Reader, stages: list[Stage]) -> list[str]:
    """Return what a page held before its time, in words."""
    found: list[str] = []
    moves = 0
    for at, text in (each for each in reader.frames if each[0] < len(stages)):
        stage, message = stages[at], json.loads(text)
        found += [f"{card} in a frame at {at}" for card in set(IN_FRAMES.findall(text)) - stage.cards]
        if message["type"] == "snapshot":
            moves = message["scene"]["seats"][AHEAD]["moves"]
        entries = [each for each in message.get("entries", ()) if each.get("seat") == AHEAD]
        moves += sum(each["type"] == "moved" for each in entries)
        if moves > stage.moves:
            found.append(f"move {moves} of the player ahead at {at}, and {stage.moves} are open")
        turns = [Turn(*each["turn"]) for each in entries if each["type"] == "turned"]
        found += [f"the turn {turn} at {at}" for turn in turns if turn > stage.turn]
    for at, (cards, stage) in enumerate(zip(reader.cards, stages, strict=True)):
        found += [f"{card} on the page at {at}" for card in cards - set(map(name_of, stage.cards))]
    return found


@pytest.mark.parametrize("rules", ["classic", "redeal"])
async def test_no_card_and_no_decision_is_on_a_page_before_its_time(browser: Browser, fleet: Fleet, rules: str) -> None:
    options = RoomOptions(rules=rules, countdown_seconds=0)
    async with slow_race(browser, await fleet.start(), options) as race:
        stages = stages_of(race.record)
        for viewer, reader in race.readers.items():
            assert (viewer, early(reader, stages)) == (viewer, [])
            assert stages[-1].moves > 40
            assert len(reader.frames) > 20, "the frames were read"
            assert len(reader.cards[-1]) == len(stages[-1].cards), "the cards were read"
        assert len([text for _, text in race.readers["spectator who comes late"].frames if "snapshot" in text]) == 2


async def test_the_same_reading_finds_what_an_open_room_shows_early(browser: Browser, fleet: Fleet) -> None:
    options = RoomOptions(countdown_seconds=0, spectators=Spectators.OPEN)
    async with slow_race(browser, await fleet.start(), options) as race:
        stages = stages_of(race.record)
        assert early(race.readers["player"], stages) == []
        found = early(race.readers["spectator"], stages)
        assert any(" in a frame at " in each for each in found)
        assert any(" on the page at " in each for each in found)
