/**
 * Every message of the protocol `fairest.v1`. Generated from the server's own models; docs/protocol.md says when
 * each message is sent, and what a type cannot say.
 *
 * A server writes every field of its messages. A later server may send fields, messages, entries and codes that are not
 * here: pass over them. A client may leave out the fields that are optional here, and sends no others.
 */

/** The subprotocol of the WebSocket. */
export type Subprotocol = "fairest.v1";

/** The rank of a card, from ace to king. */
export type Rank = "A" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "T" | "J" | "Q" | "K";

/** The suit of a card, in small letters in the second deck of two. */
export type Suit = "C" | "D" | "H" | "S" | "c" | "d" | "h" | "s";

/** A waste pile. */
export type PileLetter = "a" | "b" | "c" | "d" | "e" | "f" | "g" | "h";

/** A foundation. */
export type FoundationDigit = "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8";

/** A move without a card. */
export type MoveWord = "redeal" | "stop" | "resign";

/** A message of a client. */
export type FromClient =
  | Hello
  | GetLobby
  | Create
  | Queue
  | LeaveQueue
  | Join
  | Watch
  | Resume
  | Ready
  | Reveal
  | Play
  | Rematch
  | AskFinish
  | Leave
  | GetRecord
  | Renew
  | Daily
  | PlayDaily
  | CreateTournament
  | JoinTournament
  | LeaveTournament
  | StartTournament
  | WatchTournament
  | ReadyTournament
  | RevealTournament
  | RaceTournament
  | PlayTournament
  | Ping;

/** A message of a server. */
export type FromServer =
  | Welcome
  | Renewed
  | Pong
  | LobbyPage
  | Snapshot
  | View
  | Elsewhere
  | Placed
  | Watching
  | Accepted
  | Refused
  | Error
  | Left
  | Queued
  | LeftQueue
  | Announcement
  | MatchRecord
  | DailyView
  | Tournament
  | TournamentTick
  | TournamentRace;

/** The messages that answer a request, by its `type`. */
export interface Replies {
  hello: Welcome | Refused;
  get_lobby: LobbyPage | Refused;
  create: Snapshot | Refused;
  queue: Queued | Snapshot | Refused;
  leave_queue: LeftQueue | Refused;
  join: Snapshot | Refused;
  watch: Snapshot | Refused;
  resume: View | Snapshot | Refused;
  ready: View | Refused;
  reveal: View | Refused;
  play: View | Accepted | Refused;
  rematch: View | Refused;
  ask_finish: View | Refused;
  leave: Left | Refused;
  get_record: MatchRecord | Refused;
  renew: Renewed | Refused;
  daily: DailyView | Refused;
  play_daily: DailyView | Refused;
  create_tournament: Tournament | Refused;
  join_tournament: Tournament | Refused;
  leave_tournament: Tournament | Refused;
  start_tournament: Tournament | Refused;
  watch_tournament: Tournament | TournamentTick | Refused;
  ready_tournament: Tournament | Refused;
  reveal_tournament: Tournament | Refused;
  race_tournament: TournamentRace | Refused;
  play_tournament: TournamentRace | Refused;
  ping: Pong | Refused;
}

/** Why a connection was closed. Codes from 4000 are final: connecting again the same way does not help. */
export type CloseCode =
  /** A normal end. */
  | 1000
  /** A binary frame; messages are text. */
  | 1003
  /** A frame was larger than this server takes; no `error` comes before it. */
  | 1009
  /** The server has a fault; or, without an `error`, a ping was not answered. */
  | 1011
  /** The server restarts, or has lost Redis; connect again, here or elsewhere, and resume. */
  | 1012
  /** There are too many connections, of your address or in all; wait a while, then connect again. */
  | 1013
  /** A frame is not JSON, or an object in it has a key twice. */
  | 4400
  /** There is no message of this `type`. */
  | 4401
  /** A message has a key that is not in its table. */
  | 4402
  /** A field is missing, or has a value that it cannot have. */
  | 4403
  /** Another message came before `hello`. */
  | 4404
  /** A second `hello` came on a connection that had been welcomed. */
  | 4405
  /** No `hello` was accepted in time. */
  | 4406
  /** No player has this token; send `hello` without one. */
  | 4407
  /** For too long, more was sent than this server reads. */
  | 4408
  /** Another connection of this player has the seat; leave it alone. */
  | 4409
  /** The operator has banned this player or this address; the `error` says until when, and why. */
  | 4410
  /** Pages of this site may not connect to this server; its operator can allow the site. */
  | 4411;

/** The answer to a move sent again: it has been accepted before, under this number, and only once. */
export interface Accepted {
  id?: string | null;
  type: "accepted";
  number: number;
}

/** A sentence of the operator to everybody who is connected. It may come at any time after `welcome`. */
export interface Announcement {
  type: "announcement";
  text: PlainText;
}

/**
 * Ask the other player to finish, once our own race has ended. Only for a server with the capability `ask_finish`.
 *
 * It is told once a round, and changes nothing in the race.
 */
export interface AskFinish {
  /** @defaultValue `null` */
  id?: string | null;
  type: "ask_finish";
}

/** The seat's player is connected. */
export interface Attached {
  type: "attached";
  seat: Seat;
}

