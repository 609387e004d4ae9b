"""Daily deals in lines of text: the board of an attempt, the page of a day, and its table. Pure."""

from collections.abc import Iterator, Sequence
from typing import Final

from fairest_cli.model.daily_game import DailyGame
from fairest_cli.text.board_text import describe_board, format_time
from fairest_cli.untrusted_text import clean
from fairest_protocol.messages.daily import AttemptResult, DailyPage, TableRow

HELP: Final = """\
A move names where a card comes from, then where it goes: s1 plays the turned
card to foundation 1, sa lays it on pile a, b4 plays the top of pile b to
foundation 4. With an empty stock, redeal deals the waste again, if it may be.
  board   show the board again
  stop    end your attempt; the cards that you have placed count
  quit    leave; the time of your attempt goes on, and the same command leads back"""
NAME_COLUMNS: Final = 20


def describe_attempt(game: DailyGame, seconds_left: float) -> Iterator[str]:
    """Yield the head, the board, and the result of an attempt that is over."""
    board = game.board
    left = f", {format_time(seconds_left)} left" if game.result is None else ""
    yield ""
    yield f"Daily deal of {game.day}, {game.rules.name}: {board.placed} of {board.goal} cards{left}"
    yield from describe_board(board)
    if game.result is not None:
        yield from describe_result(game.result)


def describe_result(result: AttemptResult) -> Iterator[str]:
    """Yield the result of an attempt, its rank so far, and when the table is opened."""
    how = "You placed every card" if result.won else f"Your attempt is over: {result.placed} of {result.goal} cards"
    yield f"{how}, {result.direct} of them straight from the stock, in {format_time(result.time_ms / 1000)}."
    others = "1 attempt that has" if result.ended == 1 else f"{result.ended} attempts that have"
    yield f"Rank {result.rank} of {others} ended so far. The table is opened when the day is over:"
    yield "fairest daily --yesterday, tomorrow."


def describe_page(page: DailyPage) -> Iterator[str]:
    """Yield what everybody may know of a deal whose day is under way, or that is not opened yet."""
    yield f"Daily deal of {page.day}, {page.rules}"
    if page.seal is None:
        yield f"Announced, and not dealt yet. Commitment: {page.commitment.hex()}"
        return
    yield f"{page.begun} {'player has' if page.begun == 1 else 'players have'} begun, {page.ended} ended."
    yield f"Commitment: {page.commitment.hex()}"
    number = page.seal.beacon_number
    source = f"entry {number} of the chain of rounds" if page.seal.drand is None else f"drand round {number}"
    yield f"Beacon: {source}, {page.seal.beacon.hex()}"
    if not page.opened:
        yield "The table is opened when the day is over and nobody races any more."


def describe_table(rows: Sequence[TableRow], own: TableRow | None) -> Iterator[str]:
    """Yield the table of a deal that is opened; a mark stands before our own row."""
    if not rows:
        yield "Nobody raced it."
        return
    yield f"   rank  {'player':{NAME_COLUMNS}}  cards  direct   time"
    for row in rows:
        mark = ">" if own is not None and row.attempt == own.attempt else " "
        shared = f"  ({row.from_address} from this address)" if row.from_address > 1 else ""
        cards = f"{row.placed}{'*' if row.won else ' '}"
        yield (
            f" {mark} {row.rank:>4}  {clean(row.name):{NAME_COLUMNS}}  {cards:>5}  {row.direct:>6}"
            f"  {format_time(row.time_ms / 1000):>5}{shared}"
        )
    if any(row.won for row in rows):
        yield "   * every card is placed"
