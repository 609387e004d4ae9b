"""The capabilities: names of what version 1 of the protocol did not have from the start, which `welcome` lists."""

from typing import Final

from fairest_protocol.calculation.certified import CAPABILITY as CERTIFIED
from fairest_protocol.calculation.distance import CAPABILITY as CREDIT

RIVALS: Final = "rivals"
"""`create` takes a wish for a rival, and the lobby shows it."""
ASK_FINISH: Final = "ask_finish"
"""A player whose race has ended may ask the other one to finish."""
RACE_QUEUE: Final = "race_queue"
"""A player may wait for any opponent of a variant: `queue` and `leave_queue`."""
RENEW: Final = "renew"
"""A player may take another token: `renew`."""
DAILY: Final = "daily"
"""A player may race the daily deal: `daily` and `play_daily`."""
TOURNAMENTS: Final = "tournaments"
"""Players may create, enter and race tournaments: `create_tournament` and the messages about one."""
SERVER_CAPABILITIES: Final = (RIVALS, CERTIFIED, ASK_FINISH, RACE_QUEUE, RENEW, DAILY, TOURNAMENTS, CREDIT)
"""The capabilities of a server of this version."""
