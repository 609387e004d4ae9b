"""Reading the chain of rounds of a server over HTTP, from servers that lie, stall or send without an end."""

import random
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from fairest_cli.records.chain_audit import BrokenChain, ChainReader
from fairest_cli.session.http_pages import MAX_BYTES, PageUnavailable, fetch_page
from fairest_cli.session.round_pages import ChainUnavailable, fetch_summary, read_chain
from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.rounds import PAGE_LINES, RoundsSummary
from fairest_server.live.signing import SigningKey
from tests.support.lying_chain import LaggingOnce, MadeChain, MadeRound, serving_pages


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read a second time at once."""
    monkeypatch.setattr("fairest_cli.session.round_pages.STALE_HEAD_SECONDS", 0.0)


def made_chain(rounds: int = 200) -> MadeChain:
    chance, chain = random.Random(1), MadeChain()
    for _ in range(rounds):
        chain.play(MadeRound(chance))
    return chain


def read(answers: dict[str, bytes]) -> ChainReader:
    with serving_pages(answers) as url:
        summary = fetch_summary(url)
        reader = ChainReader(summary.head, frozenset(), ())
        read_chain(url, summary, reader, lambda _number, _last: None)
        reader.finish()
    return reader


def changed(summary: RoundsSummary) -> dict[str, bytes]:
    return {**made_chain().answers(), "/rounds": encode(summary)}


def test_all_pages_are_read() -> None:
    assert read(made_chain().answers()).findings.entries == 400


def test_a_head_that_another_key_has_signed_is_wrong() -> None:
    forged = made_chain().summary(key=SigningKey(bytes([9]) * 32).public)
    with pytest.raises(BrokenChain, match="not signed"):
        read(changed(forged))


def test_a_page_under_another_number_is_wrong() -> None:
    answers = made_chain().answers()
    answers["/rounds?page=1"] = answers["/rounds?page=0"]
    with pytest.raises(BrokenChain, match="another page"):
        read(answers)


def test_a_page_that_lacks_entries_is_wrong() -> None:
    chain = made_chain()
    short = chain.page(0).model_copy(update={"lines": tuple(chain.lines[:10])})
    with pytest.raises(BrokenChain, match="lacks entries"):
        read({**chain.answers(), "/rounds?page=0": encode(short)})


def shortened(number: int) -> dict[str, bytes]:
    """Return the pages of a process whose chain ends with this entry."""
    chain = made_chain()
    chain.cut(number)
    return chain.answers()


def test_a_head_before_the_entry_that_is_looked_for_is_read_a_second_time() -> None:
    with serving_pages(LaggingOnce("/rounds", shortened(390), made_chain().answers())) as url:
        assert fetch_summary(url, 400).head.number == 400


def test_a_head_that_stays_before_the_entry_is_returned_as_it_is() -> None:
    with serving_pages(shortened(390)) as url:
        assert fetch_summary(url, 400).head.number == 390


def test_a_page_of_a_process_that_has_not_read_the_last_entries_is_read_a_second_time() -> None:
    lagging = LaggingOnce("/rounds?page=1", shortened(390), made_chain().answers())
    assert read(lagging).findings.entries == 400


def test_a_page_that_a_process_does_not_have_yet_is_read_a_second_time() -> None:
    lagging = LaggingOnce("/rounds?page=1", shortened(PAGE_LINES), made_chain().answers())
    assert read(lagging).findings.entries == 400


def test_a_server_that_keeps_nothing_of_what_it_signs_is_wrong() -> None:
    with pytest.raises(BrokenChain, match="keeps no entry"):
        read(changed(made_chain().summary(first_page=2)))


def test_a_page_that_is_missing_cannot_be_read() -> None:
    answers = made_chain().answers()
    del answers["/rounds?page=1"]
    with pytest.raises(ChainUnavailable, match=r"does not show /rounds\?page=1"):
        read(answers)


def test_a_server_without_a_chain_cannot_be_audited() -> None:
    with pytest.raises(ChainUnavailable, match="Another program than Fairest"):
        read({"/rounds": b"[]"})


def test_an_answer_that_is_too_long_is_not_read() -> None:
    with pytest.raises(ChainUnavailable, match="longer than a page"):
        read({"/rounds": b" " * (MAX_BYTES + 1)})


def test_a_machine_without_a_server_cannot_be_audited() -> None:
    with pytest.raises(ChainUnavailable, match="No server answers"):
        fetch_summary("ws://127.0.0.1:1")


@contextmanager
def dripping_server() -> Iterator[str]:
    """A server that sends a byte of its answer now and then, for ever."""
    stopping = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))

    def drip() -> None:
        peer, _ = listener.accept()
        with peer:
            peer.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            while not stopping.wait(0.02):
                try:
                    peer.sendall(b" ")
                except OSError:
                    return

    thread = threading.Thread(target=drip)
    thread.start()
    try:
        yield f"ws://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        stopping.set()
        thread.join()
        listener.close()


def test_a_server_that_sends_byte_by_byte_is_left_after_a_while() -> None:
    with dripping_server() as url, pytest.raises(PageUnavailable, match=r"more than 0\.3 seconds"):
        fetch_page(url, "/rounds", 0.3)