/** The score of an attempt that has ended, its rank among those that have ended so far, and how many these are. */
export interface AttemptResult {
  won: boolean;
  placed: number;
  goal: number;
  direct: number;
  time_ms: TimeMs;
  /** An integer from 1. */
  rank: number;
  /** An integer from 1. */
  ended: number;
}

/**
 * Foundations and waste piles, bottom card first; the turned card; the count of cards face down in the stock.
 *
 * `direct` counts stock cards played straight to a foundation. A board with cards in the stock and none turned is
 * waiting to be told the next one: `turn`.
 */
export interface Board {
  layout: Foundation[];
  foundations: Card[][];
  piles: Card[][];
  turned: Card | null;
  stock: number;
  redeals: number;
  direct: number;
}

/**
 * The reason for which a server ends a connection, mostly that the client does not speak the protocol.
 *
 * The last three, `BANNED` and `RESTARTING` are also the answer to a browser whose connection is not admitted.
 */
export type Breach =
  | "bad_json"
  | "unknown_type"
  | "unknown_key"
  | "bad_value"
  | "binary_frame"
  | "hello_first"
  | "hello_twice"
  | "hello_late"
  | "bad_token"
  | "too_fast"
  | "replaced"
  | "banned"
  | "restarting"
  | "internal"
  | "other_site"
  | "too_many_connections"
  | "server_full";

/** The names of things that version 1 of the protocol did not have from the start, and that a program has. */
export type Capabilities = string[];

/** A card: its rank, then its suit, in small letters in the second deck of two. It matches `^[A2-9TJQK][CDHScdhs]$`. */
export type Card = `${Rank}${Suit}`;

/**
 * The code of a refusal or of a breach; a newer server may have some that this version does not know. It matches
 * `^[a-z][a-z0-9_]{0,39}$`.
 */
export type Code = string & {};

/**
 * Open a room and take its first seat. Sent again with the same `key`, it leads to the same room.
 *
 * The key is one of the client's own choice, for this player alone. The server knows it for ten minutes. With
 * `rival_after_seconds`, and the capability `rivals`, a program may take the free seat of a listed room after this
 * time; `rival_level` is the level that is wished for.
 */
export interface Create {
  /** @defaultValue `null` */
  id?: string | null;
  type: "create";
  options?: RequestedOptions;
  /** @defaultValue `null` */
  key?: string | null;
  /** @defaultValue `null` */
  rival_after_seconds?: number | null;
  /** @defaultValue `null` */
  rival_level?: string | null;
}

/**
 * Create a tournament, and enter it; the answer is `tournament`, as to the five below. Only with the capability
 * `tournaments`.
 *
 * `rounds` null: as many as the format needs. `most_players` may enter. With `rival_level`, rivals fill it up to
 * `most_players` when it is started. A player has `ready_seconds` to get ready for a round, and `limit_seconds` for a
 * race. The same `key` again leads to the same tournament.
 */
export interface CreateTournament {
  /** @defaultValue `null` */
  id?: string | null;
  type: "create_tournament";
  /** @defaultValue `"classic"` */
  rules?: RulesName;
  /** @defaultValue `"swiss"` */
  format?: TournamentFormat;
  /** @defaultValue `null` */
  rounds?: number | null;
  /** An integer from 2 to 128. @defaultValue `16` */
  most_players?: number;
  /** @defaultValue `null` */
  rival_level?: string | null;
  /** An integer from 5 to 3600. @defaultValue `120` */
  ready_seconds?: number;
  /** An integer from 30 to 3600. @defaultValue `1200` */
  limit_seconds?: number;
  /** @defaultValue `null` */
  key?: string | null;
}

/**
 * Begin the attempt at the daily deal of a variant, or come back to it; the answer is `daily_view`. Only with the
 * capability `daily`.
 *
 * `day` is that of the attempt, null for today. A player has one attempt at each deal.
 */
export interface Daily {
  /** @defaultValue `null` */
  id?: string | null;
  type: "daily";
  /** @defaultValue `"classic"` */
  rules?: RulesName;
  /** @defaultValue `null` */
  day?: string | null;
}

/**
 * The parts of a daily deal's seal that are known while its day is under way.
 *
 * `commitment` stands in the chain of rounds before the day began. `beacon` is the chain of the entry `beacon_number`,
 * the last one before the day. In a deal that was announced as `-drand-daily`, `beacon` is the SHA-256 of `drand`, the
 * signature of the drand round `beacon_number`.
 */
export interface DailySeal {
  round: Hex16;
  commitment: Hex32;
  beacon_number: TimeMs;
  beacon: Hex32;
  drand: Hex48 | null;
}

/**
 * The answer to `daily`, with all entries of the attempt, and to `play_daily`, with those of the move.
 *
 * The entries are those of a room's view in seat 0. `moves` counts the moves accepted so far; `seal` is there in the
 * answer to `daily`, `result` once the attempt has ended.
 */
export interface DailyView {
  id?: string | null;
  type: "daily_view";
  /** It matches `^[0-9]{4}-[0-9]{2}-[0-9]{2}$`. */
  day: string;
  rules: RulesName;
  until_ms: TimeMs;
  now_ms: TimeMs;
  moves: number;
  entries: Entry[];
  seal: DailySeal | null;
  result: AttemptResult | null;
}

/**
 * The cards are dealt, and the countdown runs until this time.
 *
 * `envelopes` holds, for each sealed pass, one hash a position.
 *
 * With `piles` and `redeals` it is all that a client needs to lay the board out, whatever the variant. `step` is there
 * only in certified rooms: the first step whose deal is proved winnable.
 */
