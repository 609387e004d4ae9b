"""The events of a server's log: a short name that never changes, for programs, and a sentence for people."""

from enum import StrEnum


class Event(StrEnum):
    """One kind of line in the log. Its value is the short name; alarms and searches may rely on it."""

    sentence: str

    def __new__(cls, name: str, sentence: str) -> "Event":
        """Return the member called `name`, which carries its `sentence`."""
        event = str.__new__(cls, name)
        event._value_ = name
        event.sentence = sentence
        return event

    # A process.
    DURABILITY = "durability", "The promise that the settings of Redis make."
    DURABILITY_PROBLEM = "durability_problem", "A setting of Redis that should be changed."
    FEW_FILES = "few_files", "The limit of open files allows fewer connections than --max-connections."
    SERVING = "serving", "The server is ready for players."
    STOPPING = "stopping", "The server was told to stop."
    STOPPED_LATE = "stopped_late", "Redis or clients did not answer; the server stops without waiting any longer."

    CERTIFICATE_RELOADED = "certificate_reloaded", "New connections get the new certificate."
    CERTIFICATE_NOT_RELOADED = "certificate_not_reloaded", "The new certificate is broken; the old one stays."
    NOTHING_TO_RELOAD = "nothing_to_reload", "SIGHUP has nothing to do."
    MANAGER_NOT_NOTIFIED = "manager_not_notified", "The service manager that NOTIFY_SOCKET names does not listen."

    DRAINING = "draining", "The process takes no new rooms, and ends when its races have."
    DRAINED = "drained", "The last race of a draining process is over."

    # The operator.
    OPERATOR = "operator", "A request of the operator was carried out, or refused."
    BAD_REQUEST = "bad_request", "An entry among the requests of the operator is not a request; it is skipped."
    LATE_REQUEST = "late_request", "A request of the operator came too late; it is skipped."
    BAN_ENFORCED = "ban_enforced", "The connection of a banned player or address is closed."
    TOKEN_RENEWED = "token_renewed", "A player has renewed its token; its connections with the old one are closed."
    RESTORE_UNKNOWN = "restore_unknown", "The node that tells whether a restore has ended does not answer."
    BANS_NOT_READ = "bans_not_read", "The bans have changed and cannot be read; the next heartbeat tries again."
    ANSWER_LOST = "answer_lost", "An answer to the operator was not stored."

    # Workers.
    WORKER_DIED = "worker_died", "A worker died; another one is started."
    WORKER_NOT_STARTED = "worker_not_started", "A worker does not start."
    WORKERS_NOT_RENEWED = "workers_not_renewed", "A new worker does not start; the remaining old ones stay."
    WORKERS_RENEWED = "workers_renewed", "All workers are new."

    NO_HANDOVER = "no_handover", "Connections cannot be handed over; each worker serves those that it accepts."
    WORKER_DRAINS = "worker_drains", "A worker drains; another one is started."
    WORKER_DRAINED = "worker_drained", "A worker has drained and ended."

    # Redis.
    ENGINE_DIED = "engine_died", "The embedded engine died; another one is started."
    ENGINE_NOT_STARTED = "engine_not_started", "The embedded engine does not start; it is tried again."
    ENGINE_READS = "engine_reads", "The embedded engine reads its data."
    REDIS_FAILED = "redis_failed", "Redis does not answer, or refuses: `reason` says which."
    REDIS_SILENT = "redis_silent", "Redis is silent; clients are sent away."
    COPIED_KEY = "copied_key", "The node of the signing key does not answer; its copy on another node is used."
    CLUSTER_SILENT = "cluster_silent", "No node of the Cluster answers."
    SUBSCRIPTION_ENDED = "subscription_ended", "A subscription ended; another one follows."
    OTHER_KEY = "other_key", "Redis holds another key; commitments are signed with that one now."
    PROCESS_LAPSED = "process_lapsed", "Another process has lapsed; its rooms were told."
    ROUNDS_LOST = "rounds_lost", "The chain of rounds has lost its end; an entry of it says so."
    UNRATED = "unrated", "The record of a match does not prove itself; the match is not rated."
    DRAND_UNAVAILABLE = "drand_unavailable", "The relay of drand does not show a drand round; daily deals wait for it."
    ARCHIVE_FAILED = "archive_failed", "The archive of records does not answer."

    # Rooms.
    FAULT = "fault", "A fault of the server, with its traceback."
    LOG_LOST = "log_lost", "A room's log is not the one that was shown; its subscribers are sent away."
    LOG_UNREADABLE = "log_unreadable", "A room's log cannot be read."
    STEP_WORKER_ENDED = (
        "step_worker_ended",
        "The process that finds certified deals has ended; another one starts.",
    )
    SEATS_NOT_FREED = "seats_not_freed", "Connections that ended are still in a room's log."

    # Tournaments.
    TOURNAMENT_CREATED = "tournament_created", "A player has created a tournament."
    TOURNAMENT_STARTED = "tournament_started", "A tournament was started."
    TOURNAMENT_ROUND_BEGUN = "tournament_round_begun", "The deck of a round is dealt; its races begin in some seconds."
    TOURNAMENT_ENDED = "tournament_ended", "A tournament has ended: it is over, or was cancelled; `how` says which."

    # Connections.
    TURNED_AWAY = "turned_away", "A request may not become a connection."
    TURNED_AWAY_MORE = "turned_away_more", "Further requests were refused for the same reason since the last such line."
    NOT_ACCEPTED = "not_accepted", "The process has no more files for connections; it tries again in a second."
    CONNECTED = "connected", "A connection was opened."
    ENTERED = "entered", "A client entered a room."
    PAIRED = "paired", "Two players of the queue were paired."
    NOT_LET_IN = "not_let_in", "A hello, or a request to enter a room, was refused."
    LEFT = "left", "A client left its room, or its seat was freed by time."
    CUT_OFF = "cut_off", "The server closes a connection with an error."
    GONE = "gone", "A connection has ended."
