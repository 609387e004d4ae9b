"""A bot that is asked to finish: when it gives up its race."""

import pytest

from fairest_cli.bots.player import cannot_win
from fairest_protocol.value import replace
from tests.support import staged


@pytest.mark.parametrize(("count", "gives_up"), [(4, False), (52, True)])
def test_a_bot_gives_up_only_when_the_other_player_has_more_than_it_can_reach(count: int, gives_up: bool) -> None:
    model = staged.racing((46, 46)).model(1)
    assert model.board is not None
    assert model.board.placed < model.board.goal
    assert cannot_win(replace(model, placed=(count, model.board.placed))) is gives_up


def test_a_bot_that_has_lost_no_card_does_not_give_up() -> None:
    model = staged.racing((0, 0)).model(1)
    assert not cannot_win(replace(model, placed=(51, 4)))


def test_a_spectator_has_no_race_to_give_up() -> None:
    assert not cannot_win(staged.racing().model(None))