export interface Dealt {
  type: "dealt";
  /** It has 1 to 8 items. */
  layout: Foundation[];
  starters: Card[];
  markers: Card[];
  /** An integer from 1 to 8. */
  piles: number;
  /** An integer from 0. */
  redeals: number;
  /** It has 1 items or more. */
  envelopes: Hex32[][];
  until_ms: TimeMs;
  step?: number | null;
}

/** The seat's player lost the connection; the seat waits until this time. */
export interface Detached {
  type: "detached";
  seat: Seat;
  until_ms: TimeMs;
}

/**
 * An offer to a player, before its race: the room's address, where a client may go on, or not.
 *
 * This connection came by another path, and another process may serve the room by preference.
 */
export interface Elsewhere {
  type: "elsewhere";
  room: RoomCode;
}

/** How one seat's race ended. */
export type Ending =
  | "won"
  | "stuck"
  | "stopped"
  | "out_of_time"
  | "away"
  | "resigned"
  | "not_revealed"
  /**
 * The seat was still racing when the other seat placed every card, resigned or did not reveal its entropy.
 *
 * In a room with credit: when it could no longer be first by corrected time.
 */
  | "round_over";

/** One entry of a view. */
export type Entry =
  | Seated
  | SeatFreed
  | Attached
  | Detached
  | Paused
  | RoundOpened
  | RoundVoided
  | PlayerReady
  | Revealed
  | Dealt
  | Started
  | Turned
  | Moved
  | Stopped
  | FinishAsked
  | RoundFinished
  | RematchWanted
  | RoomClosed;

/** The protocol was broken, the connection is not admitted, or the server has a fault; it closes behind this. */
export interface Error {
  type: "error";
  code: Breach | Code;
  sentence: string;
}

/** A player whose race has ended asks the other one to finish: once a round at most. It changes nothing. */
export interface FinishAsked {
  type: "finish_asked";
  seat: Seat;
}

/** One foundation: the rank it starts from, the step from card to card, and how many cards complete it. */
export interface Foundation {
  start: number;
  step: number;
  length: number;
}

/** Ask for a page of the lobby, from 0. */
export interface GetLobby {
  /** @defaultValue `null` */
  id?: string | null;
  type: "get_lobby";
  /** An integer from 0 to 100000. @defaultValue `0` */
  page?: number;
}

/** Ask for the record of a match: of `match`, or of the last match finished in this room. */
export interface GetRecord {
  /** @defaultValue `null` */
  id?: string | null;
  type: "get_record";
  /** @defaultValue `null` */
  match?: Hex16 | null;
}

/**
 * The first word on every connection. Without a token the server makes a new player and answers with its token.
 *
 * `capabilities` are those that the client has, such as `certified`.
 */
export interface Hello {
  /** @defaultValue `null` */
  id?: string | null;
  type: "hello";
  /** @defaultValue `null` */
  token?: Token | null;
  /** @defaultValue `null` */
  name?: Name | null;
  /** It has 0 to 60 characters. @defaultValue `""` */
  client?: string;
  /** @defaultValue `[]` */
  capabilities?: Capabilities;
}

/** 16 bytes as hexadecimal text in small letters. It matches `^[0-9a-f]{32}$`. */
export type Hex16 = string;

/** 32 bytes as hexadecimal text in small letters. It matches `^[0-9a-f]{64}$`. */
export type Hex32 = string;

/** 48 bytes as hexadecimal text in small letters. It matches `^[0-9a-f]{96}$`. */
export type Hex48 = string;

/** 64 bytes as hexadecimal text in small letters. It matches `^[0-9a-f]{128}$`. */
export type Hex64 = string;

/** Take a free seat of a room, or come back to the seat that this player already has. */
export interface Join {
  /** @defaultValue `null` */
  id?: string | null;
  type: "join";
  room: RoomCode;
}

/** Enter a tournament that has not begun. */
export interface JoinTournament {
  /** @defaultValue `null` */
  id?: string | null;
  type: "join_tournament";
  tournament: RoomCode;
}

/** Leave the room. Once both players are ready, a player who leaves resigns. */
export interface Leave {
  /** @defaultValue `null` */
  id?: string | null;
  type: "leave";
}

/** Wait no longer. Answered by `left_queue`, or refused if a room has been entered meanwhile. */
export interface LeaveQueue {
  /** @defaultValue `null` */
  id?: string | null;
  type: "leave_queue";
}

/** Leave a tournament: before it begins as if one had never entered, later for good. */
export interface LeaveTournament {
  /** @defaultValue `null` */
  id?: string | null;
  type: "leave_tournament";
  tournament: RoomCode;
}

/** The answer to `leave`: this connection is in no room any more. */
export interface Left {
  id?: string | null;
  type: "left";
}

/** The answer to `leave_queue`. It comes by itself when the same player queues over another connection. */
export interface LeftQueue {
  id?: string | null;
  type: "left_queue";
}

/**
 * A room as the lobby knows it: nothing of a round but whether there is one. `since_ms`: when that began.
 *
 * With `rival_after_seconds` a program may take the free seat once the room has waited so long; null if none may.
 * `certified` is there only if its deals are. `watching` and `placed` are those of the last seconds: the number of
 * spectators, and the cards that each player has placed, null outside of a race and in a room without spectators.
 */
