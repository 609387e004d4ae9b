"""The look-up of a daily deal in the server's chain of rounds, over HTTP."""

from contextlib import suppress

from fairest_cli.model.cheated import Cheated
from fairest_cli.records.chain_audit import BrokenChain
from fairest_cli.records.daily_entries import DailyEntries, may_begin_at
from fairest_cli.records.heads import heads_folder, keep_head, load_heads
from fairest_cli.session.round_pages import MAX_ENTRIES, ChainUnavailable, fetch_round_page, fetch_summary
from fairest_protocol.calculation.rules import Rules
from fairest_protocol.messages.daily import DailySeal
from fairest_protocol.messages.rounds import RoundsHead

TOO_OLD = "Its announcement is older than the entries that the server keeps, so it was not looked up."


def look_up_daily(server_url: str, rules: Rules, day: str, seal: DailySeal) -> str:
    """Return in a sentence whether the server's chain of rounds has the commitment and the beacon of a daily deal.

    A chain that cannot be read proves nothing, and the sentence says so. Raises `Cheated` if the chain contradicts the
    deal, or itself. Blocks on the network.
    """
    try:
        return _look_up(server_url, rules, day, seal)
    except BrokenChain as reason:
        raise Cheated(f"The server's list of rounds is broken: {reason}") from reason
    except ChainUnavailable as reason:
        return f"The commitment could not be looked up in the list of rounds: {reason}"


def _look_up(server_url: str, rules: Rules, day: str, seal: DailySeal) -> str:
    # A drand round is no entry: the announcement is looked for from the end on.
    is_entry = seal.drand is None
    summary = fetch_summary(server_url, seal.beacon_number if is_entry else 0)
    head, size = summary.head, summary.page_lines
    if is_entry and not 0 < seal.beacon_number <= head.number:
        raise Cheated(
            f"The beacon of the daily deal is entry {seal.beacon_number} of the list of rounds, which ends with entry "
            f"{head.number}."
        )
    if not is_entry and head.number == 0:
        raise Cheated("The commitment of the daily deal is not in the server's list of rounds, which is empty.")
    number = ((seal.beacon_number if is_entry else head.number) - 1) // size
    if number < summary.first_page or head.number - number * size > MAX_ENTRIES:
        return TOO_OLD
    pages = [fetch_round_page(server_url, summary, number)]
    while pages[0].page and not may_begin_at(pages[0], day):
        if pages[0].page == summary.first_page or head.number - pages[0].page * size > MAX_ENTRIES:
            return TOO_OLD
        pages.insert(0, fetch_round_page(server_url, summary, pages[0].page - 1))
    entries = DailyEntries(rules, day, seal)
    for page in pages:
        entries.add_page(page, size, head.number)
    for later in range(number + 1, (head.number - 1) // size + 1):
        entries.add_page(fetch_round_page(server_url, summary, later), size, head.number)
    known: tuple[RoundsHead, ...] = ()
    with suppress(OSError, ValueError):
        known = load_heads(heads_folder(), summary.key)
    proof = entries.check(head, known)
    with suppress(OSError):
        # A later audit finds out whether this chain was changed. A file is not worth a race.
        keep_head(heads_folder(), summary.key, head)
    return proof
