"""The wait for an opponent in sentences."""

from collections.abc import Iterator

from fairest_cli.model.known_room import KnownRoom
from fairest_cli.untrusted_text import clean
from fairest_protocol.messages.from_server import LeftQueue, Queued


def describe_queue(before: KnownRoom, message: Queued | LeftQueue) -> Iterator[str]:
    """Yield what a message from the queue says. `before` is the model before it."""
    if isinstance(message, LeftQueue):
        yield "You wait no longer."
        return
    if before.scene is not None:
        yield "Nobody came into the room. You wait in the queue again."
    elif before.queued is None:
        yield f"You wait for an opponent in {clean(message.rules)}. Type leave to wait no longer."
    yield describe_waiting(message.waiting)


def describe_waiting(count: int) -> str:
    """Return how many players wait, of whom one is this one."""
    return "Nobody else waits yet." if count <= 1 else f"{count} players wait, you among them."
