"""The parts of a page's path and query, checked before anything is read. Each of these raises `PageRefused`."""

import re
from typing import Final

from fairest_protocol.calculation.daily import day_of, day_start_ms
from fairest_protocol.calculation.rules import BadRules, find_variant
from fairest_server.edge.http_pages import PageRequest, bad_request

NAME_PATTERN: Final = "[A-Za-z0-9_-]{2,20}"
DAY_PATTERN: Final = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
PAGE_PATTERN: Final = "[0-9]{1,6}"
CHAIN_PAGE_PATTERN: Final = "[0-9]{1,12}"
"""The number of a page of the chain of rounds, which has no end."""
_ID: Final = re.compile("[0-9a-f]{32}")


def page_number(request: PageRequest, pattern: str = PAGE_PATTERN) -> int:
    """Return the parameter `page`, 0 without one."""
    number = request.params.get("page", "0")
    if not re.fullmatch(pattern, number):
        raise bad_request(f"page is a number from 0, not {number[:40]!a}.")
    return int(number)


def variant_name(request: PageRequest) -> str:
    """Return the name of the variant that the parameter `rules` names, classic without one."""
    try:
        return find_variant(request.params.get("rules", "classic")[:40]).rules.name
    except BadRules as reason:
        raise bad_request(f"{ascii(str(reason))[1:-1]}.") from reason


def day_name(request: PageRequest, now_ms: int) -> str:
    """Return the parameter `day`, that of `now_ms` without one."""
    day = request.params.get("day", day_of(now_ms))
    try:
        day_start_ms(day)
    except ValueError as reason:
        raise bad_request(f"day is a day such as 2026-11-24, not {day[:40]!a}.") from reason
    return day


def player_name(name: str) -> str:
    """Return the name of a player, as it was given."""
    if not re.fullmatch(NAME_PATTERN, name):
        raise bad_request(f"A name has 2 to 20 letters, digits, _ or -; {name[:40]!a} is none.")
    return name


def id_in_path(request: PageRequest, thing: str) -> str:
    """Return the id in the path; `thing` begins the sentence about another text: `A match`."""
    if not _ID.fullmatch(request.name):
        raise bad_request(f"{thing} is 32 digits of 0-9 and a-f, not {request.name[:40]!a}.")
    return request.name
