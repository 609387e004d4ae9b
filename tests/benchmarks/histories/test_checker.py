"""The history checker finds each kind of violation in histories damaged by hand, and nothing in an honest one."""

from dataclasses import replace

from benchmarks.histories.checker import check
from benchmarks.histories.history import Event, Message, Run, first_of
from tests.benchmarks.histories.example import (
    MOVES,
    answer_play,
    edit,
    edit_entries,
    honest_run,
    log,
    message_end,
    record,
    snapshot,
    turned,
)


def begins_at(message: Message, position: int) -> bool:
    return message.get("type") == "view" and first_of(message) == position


def test_an_honest_run_has_no_problems() -> None:
    assert check(honest_run()).problems == []


def test_all_acknowledged_moves_of_an_honest_run_are_proved() -> None:
    verdict = check(honest_run())
    assert (verdict.acknowledged, verdict.unproved) == (len(MOVES), 0)


def test_a_run_without_a_record_is_proved_by_the_log() -> None:
    run = honest_run()
    run.records = []
    verdict = check(run)
    assert (verdict.problems, verdict.unproved) == ([], 0)


def test_a_lost_move_is_found() -> None:
    run = honest_run()
    moves = [move for place, move in enumerate(MOVES) if place != 3]
    run.records, run.log = [record(moves)], log(moves)
    _assert_found("was acknowledged; stored is", run)


def test_a_doubled_move_is_found() -> None:
    run = honest_run()
    moves = [*MOVES[:3], MOVES[2], *MOVES[3:]]
    run.records, run.log = [record(moves)], log(moves)
    _assert_found("was acknowledged; stored is", run)


def test_reordered_moves_are_found() -> None:
    run = honest_run()
    moves = [*MOVES[:2], MOVES[3], MOVES[2], *MOVES[4:]]
    run.records, run.log = [record(moves)], log(moves)
    _assert_found("was acknowledged; stored is", run)


def test_a_stored_move_that_nobody_sent_is_found() -> None:
    run = honest_run()

    def leave_out(message: Message) -> Message | None:
        return None if message["type"] == "play" and message["number"] == 2 else message

    edit(run, "player-0", leave_out, kind="sent")
    _assert_found("is stored and was never sent", run)


def test_a_refused_move_that_is_stored_is_found() -> None:
    run = honest_run()
    answer_play(run, "player-1", 3, "try_again")
    _assert_found("was refused (try_again) and is stored", run)


def test_a_move_in_doubt_may_be_stored() -> None:
    run = honest_run()
    answer_play(run, "player-1", 4, "in_doubt")
    assert check(run).problems == []


def test_a_refused_move_may_be_stored_when_it_was_sent_again() -> None:
    run = honest_run()
    history = run.histories[1]
    place = next(place for place, event in enumerate(history.events) if event.message.get("type") == "play")
    first = history.events[place]
    refused = {"type": "refused", "to": "play", "code": "try_again", "number": 1}
    before = [replace(first, at_s=first.at_s - 0.002), Event(first.at_s - 0.001, 1, "received", refused)]
    history.events[place:place] = before
    assert check(run).problems == []


def test_a_gap_between_positions_is_found_for_every_kind_of_viewer() -> None:
    for viewer in ("player-0", "player-1", "spectator"):
        run = honest_run()
        edit(run, viewer, lambda message: None if begins_at(message, 9) else message)
        _assert_found("a view from 12 on follows position 8", run)


def test_an_old_view_behind_a_new_snapshot_is_found() -> None:
    run = honest_run()
    history = run.histories[2]
    last = history.events[-1]
    again = [
        Event(last.at_s + 0.1, 1, "sent", {"type": "watch"}),
        Event(last.at_s + 0.2, 1, "received", snapshot(None) | {"position": 25}),
    ]
    history.events += [*again, replace(last, at_s=last.at_s + 0.3)]
    _assert_found("follows position 25", run)


def test_a_card_shown_early_is_found_in_a_players_own_view() -> None:
    run = honest_run()

    def show_early(entry: Message) -> Message:
        is_first = entry["type"] == "moved" and entry["seat"] == 0 and entry["number"] == 1
        return turned(1, 2) if is_first else entry

    edit_entries(run, "player-0", show_early)
    _assert_found("horizon: turned of seat 1 made at (0, 2)", run)


def test_a_decision_shown_early_is_found_in_a_players_own_view() -> None:
    run = honest_run()

    def show_early(message: Message) -> Message:
        if begins_at(message, 9):
            message["entries"].append(
                {"type": "moved", "seat": 1, "number": 1, "move": "sb", "card": turned(1, 0)["card"]}
            )
            message["position"] += 1
        return message

    edit(run, "player-0", show_early)
    _assert_found("horizon: moved of seat 1 made at (0, 0), and this seat is at (0, 0)", run)


def test_an_entry_that_a_spectator_gets_early_is_found() -> None:
    run = honest_run()
    history = run.histories[2]
    # The spectator has seen everything before either player has sent a move.
    history.events = [replace(event, at_s=99.0 + place / 1000) for place, event in enumerate(history.events)]
    _assert_found("which leads there", run)