export interface ListedRoom {
  room: RoomCode;
  phase: Phase;
  names: [Name | null, Name | null];
  wins: [number, number];
  rules: string;
  piles: number;
  redeals: number;
  best_of: number;
  spectators: Spectators;
  since_ms: TimeMs;
  rival_after_seconds: number | null;
  rival_level: string | null;
  certified?: 1 | null;
  watching: number;
  placed: [number, number] | null;
}

/** A page of the listed rooms: those with a free seat first, then the newest. `total` counts all of them. */
export interface LobbyPage {
  id?: string | null;
  type: "lobby";
  page: number;
  pages: number;
  total: number;
  rooms: ListedRoom[];
}

/**
 * A random tag that all events of one append share.
 *
 * A client sends back the tag of the last entry that it saw, so that a server can tell whether its log still holds what
 * the client saw. It matches `^[0-9a-f]{8}$`.
 */
export type LogTag = string;

/** The record of a finished match, line by line, ready to be written to a file. */
export interface MatchRecord {
  id?: string | null;
  type: "record";
  match: Hex16;
  lines: string[];
}

/**
 * A move: its source, then its target, such as `sa`, `s2`, `b4`; or `redeal`, `stop`, `resign`. It matches
 * `^([sa-h][1-8a-h]|redeal|stop|resign)$`.
 */
export type Move = `s${FoundationDigit | PileLetter}` | `${PileLetter}${FoundationDigit | PileLetter}` | MoveWord;

/** A seat's accepted move, its number, and the card that moved. To the mover it is the acknowledgement. */
export interface Moved {
  type: "moved";
  seat: Seat;
  /** An integer from 1. */
  number: number;
  move: Move;
  card: Card | null;
}

/** A player's name: letters, digits, underscore and hyphen, 2 to 20 of them. It matches `^[A-Za-z0-9_-]{2,20}$`. */
export type Name = string;

/**
 * The result of a round: the winning seat, or None for a draw, and each seat's score.
 *
 * `ledger` has the times of both seats, if one placed every card in a room with credit; None otherwise.
 */
export interface Outcome {
  winner: number | null;
  scores: Score[];
  ledger: [Timing, Timing] | null;
}

/** All servers, or their Redis, were away for so long. Clocks stood still: every deadline is later by that. */
export interface Paused {
  type: "paused";
  length_ms: TimeMs;
}

/** Where a room stands. */
export type Phase = "waiting" | "ready" | "dealing" | "countdown" | "racing" | "finished" | "closed";

/** Ask for a sign of life: a browser cannot send WebSocket pings. */
export interface Ping {
  /** @defaultValue `null` */
  id?: string | null;
  type: "ping";
}

/** On a fixed tick, the cards on each seat's foundations, starters included: all that is told of a leader. */
export interface Placed {
  type: "placed";
  placed: [number, number];
}

/**
 * A sentence of the operator: one line of printable characters. It may hold markup, so show it as it is. It has 1 to
 * 500 characters.
 */
export type PlainText = string;

/** A move. `number` counts this seat's accepted moves of the round, from 1; a refusal uses none. */
export interface Play {
  /** @defaultValue `null` */
  id?: string | null;
  type: "play";
  /** An integer from 1 to 100000. */
  number: number;
  move: Move;
}

/** A move in the attempt at a daily deal. `number` counts the accepted moves of the attempt, from 1. */
export interface PlayDaily {
  /** @defaultValue `null` */
  id?: string | null;
  type: "play_daily";
  rules: RulesName;
  /** It matches `^[0-9]{4}-[0-9]{2}-[0-9]{2}$`. */
  day: string;
  /** An integer from 1 to 100000. */
  number: number;
  move: Move;
}

/** A move in the race of a round. `number` counts the accepted moves of the race, from 1. */
export interface PlayTournament {
  /** @defaultValue `null` */
  id?: string | null;
  type: "play_tournament";
  tournament: RoomCode;
  /** An integer from 1 to 128. */
  round: number;
  /** An integer from 1 to 100000. */
  number: number;
  move: Move;
}

/**
 * A player is ready, bound to the entropy behind this hash. `until_ms`: both are, and reveal until this time.
 *
 * It is null for the first player who is ready.
 */
export interface PlayerReady {
  type: "player_ready";
  seat: Seat;
  entropy_hash: Hex32;
  until_ms: TimeMs | null;
}

/** The answer to `ping`, with the server's clock. */
export interface Pong {
  id?: string | null;
  type: "pong";
  now_ms: TimeMs;
}

/**
 * Wait for an opponent who wants to race by the same rules; the answers are `queued`, and then the `snapshot` of the
 * room of the two. Only with the capability `race_queue`.
 *
 * With `rival_after_seconds` a program may become the opponent after this time; `rival_level` is the level that is
 * wished for.
 */
export interface Queue {
  /** @defaultValue `null` */
  id?: string | null;
  type: "queue";
  /** @defaultValue `"classic"` */
  rules?: RulesName;
  /** @defaultValue `null` */
  rival_after_seconds?: number | null;
  /** @defaultValue `null` */
  rival_level?: string | null;
}

/**
 * The answer to `queue`, sent again whenever `waiting` changes: how many players wait for these rules, this one among
 * them. `since_ms`: when this player began to wait.
 *
 * Without an `id`, it may come to a player in a room whose opponent did not arrive, or to which no program came before
 * a person was found: the player has left the room, and waits in the queue again.
 */
