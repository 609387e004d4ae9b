"""Looking a daily deal up in the chain of rounds of a server, over sockets, from servers that lie or are silent."""

from typing import Any

import pytest

from fairest_cli.model import drand_beacon
from fairest_cli.model.cheated import Cheated
from fairest_cli.records.heads import heads_folder, keep_head, load_heads
from fairest_cli.session.daily_chain import TOO_OLD, look_up_daily
from fairest_protocol.calculation.daily import day_start_ms
from fairest_protocol.calculation.drand import drand_value
from fairest_protocol.calculation.rules import VARIANTS
from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.daily import DailySeal
from fairest_protocol.messages.rounds import PAGE_LINES
from tests.support.drand import NETWORK, sign_drand
from tests.support.lying_chain import KEY, LaggingOnce, MadeChain, serving_pages
from tests.support.ports import free_port

pytestmark = pytest.mark.usefixtures("home")
DAY = "2026-11-24"
HOUR_MS = 3_600_000
RULES = VARIANTS["classic"].rules
COMMITMENT = bytes([1]) * 32


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read a second time at once."""
    monkeypatch.setattr("fairest_cli.session.round_pages.STALE_HEAD_SECONDS", 0.0)


def drand_seal() -> DailySeal:
    """Return the seal of the deal with the first drand round of its day, of the network of the tests."""
    number = NETWORK.first_round(day_start_ms(DAY))
    value = drand_value(sign_drand(number))
    return DailySeal(
        round=bytes(16), commitment=COMMITMENT, beacon_number=number, beacon=value, drand=sign_drand(number)
    )


def made_chain(rounds: int = 3, announced: str = "classic-daily 4 0") -> MadeChain:
    """Return a chain with the announcement of a deal, then rounds, all before the day."""
    chain = MadeChain(day_start_ms(DAY) - 13 * HOUR_MS)
    chain.add({"type": "opened", "commitment": COMMITMENT.hex(), "rules": announced})
    for number in range(rounds):
        chain.add({"type": "opened", "commitment": f"{number + 2:064x}", "rules": "classic 4 0"})
    return chain


def seal_of(chain: MadeChain, **changes: Any) -> DailySeal:
    number = len(chain.lines)
    values = {"round": bytes(16), "commitment": COMMITMENT, "beacon_number": number, "beacon": chain.chains[number]}
    return DailySeal(**{**values, **changes})


def look_up(answers: dict[str, bytes], seal: DailySeal) -> str:
    with serving_pages(answers) as url:
        return look_up_daily(url, RULES, DAY, seal)


def test_a_deal_is_found_pages_before_its_beacon() -> None:
    chain = made_chain(2 * PAGE_LINES)
    assert "is entry 1 of the server's list" in look_up(chain.answers(), seal_of(chain))


def test_a_deal_by_drand_is_found_from_the_end_of_the_list_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drand_beacon, "NETWORK", NETWORK)
    chain = made_chain(2 * PAGE_LINES, "classic-drand-daily 4 0")
    assert "is entry 1 of the server's list of rounds, from before the day" in look_up(chain.answers(), drand_seal())


def test_a_deal_by_drand_that_an_empty_list_does_not_have_is_an_alarm() -> None:
    with pytest.raises(Cheated, match="is not in the server's list of rounds"):
        look_up(MadeChain(day_start_ms(DAY)).answers(), drand_seal())


def test_a_deal_by_drand_is_not_looked_for_behind_too_many_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairest_cli.session.daily_chain.MAX_ENTRIES", PAGE_LINES)
    chain = made_chain(2 * PAGE_LINES, "classic-drand-daily 4 0")
    assert look_up(chain.answers(), drand_seal()) == TOO_OLD


def test_a_commitment_that_joined_the_list_behind_a_head_that_we_were_shown_is_an_alarm() -> None:
    """The server has announced the deal when the drand round was known, with a time from before."""
    chain = MadeChain(day_start_ms(DAY) - 14 * HOUR_MS)
    chain.add({"type": "opened", "commitment": f"{2:064x}", "rules": "classic 4 0"})
    keep_head(heads_folder(), KEY.public, chain.head(13 * HOUR_MS))
    chain.add({"type": "opened", "commitment": COMMITMENT.hex(), "rules": "classic-drand-daily 4 0"})
    with pytest.raises(Cheated, match="this machine was shown the list without it"):
        look_up(chain.answers(), drand_seal())


def test_the_head_is_kept_for_the_next_audit() -> None:
    chain = made_chain()
    look_up(chain.answers(), seal_of(chain))
    assert [head.number for head in load_heads(heads_folder(), KEY.public)] == [4]


def test_a_commitment_that_is_not_there_is_an_alarm() -> None:
    chain = made_chain()
    with pytest.raises(Cheated, match="not in the server's list of rounds"):
        look_up(chain.answers(), seal_of(chain, commitment=bytes([9]) * 32))


def test_a_beacon_behind_the_end_of_the_list_is_an_alarm() -> None:
    chain = made_chain()
    with pytest.raises(Cheated, match="which ends with entry 4"):
        look_up(chain.answers(), seal_of(chain, beacon_number=9))


def test_a_head_from_just_before_the_beacon_is_read_once_more() -> None:
    chain = made_chain()
    lagging = LaggingOnce("/rounds", made_chain(rounds=2).answers(), chain.answers())
    assert "the beacon entry 4" in look_up(lagging, seal_of(chain))


def test_a_page_from_just_before_the_beacon_is_read_once_more() -> None:
    chain = made_chain()
    lagging = LaggingOnce("/rounds?page=0", made_chain(rounds=2).answers(), chain.answers())
    assert "the beacon entry 4" in look_up(lagging, seal_of(chain))


def test_a_list_that_another_key_has_signed_is_an_alarm() -> None:
    chain = made_chain()
    answers = {**chain.answers(), "/rounds": encode(chain.summary(key=bytes(32)))}
    with pytest.raises(Cheated, match="is broken"):
        look_up(answers, seal_of(chain))


def test_a_page_that_is_missing_is_said_and_no_alarm() -> None:
    chain = made_chain()
    answers = chain.answers()
    del answers["/rounds?page=0"]
    assert look_up(answers, seal_of(chain)).startswith("The commitment could not be looked up")


def test_a_server_that_is_silent_is_said_and_no_alarm() -> None:
    said = look_up_daily(f"ws://127.0.0.1:{free_port()}", RULES, DAY, seal_of(made_chain()))
    assert said.startswith("The commitment could not be looked up in the list of rounds: No server answers")


def test_entries_that_the_server_keeps_no_more_are_no_alarm() -> None:
    chain = made_chain(2 * PAGE_LINES)
    answers = {**chain.answers(), "/rounds": encode(chain.summary(first_page=1))}
    assert look_up(answers, seal_of(chain)) == TOO_OLD
