"""The command `fairest audit`: whether a server keeps its promises about all of its rounds."""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from fairest_cli.commands.options import Json, check_server, fail
from fairest_cli.exit_codes import BROKEN_SEAL
from fairest_cli.records.chain_audit import BrokenChain, ChainReader, compare_known
from fairest_cli.records.findings import Findings
from fairest_cli.records.heads import heads_folder, keep_head, load_heads
from fairest_cli.records.receipt_rounds import read_receipts
from fairest_cli.records.receipts import receipts_folder
from fairest_cli.records.tournament_receipt import read_tournament_rounds
from fairest_cli.session.round_pages import ChainUnavailable, fetch_summary, read_chain
from fairest_cli.text.audit_findings import describe_findings, findings_as_json
from fairest_cli.untrusted_text import clean

app = typer.Typer()


@app.command()
def audit(
    server: Annotated[str, typer.Argument(help="Address of the server.", callback=check_server)],
    as_json: Json = False,
) -> None:
    """Check all rounds of a server: that none was dropped, changed or chosen. The exit code is 3 if one was."""
    on_progress = _show_progress if sys.stderr.isatty() else _ignore
    try:
        key, findings = audit_server(server, receipts_folder(), heads_folder(), on_progress)
    except BrokenChain as reason:
        print(f"WRONG: {clean(str(reason))}", file=sys.stderr if as_json else sys.stdout)
        raise SystemExit(BROKEN_SEAL) from None
    except ChainUnavailable as reason:
        fail(str(reason))
    except (OSError, ValueError) as reason:
        fail(f"cannot read the heads and receipts of this machine: {reason}")
    if as_json:
        print(findings_as_json(key, findings))
    else:
        print(f"The chain of rounds of {server}, signed with the key {key.hex()}.")
        for sentence in describe_findings(findings):
            print(clean(sentence))
        for sentence in findings.alarms:
            print(f"WRONG: {clean(sentence)}")
    if findings.alarms:
        raise SystemExit(BROKEN_SEAL)
    if not as_json:
        print("Everything that can be checked is right.")


def audit_server(
    server_url: str, receipts: Path, heads: Path, on_progress: Callable[[int, int], None]
) -> tuple[bytes, Findings]:
    """Audit the chain of rounds of a server; return its key and the findings. Blocks on the network.

    `receipts` and `heads` are the folders with what this machine's players were shown. Raises `ChainUnavailable`,
    `BrokenChain`, and OSError for a folder.
    """
    summary = fetch_summary(server_url)
    shown = load_heads(heads, summary.key)
    rounds = [*read_receipts(receipts, summary.key), *read_tournament_rounds(receipts, summary.key)]
    reader = ChainReader(summary.head, frozenset(seen.commitment for seen in rounds), shown)
    read_chain(server_url, summary, reader, on_progress)
    findings = reader.finish()
    compare_known(reader, summary.head, shown, rounds, int(time.time() * 1000))
    # The next audit finds out whether this chain was changed.
    keep_head(heads, summary.key, summary.head)
    return summary.key, findings


def _show_progress(number: int, last: int) -> None:
    """Write how far the reading of the chain has come to standard error, over the line before."""
    print(f"\rentry {number} of {last}", end="\n" if number == last else "", file=sys.stderr, flush=True)


def _ignore(_number: int, _last: int) -> None:
    """Show no progress: standard error is not a terminal."""
