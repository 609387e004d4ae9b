"""The messages of one connection that were parsed and wait for its session."""

import asyncio
from collections.abc import Callable


class MessageQueue:
    """Messages in the order of their arrival, the session that waits for one, and the time in which it gets none."""

    __slots__ = ("_hold", "_waiter", "messages")

    def __init__(self) -> None:
        self.messages: list[str | bytes] = []
        """Few at a time, and most connections have none: an empty deque takes 700 bytes more."""
        self._waiter: asyncio.Future[None] | None = None
        self._hold: asyncio.TimerHandle | None = None
        """Ends the time in which no message is handed to the session."""

    @property
    def may_hand_over(self) -> bool:
        """Whether the session waits for a message, and there is one that need not be held back."""
        return bool(self.messages) and self._hold is None and self._waiter is not None and not self._waiter.done()

    def expect(self) -> "asyncio.Future[None]":
        """Return what `wake` completes: the session waits for it, and calls `forget` afterwards."""
        self._waiter = asyncio.get_running_loop().create_future()
        return self._waiter

    def forget(self) -> None:
        """The session waits no longer."""
        self._waiter = None

    def wake(self) -> None:
        """Wake the session if it waits."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def hold(self, seconds: float, then: Callable[[], None]) -> None:
        """Hand over no message for `seconds` from now; call `then` when they are over."""
        if self._hold is None:
            self._hold = asyncio.get_running_loop().call_later(seconds, self._end_hold, then)

    def release(self) -> None:
        """Hold messages back no longer, and forget what was to be called then."""
        if self._hold is not None:
            self._hold.cancel()
            self._hold = None

    def _end_hold(self, then: Callable[[], None]) -> None:
        self._hold = None
        then()
