"""The states of a room's append cycle, and what leads from one to the next."""

import re

import pytest

from fairest_server.live import append_cycle
from fairest_server.live.append_cycle import AppendState, Transitions

COLUMNS: dict[str, Transitions] = {
    "enqueued": append_cycle.ENQUEUED,
    "polled": append_cycle.POLLED,
    "nothing": append_cycle.NOTHING_TO_APPEND,
    "append": append_cycle.APPEND,
    "read": append_cycle.READ,
    "result": append_cycle.RESULT,
    "log read": append_cycle.LOG_READ,
}


def table_in_words() -> dict[str, Transitions]:
    """The table of the module's docstring: for each column, which state follows which."""
    lines = [line[4:] for line in (append_cycle.__doc__ or "").splitlines() if line.startswith("    ")]
    starts = [match.start() for match in re.finditer(r"(?<!-)-", lines[1])]
    ends = [*starts[1:], 200]
    heads = [lines[0][start:end].strip() for start, end in zip(starts, ends, strict=True)]
    table: dict[str, Transitions] = {head: {} for head in heads[1:]}
    for line in lines[2:]:
        state, *cells = [line[start:end].strip() for start, end in zip(starts, ends, strict=True)]
        for head, cell in zip(heads[1:], cells, strict=True):
            if cell:
                table[head][AppendState[state]] = AppendState[cell.replace("DECIDE", "DECIDING")]
    return table


def test_the_table_in_words_is_the_one_in_force() -> None:
    assert table_in_words() == COLUMNS


@pytest.mark.parametrize("state", AppendState)
def test_every_state_can_be_left(state: AppendState) -> None:
    assert any(state in column for column in COLUMNS.values())


@pytest.mark.parametrize("state", [state for state in AppendState if state is not AppendState.IDLE])
def test_every_state_can_be_reached(state: AppendState) -> None:
    assert any(state in column.values() for column in COLUMNS.values())


def test_no_second_append_goes_while_one_is_in_flight() -> None:
    assert [name for name, column in COLUMNS.items() if AppendState.IN_FLIGHT in column] == ["result"]