def test_a_spectator_of_an_open_room_may_see_everything() -> None:
    run = honest_run()
    history = run.histories[2]
    history.events = [replace(event, at_s=99.0 + place / 1000) for place, event in enumerate(history.events)]
    for viewer in ("player-0", "player-1", "spectator"):
        edit(run, viewer, _open)
    assert not [problem for problem in check(run).problems if "horizon" in problem]


def test_a_salt_that_does_not_open_its_envelope_is_found() -> None:
    run = honest_run()
    edit_entries(run, "player-0", lambda entry: entry | {"salt": "00" * 32} if entry["type"] == "turned" else entry)
    _assert_found("do not open the envelope", run)


def test_another_secret_than_the_one_committed_to_is_found() -> None:
    run = honest_run()
    edit_entries(run, "spectator", lambda entry: entry | {"secret": "00" * 32} if "secret" in entry else entry)
    _assert_found("not the one that was committed to", run)


def test_bytes_that_do_not_belong_to_their_hash_are_found() -> None:
    run = honest_run()
    edit_entries(run, "player-0", lambda entry: entry | {"entropy": "00" * 32} if "entropy" in entry else entry)
    _assert_found("do not belong to their hash", run)


def test_a_resume_that_shows_other_entries_than_before_is_found() -> None:
    run = honest_run()
    history = run.histories[0]
    last = history.events[-1]
    view = next(event.message for event in history.events if begins_at(event.message, 9))
    other = view | {"entries": [{"type": "detached", "seat": 1, "until_ms": 5}, *view["entries"][1:]]}
    history.events += [
        Event(last.at_s + 0.1, 2, "opened"),
        Event(last.at_s + 0.2, 2, "sent", {"type": "resume", "position": 8, "tag": "00"}),
        Event(last.at_s + 0.3, 2, "received", other),
    ]
    _assert_found("entry 9 was another one before", run)


def test_a_snapshot_instead_of_entries_is_no_loss_when_the_match_is_over() -> None:
    assert check(_resumed(honest_run(), phase="waiting")).problems == []


def test_a_snapshot_instead_of_entries_is_a_loss_in_a_race() -> None:
    _assert_found("loss: the snapshot", _resumed(honest_run(), phase="racing"))


def test_a_snapshot_in_answer_to_a_position_in_an_earlier_match_is_no_loss() -> None:
    run = honest_run()
    edit_entries(run, "player-0", lambda entry: entry | {"match": "m"} if entry["type"] == "round_opened" else entry)
    began = next(first_of(event.message) for event in run.histories[0].received("view"))
    resumed = _resumed(run, phase="racing", position=began - 1)
    resumed.histories[0].events[-1].message["scene"]["match"] = "m"
    assert check(resumed).problems == []


def test_two_spectators_that_see_different_views_are_found() -> None:
    run = honest_run()
    other = honest_run().histories[2]
    other.viewer = "other spectator"
    run.histories.append(other)
    edit_entries(run, "other spectator", lambda entry: entry | {"until_ms": 7} if entry["type"] == "started" else entry)
    _assert_found("another one than that of another spectator", run)


def test_a_race_that_ends_before_its_limit_is_found() -> None:
    run = honest_run()
    for viewer in ("player-0", "player-1", "spectator"):
        edit_entries(run, viewer, _out_of_time)
    _assert_found("is out_of_time", run)


def test_a_player_who_is_away_before_the_grace_period_is_over_is_found() -> None:
    run = honest_run()
    for viewer in ("player-0", "player-1", "spectator"):
        edit_entries(run, viewer, _away)
    _assert_found("is away", run)


def test_a_loss_is_a_problem_where_none_is_allowed() -> None:
    _assert_found("loss", _run_with_a_told_loss())


def test_a_loss_that_was_told_is_none_where_it_is_allowed() -> None:
    assert check(_run_with_a_told_loss(), loss_is_allowed=True).problems == []


def test_a_loss_that_was_not_told_is_found_where_losses_are_allowed() -> None:
    run = honest_run()
    moves = [move for place, move in enumerate(MOVES) if place != 3]
    run.records, run.log = [record(moves)], log(moves)
    assert any("was acknowledged" in problem for problem in check(run, loss_is_allowed=True).problems)


def test_a_player_who_had_left_before_a_loss_need_not_be_told() -> None:
    run = _run_with_a_told_loss()
    ends = [event for event in run.histories[0].events if event.connection == 2]
    run.histories[0].events = [event for event in run.histories[0].events if event.connection == 1]
    again = [replace(event, message=snapshot(1)) if event.kind == "received" else event for event in ends]
    run.histories[1].events += again
    assert check(run, loss_is_allowed=True).problems == []


