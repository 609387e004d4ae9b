"""Records of certified matches, sound and forged; the forged ones are chained and signed again."""

from collections.abc import Callable
from functools import cache

from fairest_protocol.calculation.record import Record
from fairest_protocol.messages.options import RoomOptions
from tests.support.forging import Line, lines_of, settle, sign_rounds, sound_records, write
from tests.support.races import Table, race_match
from tests.support.records import signed_record


@cache
def _certified() -> Record:
    table = Table(31, RoomOptions(best_of=3, certified=1))
    table.start()
    race_match(table, stops=0.05)
    return signed_record(table)


def certified_record() -> list[Line]:
    """Return the lines of the record of a match of up to three rounds in a certified room."""
    return lines_of(_certified())


def rounds_of(lines: list[Line]) -> list[Line]:
    return [line for line in lines if line["type"] == "round"]


def names_of_forgeries() -> list[str]:
    """Return the keys of `forged_records`, without making the records."""
    return [forge.__name__ for forge in (*_FORGERIES, *_USUAL_FORGERIES)]


@cache
def forged_records() -> dict[str, str]:
    """Return records that every verifier refuses, by what was done to them."""
    return {forge.__name__: _forged(certified_record(), forge) for forge in _FORGERIES} | {
        forge.__name__: _forged(sound_records()[0], forge) for forge in _USUAL_FORGERIES
    }


def dealt_later() -> list[Line]:
    """Return the record of a server that dealt step 2 of its round, where step 1 is proved; all else is right."""
    sound = certified_record()
    result = next(line for line in sound if line["type"] == "result")
    lines = [sound[0], rounds_of(sound)[0] | {"step": 1}]
    lines += [{"type": "move", "at_ms": 1, "seat": seat, "move": "stop"} for seat in (0, 1)]
    lines += [result, sound[-1]]
    lines[0]["terms"] = lines[0]["terms"].replace("best_of=3", "best_of=1")
    sign_rounds(lines)
    settle(lines)
    return lines


def _forged(lines: list[Line], forge: Callable[[list[Line]], None]) -> str:
    forge(lines)
    return write(lines)


def without_step(lines: list[Line]) -> None:
    """Take the step out of the first round."""
    del rounds_of(lines)[0]["step"]


def _another_step(lines: list[Line]) -> None:
    rounds_of(lines)[0]["step"] = 7


def _a_step_too_high(lines: list[Line]) -> None:
    rounds_of(lines)[0]["step"] = 16


def _the_old_format(lines: list[Line]) -> None:
    lines[0]["format"] = 3


def _too_few_piles(lines: list[Line]) -> None:
    lines[0]["terms"] = lines[0]["terms"].replace("piles=4", "piles=3")
    sign_rounds(lines)


def _another_procedure(lines: list[Line]) -> None:
    lines[0]["terms"] = lines[0]["terms"].replace("certified=1", "certified=2")
    sign_rounds(lines)


def _a_step(lines: list[Line]) -> None:
    rounds_of(lines)[0]["step"] = 0


def _the_new_format(lines: list[Line]) -> None:
    lines[0]["format"] = 4


_FORGERIES = (without_step, _another_step, _a_step_too_high, _the_old_format, _too_few_piles, _another_procedure)
_USUAL_FORGERIES = (_a_step, _the_new_format)
"""Changes to the record of a match that is not certified."""