export interface Queued {
  id?: string | null;
  type: "queued";
  rules: RulesName;
  since_ms: TimeMs;
  waiting: number;
}

/** The score of a race that has ended, by which the races of a pair are compared: in the order of these fields. */
export interface RaceScore {
  won: boolean;
  /** An integer from 0. */
  placed: number;
  /** An integer from 0. */
  direct: number;
  time_ms: TimeMs;
}

/** Begin the race of a round, or come back to it; the answer is `tournament_race`. */
export interface RaceTournament {
  /** @defaultValue `null` */
  id?: string | null;
  type: "race_tournament";
  tournament: RoomCode;
  /** An integer from 1 to 128. */
  round: number;
}

/** Ready for this round, with the hash of this player's own 32 random bytes. */
export interface Ready {
  /** @defaultValue `null` */
  id?: string | null;
  type: "ready";
  round: Hex16;
  entropy_hash: Hex32;
}

/** A player who is ready for a round: the hash of its entropy, and the entropy once it is shown. */
export interface ReadyEntrant {
  name: Name;
  entropy_hash: Hex32;
  entropy: Hex32 | null;
}

/** Get ready for a round, bound to the entropy behind this hash. */
export interface ReadyTournament {
  /** @defaultValue `null` */
  id?: string | null;
  type: "ready_tournament";
  tournament: RoomCode;
  /** An integer from 1 to 128. */
  round: number;
  entropy_hash: Hex32;
}

/** A request that may not be; the connection goes on, and nothing changes, but with `IN_DOUBT`. */
export type Refusal =
  /** There is no room with this code; ask for it again, or create one. */
  | "no_such_room"
  /** Both seats of this room are taken; you can watch it. */
  | "room_full"
  /** This room is closed; create a new one. */
  | "room_closed"
  /** This connection is in a room already; leave it first. */
  | "already_in_room"
  /** This connection is in no room; create, join or watch one first. */
  | "not_in_room"
  /** You wait for an opponent already; leave the queue first. */
  | "already_queued"
  /** You do not wait for an opponent. */
  | "not_queued"
  /** You have no seat in this room; join it first. */
  | "not_seated"
  /** The players of this room do not want to be watched. */
  | "no_spectators"
  /** You have a seat in this room, so you cannot watch it; join it to come back to your seat. */
  | "already_seated"
  /** Somebody else uses this name now; choose another one. */
  | "name_taken"
  /** This token is known already; draw another one at random. */
  | "token_taken"
  /** Too many new players come from your address; try again in some minutes. */
  | "too_many_players"
  /** You have opened many rooms lately; use one of them, or wait ten minutes. */
  | "too_many_rooms"
  /** Too many rounds begin at your address; try again in some minutes. */
  | "too_many_rounds"
  /** Too many codes from your address led to no room; try again in some minutes, or join a room of the lobby. */
  | "too_many_misses"
  /** Nobody plays these rules. */
  | "bad_rules"
  /** Your client lacks what this room needs; a newer one has it. */
  | "missing_capability"
  /** This is not the time for that. */
  | "wrong_phase"
  /** This round is not open any more; the newest one is. */
  | "wrong_round"
  /** You are ready already; a hash once sent stays. */
  | "already_ready"
  /** These bytes do not belong to the hash that you sent with ready. */
  | "wrong_entropy"
  /** There is no such record: no match was finished here yet, or none of this id is kept. */
  | "no_record"
  /** There is no daily deal of these rules on this day, or none that you may begin now. */
  | "no_daily_deal"
  /** There is no tournament with this code; ask for it again, or create one. */
  | "no_such_tournament"
  /** No more players may enter this tournament; you can watch it. */
  | "tournament_full"
  /** You are not a player of this round: you have not entered the tournament, or have left it. */
  | "not_entered"
  /** Only the player who created this tournament starts it. */
  | "not_creator"
  /** The race has not started yet. */
  | "race_not_started"
  /** The race is over. */
  | "race_over"
  /** Your race has ended; your count stands. */
  | "seat_stopped"
  /** A later move of yours has been accepted already. */
  | "number_old"
  /** Another move of yours has been accepted under this number. */
  | "number_repeated"
  /** This number is ahead of your moves. */
  | "number_future"
  /** The stock is empty: no card is turned. Play from the waste, or redeal. */
  | "nothing_turned"
  /** There is no such foundation in these rules. */
  | "no_such_foundation"
  /** There is no such waste pile in these rules. */
  | "no_such_pile"
  /** This foundation is complete. */
  | "foundation_complete"
  /** This foundation needs another rank. */
  | "rank_not_needed"
  /** This waste pile is empty. */
  | "pile_empty"
  /** Cards never move from one waste pile to another. */
  | "pile_to_pile"
  /** Redeal only when the stock is empty and no card is turned. */
  | "card_still_turned"
  /** These rules have no redeal, or none is left. */
  | "no_redeal_left"
  /** The server cannot store anything right now; try again in a moment. */
  | "try_again"
  /** The server cannot tell whether this was stored; send the very same again in a moment. */
  | "in_doubt";

/** A request was refused, nothing changed. `number` is the refused move's. */
export interface Refused {
  id?: string | null;
  type: "refused";
  to: string;
  code: Refusal | Code;
  sentence: string;
  number: number | null;
}