def test_a_player_who_was_away_during_a_loss_and_has_lost_its_seat_since_need_not_be_told() -> None:
    run = _run_with_a_told_loss()
    ends = [event for event in run.histories[0].events if event.connection == 2]
    again = [replace(event, message=snapshot(1)) if event.kind == "received" else event for event in ends]
    run.histories[1].events += again
    refused = {"type": "refused", "to": "resume", "code": "not_seated", "number": None}
    opened, sent, told = ends
    run.histories[0].events = [event for event in run.histories[0].events if event.connection == 1]
    run.histories[0].events += [replace(event, at_s=event.at_s + 1.0) for event in (opened, sent)]
    run.histories[0].events.append(replace(told, at_s=told.at_s + 1.0, message=refused))
    assert check(run, loss_is_allowed=True).problems == []


def test_a_lost_move_is_counted_when_its_loss_was_told() -> None:
    assert len(check(_run_with_a_told_loss(), loss_is_allowed=True).lost_at_s) == 1


def test_a_player_that_the_server_no_longer_knows_is_a_loss() -> None:
    run = honest_run()
    last = run.histories[0].events[-1]
    run.histories[0].events.append(Event(last.at_s + 0.1, 2, "received", {"type": "error", "code": "bad_token"}))
    _assert_found("loss: the player is gone", run)


def test_a_move_refused_as_not_seated_on_a_connection_that_has_the_seat_is_found() -> None:
    run = honest_run()
    answer_play(run, "player-0", 2, "not_seated")
    _assert_found("not_seated", run)


def test_a_move_may_be_refused_as_not_seated_after_the_viewer_was_told_that_its_seat_is_detached() -> None:
    """Another process took the one of this connection for dead: the move is sent again on the next connection."""
    run = honest_run()
    history = run.histories[0]
    place = next(place for place, event in enumerate(history.events) if event.message.get("type") == "play")
    first = history.events[place]
    position = max(event.message["position"] for event in history.events[:place] if "position" in event.message)
    lapse = {"type": "detached", "seat": 0, "until_ms": 0}
    history.events = [
        *history.events[:place],
        Event(first.at_s - 0.003, 1, "sent", first.message),
        Event(
            first.at_s - 0.002, 1, "received", {"type": "view", "position": position + 1, "tag": "", "entries": [lapse]}
        ),
        Event(first.at_s - 0.001, 1, "received", {"type": "refused", "to": "play", "code": "not_seated", "number": 1}),
    ]
    assert not any("the seat was not taken away" in problem for problem in check(run).problems)


def test_a_chase_whose_begin_was_shown_to_nobody_is_not_called_early() -> None:
    run = honest_run()

    def end(entry: Message) -> Message | None:
        ended = _out_of_time(entry)
        if ended["type"] == "round_finished":
            ended["outcome"]["scores"][0]["ending"] = "away"
        return None if ended["type"] == "stopped" else ended

    for viewer in ("player-0", "player-1", "spectator"):
        edit_entries(run, viewer, end)
    assert not any("seat 1" in problem and "is out_of_time" in problem for problem in check(run).problems)


def test_a_line_of_the_record_that_was_changed_is_found() -> None:
    run = honest_run()
    run.records[0][2] = run.records[0][2].replace('"at_ms":0', '"at_ms":1')
    _assert_found("breaks the chain", run)


def test_an_entry_that_is_missing_in_the_log_is_found() -> None:
    run = honest_run()
    assert run.log is not None
    del run.log[4]
    _assert_found("log: entry 6 follows 4", run)


def _assert_found(words: str, run: Run) -> None:
    problems = check(run).problems
    assert any(words in problem for problem in problems), problems


def _open(message: Message) -> Message:
    if message["type"] == "snapshot":
        message["scene"]["options"]["spectators"] = "open"
    return message


def _end(entry: Message, ending: str) -> Message:
    if entry["type"] == "round_finished":
        entry["outcome"]["scores"][1]["ending"] = ending
    return entry


def _out_of_time(entry: Message) -> Message:
    return _end(entry, "out_of_time")


def _away(entry: Message) -> Message:
    return _end(entry, "away")


def _resumed(run: Run, *, phase: str, position: int = 10) -> Run:
    """The run with a snapshot of a room in `phase` in answer to a `resume` of seat 0; it is as new as what it saw."""
    history = run.histories[0]
    at_s, last = history.events[-1].at_s, max(message_end(event.message) for event in history.received("view"))
    answer = snapshot(0)
    answer["scene"] |= {"phase": phase}
    history.events += [
        Event(at_s + 0.1, 2, "opened"),
        Event(at_s + 0.2, 2, "sent", {"type": "resume", "position": position, "tag": "00"}),
        Event(at_s + 0.3, 2, "received", answer | {"position": last + 1}),
    ]
    return run


def _run_with_a_told_loss() -> Run:
    run = honest_run()
    history = run.histories[0]
    last = history.events[-1]
    history.events += [
        Event(last.at_s + 0.1, 2, "opened"),
        Event(last.at_s + 0.2, 2, "sent", {"type": "resume", "position": 20, "tag": "00"}),
        Event(last.at_s + 0.3, 2, "received", snapshot(0)),
    ]
    moves = [*MOVES[:6], MOVES[7]]
    run.records, run.log = [], log(moves)
    return run
