"""Provocations of the refusals of moves, by players whose race has just started."""

from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.cards import Card, rank
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.rules import VARIANTS
from fairest_protocol.messages.from_client import Play
from fairest_protocol.messages.from_server import Refused
from fairest_protocol.messages.refusals import Refusal
from tests.support.provoking import Deployment, Provocations
from tests.support.wire_client import QUICK, WireClient, racing_players

refusal: Provocations[Refusal, Refused] = Provocations(Refusal)


async def refused_move(
    deployment: Deployment, move: str, *before: str, number: int | None = None, **options: object
) -> Refused:
    """Race in a room with these options and make the moves `before`; return the refusal of `move`."""
    async with (
        deployment.server() as url,
        racing_players(url, options=QUICK.model_copy(update=options)) as (first, _),
    ):
        for each in before:
            await first.play(each)
        return await first.expect_refusal(Play(number=number or len(before) + 1, move=MOVES[move]))


def board_of(client: WireClient) -> Board:
    """Return the board of the player in seat 0."""
    assert client.scene is not None
    board = client.scene.seats[0].board
    assert board is not None
    return board


@refusal
async def race_over(deployment: Deployment) -> Refused:
    return await refused_move(deployment, "sa", "resign")


@refusal
async def seat_stopped(deployment: Deployment) -> Refused:
    return await refused_move(deployment, "sa", "stop")


@refusal
async def number_old(deployment: Deployment) -> Refused:
    return await refused_move(deployment, "sa", "sa", "sa", number=1)


@refusal
async def number_repeated(deployment: Deployment) -> Refused:
    return await refused_move(deployment, "sb", "sa", number=1)


@refusal
async def number_future(deployment: Deployment) -> Refused:
    return await refused_move(deployment, "sa", number=2)


@refusal
async def no_such_foundation(deployment: Deployment) -> Refused:
    return await refused_move(deployment, "s8")


@refusal
async def no_such_pile(deployment: Deployment) -> Refused:
    return await refused_move(deployment, "se")


@refusal
async def pile_empty(deployment: Deployment) -> Refused:
    return await refused_move(deployment, "d1")


@refusal
async def pile_to_pile(deployment: Deployment) -> Refused:
    return await refused_move(deployment, "ab")


@refusal
async def no_redeal_left(deployment: Deployment) -> Refused:
    return await refused_move(deployment, "redeal")


@refusal
async def card_still_turned(deployment: Deployment) -> Refused:
    return await refused_move(deployment, "redeal", redeals=1)


@refusal
async def nothing_turned(deployment: Deployment) -> Refused:
    stock = VARIANTS["classic"].rules.stock
    return await refused_move(deployment, "sa", *["sa"] * stock, redeals=1)


@refusal
async def rank_not_needed(deployment: Deployment) -> Refused:
    """Foundations need different ranks at the start, so one of two does not need the turned one."""
    async with deployment.server() as url, racing_players(url) as (first, _):
        board = board_of(first)
        assert board.turned is not None
        unfit = 1 if board.next_ranks()[0] != rank(board.turned) else 2
        return await first.expect_refusal(Play(number=1, move=MOVES[f"s{unfit}"]))


@refusal
async def foundation_complete(deployment: Deployment) -> Refused:
    options = QUICK.model_copy(update={"piles": 8, "redeals": 2})
    async with (
        deployment.server(messages_burst=1_000) as url,
        racing_players(url, options=options) as (first, _),
    ):
        moves = 0
        while (needed := board_of(first).next_ranks()[0]) is not None:
            await first.play(move_towards(board_of(first), needed))
            moves += 1
        board = board_of(first)
        piles = (letter for letter, pile in zip("abcdefgh", board.piles, strict=True) if pile)
        card = next(piles) if board.turned is None else "s"
        return await first.expect_refusal(Play(number=moves + 1, move=MOVES[f"{card}1"]))


def move_towards(board: Board, needed: int) -> str:
    """Return a move that helps to complete foundation 1 of a classic game, whose next rank is `needed`.

    Cards go onto cards that are needed later. In 5,000 simulated games it was complete after two redeals at the latest.
    """

    def wait(card: Card) -> int:
        return (rank(card) - needed) % 13

    for letter, pile in zip("abcdefgh", board.piles, strict=True):
        if pile and rank(pile[-1]) == needed:
            return f"{letter}1"
    turned = board.turned
    if turned is None:
        return "redeal"
    if rank(turned) == needed:
        return "s1"
    tops = [wait(pile[-1]) if pile else 13 for pile in board.piles]
    later = [top for top in tops if top >= wait(turned)]
    return "s" + "abcdefgh"[tops.index(min(later) if later else max(tops))]
