"""The deal against a second derivation, which was written from docs/protocol.md alone and shares no code with ours."""

import ast
import random
from itertools import product
from pathlib import Path

from fairest_protocol.calculation.deal import seal_deal
from fairest_protocol.calculation.rules import VARIANTS, choose_rules
from fairest_protocol.calculation.seal import (
    chain_line,
    commit_entropy,
    commit_secret,
    make_check_words,
    make_seed,
    record_statement,
    root_envelopes,
    round_statement,
)
from fairest_protocol.messages.options import RoomOptions
from tests.support import derivation
from tests.support.long_tests import parametrize_with_long

SEEDS = 1000
TERMS = RoomOptions().resolved().terms()


@parametrize_with_long(("deals", "name"), product((20, 1000), sorted(VARIANTS)), quick=len(VARIANTS))
def test_a_second_derivation_deals_the_same_cards(name: str, deals: int) -> None:
    chance = random.Random(name)
    for _ in range(deals):
        redeals = chance.choice(VARIANTS[name].redeals)
        seed, round_id = chance.randbytes(32), chance.randbytes(16)
        ours = seal_deal(choose_rules(name, redeals=redeals), seed, round_id)
        theirs = derivation.deal(name, redeals, seed, round_id)
        layout = tuple((each.start, each.step, each.length) for each in ours.deal.foundations)
        assert (ours.deal.starters, ours.deal.markers, layout) == (theirs.starters, theirs.markers, theirs.layout)
        assert ours.deal.orders == theirs.orders
        salts = tuple(
            tuple(ours.salt(number, position) for position in range(len(salted)))
            for number, salted in enumerate(theirs.salts)
        )
        assert (salts, ours.envelopes) == (theirs.salts, theirs.envelopes)


def test_a_second_derivation_has_the_same_hashes_and_words() -> None:
    chance = random.Random(1)
    for _ in range(SEEDS):
        secret, first, second, round_id = (chance.randbytes(size) for size in (32, 32, 32, 16))
        commitment = commit_secret(round_id, secret)
        envelopes = [[chance.randbytes(32) for _ in range(3)] for _ in range(2)]
        root = root_envelopes(envelopes)
        assert commitment == derivation.commitment(round_id, secret)
        assert commit_entropy(round_id, 1, second) == derivation.entropy_hash(round_id, 1, second)
        assert make_seed(secret, (first, second), round_id) == derivation.seed(secret, (first, second), round_id)
        assert root == derivation.root(envelopes)
        words = make_check_words(round_id, commitment, (first, second), root, TERMS)
        assert words == derivation.check_words(round_id, commitment, (first, second), root, TERMS)
        opened = (round_id, commitment, first[:16], chance.randrange(1, 10), TERMS)
        assert round_statement(*opened) == derivation.round_statement(*opened)
        assert record_statement(root) == derivation.record_statement(root)


def test_a_second_derivation_chains_lines_in_the_same_way() -> None:
    texts = ['{"type":"match"}', '{"type":"round"}', '{"type":"move"}']
    chain, lines = b"", []
    for text in texts:
        chain = chain_line(chain, text)
        lines.append(f'{text[:-1]},"chain":"{chain.hex()}"}}')
    assert derivation.chain(lines) == chain


def test_the_second_derivation_shares_no_code_with_ours() -> None:
    tree = ast.parse(Path(derivation.__file__).read_text())
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not [name for name in imported if name.startswith("fairest_")]
