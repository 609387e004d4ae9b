"""The exchange of entropy: a commitment is made once for a round, and stored before anything is sent."""

from pathlib import Path

from fairest_cli.model.seal_check import SealCheck
from fairest_cli.session.entropy import EntropyExchange
from fairest_cli.session.identity import Identity
from fairest_protocol.messages.fields import Phase
from fairest_protocol.value import replace
from tests.support import staged

ROUND = SealCheck(seat=0, round_id=bytes(16), commitment=bytes(32))


def test_there_is_no_commitment_before_the_server_s() -> None:
    assert EntropyExchange(Identity()).commit(SealCheck(seat=0)) is None


def test_a_restarted_client_commits_to_the_same_entropy(tmp_path: Path) -> None:
    path = tmp_path / "player.json"
    known = EntropyExchange(Identity(path)).commit(ROUND)
    assert EntropyExchange(Identity(path)).commit(ROUND) == known


def test_another_commitment_of_the_server_gets_other_entropy() -> None:
    exchange = EntropyExchange(Identity())
    first = exchange.commit(ROUND)
    second = exchange.commit(SealCheck(seat=0, round_id=bytes(16), commitment=bytes(31) + b"\1"))
    assert first is not None and second is not None and first.entropy != second.entropy


def test_a_phase_that_comes_before_the_other_player_s_commitment_reveals_nothing() -> None:
    model = staged.getting_ready().model(1)
    assert model.scene is not None
    early = replace(model, scene=model.scene.model_copy(update={"phase": Phase.DEALING}))
    assert EntropyExchange(Identity()).reveal(early) is None