/** After a match: play another one here. It starts when both players have asked. */
export interface Rematch {
  /** @defaultValue `null` */
  id?: string | null;
  type: "rematch";
}

/** A player asked for another match. */
export interface RematchWanted {
  type: "rematch_wanted";
  seat: Seat;
}

/**
 * Take another token, of the client's own choice, and lose the present one, which somebody else may know.
 *
 * Keep the new token before this is sent: if the answer is lost, one of the two is right. Draw its 32 bytes at random.
 */
export interface Renew {
  /** @defaultValue `null` */
  id?: string | null;
  type: "renew";
  token: Token;
}

/** The answer to `renew`: from now on only the new token is that of this player. */
export interface Renewed {
  id?: string | null;
  type: "renewed";
}

/**
 * Rules with their parameters, length of the match, and the clocks of a round in seconds.
 *
 * A `listed` room stands in the lobby: strangers may join it, and watch it. `certified` is the number of the procedure
 * by which deals are certified, and `credit` that of the procedure by which distance is credited; each is left out
 * where it is not used, so that the terms of such rooms have no word of it.
 */
export interface RequestedOptions {
  /** @defaultValue `"classic"` */
  rules?: RulesName;
  /** @defaultValue `null` */
  piles?: number | null;
  /** @defaultValue `null` */
  redeals?: number | null;
  /** @defaultValue `1` */
  best_of?: 1 | 3 | 5 | 7 | 9;
  /** An integer from 10 to 7200. @defaultValue `1200` */
  limit_seconds?: number;
  /** An integer from 5 to 7200. @defaultValue `180` */
  chase_seconds?: number;
  /** An integer from 1 to 3600. @defaultValue `60` */
  grace_seconds?: number;
  /** An integer from 5 to 3600. @defaultValue `300` */
  ready_seconds?: number;
  /** An integer from 1 to 60. @defaultValue `10` */
  reveal_seconds?: number;
  /** An integer from 5 to 3600. @defaultValue `600` */
  idle_seconds?: number;
  /** An integer from 0 to 10. @defaultValue `3` */
  countdown_seconds?: number;
  /** @defaultValue `"horizon"` */
  spectators?: Spectators;
  /** @defaultValue `false` */
  direct_breaks_ties?: boolean;
  /** @defaultValue `false` */
  listed?: boolean;
  /** @defaultValue `null` */
  certified?: 1 | null;
  /** @defaultValue `null` */
  credit?: 1 | null;
}

/**
 * Come back to a seat and get what follows this position of the seat's view; 0 asks for a snapshot.
 *
 * `tag` is what the server sent with that position. If its log holds another one there, it answers with a snapshot, as
 * it does without a tag.
 */
export interface Resume {
  /** @defaultValue `null` */
  id?: string | null;
  type: "resume";
  room: RoomCode;
  /** An integer from 0. */
  position: number;
  /** @defaultValue `null` */
  tag?: LogTag | null;
}

/** The 32 bytes behind the hash, once both players are ready. */
export interface Reveal {
  /** @defaultValue `null` */
  id?: string | null;
  type: "reveal";
  round: Hex16;
  entropy: Hex32;
}

/** Show the entropy, once the hashes of all who are ready are shown. */
export interface RevealTournament {
  /** @defaultValue `null` */
  id?: string | null;
  type: "reveal_tournament";
  tournament: RoomCode;
  /** An integer from 1 to 128. */
  round: number;
  entropy: Hex32;
}

/** A player showed its entropy. */
export interface Revealed {
  type: "revealed";
  seat: Seat;
  entropy: Hex32;
}

/** The room is gone: nobody came back to it in time, or the operator has closed it, for this `reason`. */
export interface RoomClosed {
  type: "room_closed";
  reason: PlainText | null;
}

/**
 * A room's code, words joined by hyphens. Everybody who knows the code may join or watch the room. It matches
 * `^[a-z]+(-[a-z]+){1,5}$`.
 */
export type RoomCode = `${string}-${string}`;

/**
 * Rules with their parameters, length of the match, and the clocks of a round in seconds.
 *
 * A `listed` room stands in the lobby: strangers may join it, and watch it. `certified` is the number of the procedure
 * by which deals are certified, and `credit` that of the procedure by which distance is credited; each is left out
 * where it is not used, so that the terms of such rooms have no word of it.
 */
export interface RoomOptions {
  rules: RulesName;
  piles: number | null;
  redeals: number | null;
  best_of: 1 | 3 | 5 | 7 | 9;
  /** An integer from 10 to 7200. */
  limit_seconds: number;
  /** An integer from 5 to 7200. */
  chase_seconds: number;
  /** An integer from 1 to 3600. */
  grace_seconds: number;
  /** An integer from 5 to 3600. */
  ready_seconds: number;
  /** An integer from 1 to 60. */
  reveal_seconds: number;
  /** An integer from 5 to 3600. */
  idle_seconds: number;
  /** An integer from 0 to 10. */
  countdown_seconds: number;
  spectators: Spectators;
  direct_breaks_ties: boolean;
  listed: boolean;
  certified?: 1 | null;
  credit?: 1 | null;
}

/** The result of a round, the rounds won by each seat in this match, and the secret behind the commitment. */
export interface RoundFinished {
  type: "round_finished";
  outcome: Outcome;
  wins: [number, number];
  match_is_over: boolean;
  duration_ms: TimeMs;
  secret: Hex32;
}

