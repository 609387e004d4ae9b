"""Messages that cost a client more than one token of its bucket, because they cost the server more work."""

from typing import Final

from fairest_protocol.messages.daily import Daily
from fairest_protocol.messages.from_client import GetRecord, Join, Queue, Resume, Watch
from fairest_protocol.messages.refusals import Refusal
from fairest_protocol.messages.tournaments import CreateTournament, RaceTournament

LOG_READ_TOKENS: Final = 10
"""A message for which the server reads a log, or a record, counts as this many messages, and as one more for each
`READ_FOR_TOKEN` entries, lines or tickets.
"""
READ_FOR_TOKEN: Final = 100
CHAIN_PAGE_TOKENS: Final = 4
"""A page of the chain of rounds takes 0.4 ms, four times as much as a dear message of one token."""
LOG_READERS: Final = (Join, Resume, Watch, GetRecord, Queue, Daily, CreateTournament, RaceTournament)
"""The messages for which the server reads a log, a record, the queue or an attempt."""
MISSES: Final = frozenset({Refusal.NO_SUCH_ROOM, Refusal.TOO_MANY_MISSES})
MISS_TOKENS: Final = 11
"""A code of no room counts as this many more, 21 in all: ten may come at once, then one a second of each connection."""
