"""The append cycle of a live room: its states, and the table of the transitions between them.

    state            enqueued     polled  nothing  append     read             result  log read
    ---------------  -----------  ------  -------  ---------  ---------------  ------  --------
    IDLE             QUEUED                                   READING
    QUEUED                        DECIDE                      READING_QUEUED
    DECIDING                              IDLE     IN_FLIGHT  READING          IDLE
    IN_FLIGHT                                                                  IDLE
    READING                                                                            IDLE
    READING_QUEUED                READING                                              QUEUED

(`DECIDE` stands for DECIDING, to keep the table narrow.)

A room has at most one append on its way. While one is, or while the log is read, requests wait and nothing is decided.
A missing row is a fault of ours, and raises KeyError where it happens; the tests hold the table above against the
mappings below. There is one mapping for each column, since every move changes the state several times, and a lookup by
an integer is not a function call in Python.
"""

from enum import IntEnum
from typing import Final


class AppendState(IntEnum):
    """The state of a live room towards its log."""

    IDLE = 0
    """Nothing is under way. After a failure, requests may wait, or be in doubt, until `retry_later` calls."""
    QUEUED = 1
    """The room waits in the append queue to be polled."""
    DECIDING = 2
    """The append queue polls the room: requests are being decided. Lasts for one call."""
    IN_FLIGHT = 3
    """An append was handed to the queue and is not answered yet."""
    READING = 4
    """The log is being read; the room is enqueued once that is done."""
    READING_QUEUED = 5
    """The log is being read, and the room still waits in the append queue."""


# A member of an enum costs ten times as much to look up as a global name, and every move looks up six.
IDLE: Final = AppendState.IDLE
QUEUED: Final = AppendState.QUEUED
DECIDING: Final = AppendState.DECIDING
IN_FLIGHT: Final = AppendState.IN_FLIGHT
READING: Final = AppendState.READING
READING_QUEUED: Final = AppendState.READING_QUEUED

Transitions = dict[AppendState, AppendState]

ENQUEUED: Final[Transitions] = {IDLE: QUEUED}
"""Something waits to be decided, and the room was put into the append queue."""
POLLED: Final[Transitions] = {QUEUED: DECIDING, READING_QUEUED: READING}
"""The append queue asks for an append. A room that reads its log returns none, and is enqueued again afterwards."""
NOTHING_TO_APPEND: Final[Transitions] = {DECIDING: IDLE}
"""The requests led to no event."""
APPEND: Final[Transitions] = {DECIDING: IN_FLIGHT}
"""The requests led to events, which the append queue takes."""
READ: Final[Transitions] = {IDLE: READING, QUEUED: READING_QUEUED, DECIDING: READING}
"""The log has to be read: an entry is missing, an append was left unanswered, or a refusal needs the newest state."""
RESULT: Final[Transitions] = {IN_FLIGHT: IDLE, DECIDING: IDLE}
"""The append was answered, or left without an answer; or deciding failed, which the queue answers as a failure."""
LOG_READ: Final[Transitions] = {READING: IDLE, READING_QUEUED: QUEUED}
"""The log was read, or Redis did not answer."""