/**
 * A round can be made ready for until this time; it has this number in its match.
 *
 * `match` is the id of that match, and of its first round.
 *
 * `signature` binds the server to the secret behind `commitment`, and to the terms, before anybody is ready.
 */
export interface RoundOpened {
  type: "round_opened";
  round: Hex16;
  match: Hex16;
  /** An integer from 1 to 9. */
  round_number: number;
  commitment: Hex32;
  signature: Hex64;
  until_ms: TimeMs;
}

/** The open round was called off before both players were ready; its commitment is opened all the same. */
export interface RoundVoided {
  type: "round_voided";
  round: Hex16;
  secret: Hex32;
}

/**
 * The signed end of the server's chain of rounds: the newest entry's number and chain, as Redis had it `at_ms`.
 *
 * Number 0, with a chain of zeros, is a chain without entries.
 */
export interface RoundsHead {
  number: TimeMs;
  chain: Hex32;
  at_ms: TimeMs;
  signature: Hex64;
}

/** The name of a variant, such as `classic`. It matches `^[A-Za-z0-9-]{1,40}$`. */
export type RulesName = string;

/** How many cards a player has placed in the race of the round under way, and whether that race has ended. */
export interface RunningCount {
  name: Name;
  /** An integer from 0. */
  placed: number;
  ended: boolean;
}

/** A room and its round in the eyes of one viewer. */
export interface Scene {
  options: RoomOptions;
  phase: Phase;
  seats: [SeatScene, SeatScene];
  /** The id of the match that the round belongs to, which is that of its first round. */
  match: Hex16 | null;
  round: Hex16 | null;
  /** An integer from 0 to 9. */
  round_number: number;
  commitment: Hex32 | null;
  signature: Hex64 | null;
  secret: Hex32 | null;
  markers: Card[];
  envelopes: Hex32[][];
  /** When the present phase ends by itself, or None if it does not; ready, dealing, countdown and race do. */
  until_ms: TimeMs | null;
  outcome: Outcome | null;
  duration_ms: number | null;
  match_is_over: boolean;
  step?: number | null;
}

/** The score of a seat in its race. `cards_turned` counts the stock cards that it was shown. */
export interface Score {
  placed: number;
  goal: number;
  direct: number;
  cards_turned: number;
  ending: Ending;
}

/** A seat; people read 0 as 1 and 1 as 2. */
export type Seat = 0 | 1;

/** A player gave a seat up, was not ready in time, or stayed away; or the operator closes the room. */
export interface SeatFreed {
  type: "seat_freed";
  seat: Seat;
  reason: "left" | "not_ready" | "away" | "closed";
}

/** One seat as far as the viewer has seen it. `turn` is that of the last turned card shown. */
export interface SeatScene {
  name: Name | null;
  is_connected: boolean;
  until_ms: TimeMs | null;
  entropy_hash: Hex32 | null;
  entropy: Hex32 | null;
  wins: number;
  matches_won: number;
  wants_rematch: boolean;
  board: Board | null;
  turn: Turn | null;
  moves: number;
  has_stopped: boolean;
}

/** A player took a seat. */
export interface Seated {
  type: "seated";
  seat: Seat;
  name: Name;
}

/** A room as this viewer has seen it, up to and with this position of the viewer's view, under this tag. */
export interface Snapshot {
  id?: string | null;
  type: "snapshot";
  room: RoomCode;
  seat: Seat | null;
  position: number;
  tag: LogTag;
  now_ms: TimeMs;
  scene: Scene;
}

/** The view of spectators: up to the horizon, everything at once, or nothing. */
export type Spectators = "horizon" | "open" | "closed";

/**
 * A player of a tournament: its rank, and that by which it is ranked, in the order of these fields.
 *
 * `points` are 2 for a win, a bye or a walkover, 1 for a tie. `placed` and `direct` are added up over the rounds,
 * `buchholz` is the sum of the opponents' points.
 */
export interface Standing {
  /** An integer from 1. */
  rank: number;
  name: Name;
  /** An integer from 0. */
  points: number;
  /** An integer from 0. */
  placed: number;
  /** An integer from 0. */
  direct: number;
  /** An integer from 0. */
  buchholz: number;
  has_left: boolean;
}

/** Start a tournament; only its creator may. */
export interface StartTournament {
  /** @defaultValue `null` */
  id?: string | null;
  type: "start_tournament";
  tournament: RoomCode;
}

/** The race is on, until this time at the latest. */
export interface Started {
  type: "started";
  until_ms: TimeMs;
}

/**
 * A seat has stopped and keeps its count; the other one has until this time. How it ended is told at the end.
 *
 * In the countdown, when the seat is stopped for being away, the time is that of a race that starts as announced.
 */
export interface Stopped {
  type: "stopped";
  seat: Seat;
  until_ms: TimeMs;
}

/**
 * Milliseconds since 1970 on the server's clock, below 2^53, so that every JSON reader keeps it exact. An integer from
 * 0, below 9007199254740992.
 */
export type TimeMs = number;

/**
 * A seat's race on the clock, in milliseconds since its start; the credit rests on the round trip `rtt_us`.
 *
 * `arrival_ms` is when the seat placed its last card, None if it did not; then there is no corrected time either.
 */
export interface Timing {
  arrival_ms: number | null;
  rtt_us: number;
  credit_ms: number;
  corrected_ms: number | null;
}

