"""The fast encoders write, byte for byte, what the models would."""

from hypothesis import given
from hypothesis import strategies as st

from fairest_protocol.calculation.cards import full_deck
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.entries import Entry, Moved, RematchWanted, Turned
from fairest_protocol.messages.fast_encoding import add_id, decode_entry, encode_moved, encode_turned, encode_view
from fairest_protocol.messages.fields import Seat
from fairest_protocol.messages.from_server import View

seats = st.sampled_from([0, 1])
cards = st.sampled_from(full_deck(2))
counts = st.integers(min_value=0, max_value=10**6)


@given(seats, counts, st.sampled_from(list(MOVES.values())), st.none() | cards)
def test_a_move_is_written_as_its_model_is(seat: Seat, number: int, move: object, card: object) -> None:
    moved = Moved.model_validate({"seat": seat, "number": number + 1, "move": move, "card": card})
    assert encode_moved(seat, number + 1, moved.move, moved.card) == encode(moved)


@given(seats, counts, counts, cards, st.binary(min_size=32, max_size=32))
def test_a_turned_card_is_written_as_its_model_is(seat: Seat, number: int, at: int, card: str, salt: bytes) -> None:
    turned = Turned.model_validate({"seat": seat, "turn": (number, at), "card": card, "salt": salt})
    assert encode_turned(seat, number, at, turned.card, salt) == encode(turned)


@given(counts, st.lists(seats, max_size=3), st.text("0123456789abcdef", min_size=8, max_size=8))
def test_a_view_is_written_as_its_model_is(position: int, wanting: list[Seat], tag: str) -> None:
    entries: tuple[Entry, ...] = tuple(RematchWanted(seat=seat) for seat in wanting)
    assert encode_view(position, list(map(encode, entries)), tag) == encode(
        View(position=position, entries=entries, tag=tag)
    )


@given(seats)
def test_an_entry_decodes_to_its_model(seat: Seat) -> None:
    assert decode_entry(encode(RematchWanted(seat=seat))) == RematchWanted(seat=seat)


@given(counts, st.none() | st.from_regex(r"[A-Za-z0-9_-]{1,40}", fullmatch=True))
def test_the_id_of_the_request_is_written_as_its_model_is(position: int, request_id: str | None) -> None:
    view = View(position=position, entries=(), tag="0" * 8)
    assert add_id(encode(view), request_id) == encode(view.with_id(request_id))
