"""Notes of when the connection was up and of what we sent: in the model, which judges by them, and in the receipt."""

from typing import Final

from fairest_cli.model.known_room import ConnectionStatus, KnownRoom
from fairest_cli.records.receipts import Receipt
from fairest_protocol.messages.fields import Message
from fairest_protocol.messages.from_client import Leave, Play, Ready, Reveal
from fairest_protocol.value import replace

SILENCE_MS: Final = 15_000
"""A socket that is silent for longer, although it is pinged, belonged to a machine or a process that was asleep."""


def note_said(model: KnownRoom, receipt: Receipt | None, message: Message, at_ms: int) -> KnownRoom:
    """Note a message of ours that is about to be sent; return the model after it."""
    if receipt is not None and isinstance(message, (Ready, Reveal, Play, Leave)):
        receipt.add_said(message, at_ms)
    return model.with_said(message, at_ms)


def note_drop(model: KnownRoom, receipt: Receipt | None, at_ms: int) -> KnownRoom:
    """Note that a socket has ended, or could not be opened; return the model after it."""
    if receipt is not None and model.binding.down_since_ms is None:
        receipt.add_drop(model.binding.alive_ms, at_ms)
    return model.with_status(ConnectionStatus.LOST)


def note_silence(model: KnownRoom, receipt: Receipt | None, at_ms: int) -> KnownRoom:
    """Take a silence that no living connection has as a drop; return the model after it, or the same one."""
    binding = model.binding
    if binding.down_since_ms is not None or at_ms - binding.alive_ms <= SILENCE_MS:
        return model
    if receipt is not None:
        receipt.add_drop(binding.alive_ms, at_ms)
    return replace(model, binding=binding.after_drop())


def note_pong(
    model: KnownRoom, receipt: Receipt | None, at_ms: int, *, is_in_room: bool, revealed: bytes | None = None
) -> KnownRoom:
    """Note that the server has answered a ping; return the model after it. In the room, that ends a silence.

    `revealed` is the round whose bytes were sent ahead of the ping on the same socket: the server has them.
    """
    if not is_in_room:
        return replace(model, binding=model.binding.after_alive(at_ms))
    after = note_silence(model, receipt, at_ms)
    if receipt is not None and after is not model:
        receipt.add_pong(at_ms)
    binding = after.binding.after_pong(at_ms)
    if revealed is not None:
        arrived = binding.after_arrival(revealed, at_ms)
        if receipt is not None and arrived != binding:
            receipt.add_pong(at_ms, revealed)
        binding = arrived
    return replace(after, binding=binding)