/**
 * 256 random bits in unpadded base64url. It gives access to the player's seats: never log it or put it into a URL. It
 * matches `^[A-Za-z0-9_-]{43}$`.
 */
export type Token = string;

/**
 * A tournament as everybody is shown it, also by `GET /tournaments/CODE`.
 *
 * `tournament` is its id. `rounds` is null until it has begun. `until_ms` is the time at which the phase ends by
 * itself, if it does. `wanted` is the number of rivals that may enter now.
 */
export interface Tournament {
  id?: string | null;
  code: RoomCode;
  /** An integer from 0. */
  version: number;
  now_ms: TimeMs;
  type: "tournament";
  tournament: Hex16;
  phase: TournamentPhase;
  creator: Name;
  rules: RulesName;
  format: TournamentFormat;
  rounds: number | null;
  /** An integer from 0. */
  most_players: number;
  rival_level: string | null;
  /** An integer from 0. */
  wanted: number;
  /** An integer from 0. */
  ready_seconds: number;
  /** An integer from 0. */
  limit_seconds: number;
  until_ms: TimeMs | null;
  standings: Standing[];
  played: TournamentRound[];
}

/** How the players of a tournament are paired. */
export type TournamentFormat = "swiss" | "round_robin" | "knockout";

/**
 * The opponents of a round, with the second one null for a bye. `points` are null until the round is over; a score is
 * null for a player who did not race.
 */
export interface TournamentPair {
  names: [Name, Name | null];
  points: [number, number] | null;
  scores: [RaceScore | null, RaceScore | null];
}

/** Where a tournament stands. */
export type TournamentPhase = "open" | "filling" | "gathering" | "revealing" | "racing" | "over" | "cancelled";

/**
 * The answer to `race_tournament`, with all entries of the race, and to `play_tournament`, with those of the move.
 *
 * The entries are those of a room's view in seat 0. `moves` counts the moves accepted so far; `result` is there once
 * the race has ended.
 */
export interface TournamentRace {
  id?: string | null;
  type: "tournament_race";
  code: RoomCode;
  /** An integer from 1 to 128. */
  round: number;
  until_ms: TimeMs;
  now_ms: TimeMs;
  /** An integer from 0. */
  moves: number;
  entries: Entry[];
  result: RaceScore | null;
}

/** A round. `ready` and `started_ms` are there for the newest one, `secret` when the round is over. */
export interface TournamentRound {
  /** An integer from 1 to 128. */
  number: number;
  round: Hex16;
  commitment: Hex32;
  pairs: TournamentPair[];
  ready: ReadyEntrant[];
  started_ms: TimeMs | null;
  secret: Hex32 | null;
}

/** The answer to `watch_tournament` while nothing has changed but the counts of the races under way. */
export interface TournamentTick {
  id?: string | null;
  code: RoomCode;
  /** An integer from 0. */
  version: number;
  now_ms: TimeMs;
  type: "tournament_tick";
  counts: RunningCount[];
}

/**
 * How far a player has seen. Turns compare in the order in which a player reaches them.
 *
 * `position` is a position in the committed order of *all* stock cards of the pass, from 0. An empty stock is one more
 * turn: the position after the last card.
 */
export type Turn = [number, number];

/** A seat turned a stock card: `turn` is its pass and its position there; the salt opens its envelope. */
export interface Turned {
  type: "turned";
  seat: Seat;
  turn: Turn;
  card: Card;
  salt: Hex32;
}

/** A version of Fairest, as Python packages write it, such as `0.2.0`. It matches `^[0-9A-Za-z.+!-]{1,60}$`. */
export type Version = string;

/** The next entries of this viewer's view, up to and with this position of it, under this tag. */
export interface View {
  id?: string | null;
  type: "view";
  position: number;
  tag: LogTag;
  entries: Entry[];
}

/** See a room as a spectator. */
export interface Watch {
  /** @defaultValue `null` */
  id?: string | null;
  type: "watch";
  room: RoomCode;
}

/**
 * Ask for a tournament. `version` is the newest one that is known; while there is no newer one, the answer is
 * `tournament_tick`. Ask about once a second.
 */
export interface WatchTournament {
  /** @defaultValue `null` */
  id?: string | null;
  type: "watch_tournament";
  tournament: RoomCode;
  /** An integer from 0, below 2147483648. @defaultValue `0` */
  version?: number;
}

/** How many connections watch the room as spectators, about once a second and only when it has changed. */
export interface Watching {
  type: "watching";
  watching: number;
}

/**
 * The answer to `hello`. `token` is there only for a new player, once: keep it where nobody else reads it.
 *
 * `key` checks this server's signatures; it stays the same for as long as the deployment lives. `version` is that of
 * the server. `rounds` is the head of its chain of rounds; null while it cannot be read. `capabilities` are those that
 * the server has, such as `rivals`. `rooms` are the newest rooms in which this player has a seat, the newest first;
 * null while they cannot be read. `tournaments` are the newest tournaments that this player has entered and that are
 * not over, likewise.
 */
export interface Welcome {
  id?: string | null;
  type: "welcome";
  name: Name;
  token: Token | null;
  key: Hex32;
  now_ms: TimeMs;
  version: Version;
  rounds: RoundsHead | null;
  capabilities: Capabilities;
  rooms: RoomCode[] | null;
  tournaments: RoomCode[] | null;
}
