// The scene of a room: all that this viewer was shown, folded from the entries of its view as the table in
// docs/protocol.md says ("The view and its positions"). Entries and fields of later servers change nothing.
import { changed, play, turn } from "./board.js";

const NEW_SEAT = {
  name: null, is_connected: false, until_ms: null, entropy_hash: null, entropy: null, wins: 0, matches_won: 0, wants_rematch: false,
  board: null, turn: null, moves: 0, has_stopped: false,
};
const NEW_ROUND = {
  match: null, round: null, round_number: 0, commitment: null, signature: null, secret: null, markers: [],
  envelopes: [], until_ms: null, outcome: null, duration_ms: null, match_is_over: false,
};

const withSeat = (scene, seat, fields) => ({ ...scene, seats: changed(scene.seats, seat, (old) => ({ ...old, ...fields })) });
const withBoards = (scene, change) => ({ ...scene, seats: scene.seats.map((seat) => ({ ...seat, ...change(seat) })) });
const later = (until_ms, length_ms) => (until_ms === null ? null : until_ms + length_ms);

/** For each type of entry, the scene after it. */
const FOLDS = {
  seated: (scene, { seat, name }) => withSeat(scene, seat, { name }),
  seat_freed(scene, { seat }) {
    const seats = scene.seats.map(({ name, is_connected, until_ms }, place) =>
      (place === seat ? NEW_SEAT : { ...NEW_SEAT, name, is_connected, until_ms }));
    return { ...scene, seats, phase: "waiting", until_ms: null };
  },
  attached: (scene, { seat }) => withSeat(scene, seat, { is_connected: true, until_ms: null }),
  detached: (scene, { seat, until_ms }) => withSeat(scene, seat, { is_connected: false, until_ms }),
  paused: (scene, { length_ms }) => ({
    ...withBoards(scene, (seat) => ({ until_ms: later(seat.until_ms, length_ms) })),
    until_ms: later(scene.until_ms, length_ms),
  }),
  round_opened(scene, { round, match, round_number, commitment, signature, until_ms }) {
    const seats = scene.seats.map(({ name, is_connected, until_ms: away, wins, matches_won }) =>
      ({ ...NEW_SEAT, name, is_connected, until_ms: away, wins: round_number === 1 ? 0 : wins, matches_won }));
    const opened = { ...NEW_ROUND, round, match, round_number, commitment, signature, until_ms };
    return { options: scene.options, phase: "ready", seats, ...opened };
  },
  round_voided: (scene, { secret }) => ({ ...scene, secret, phase: "waiting", until_ms: null }),
  player_ready(scene, { seat, entropy_hash, until_ms }) {
    const after = withSeat(scene, seat, { entropy_hash });
    return after.seats.every((each) => each.entropy_hash) ? { ...after, phase: "dealing", until_ms } : after;
  },
  revealed: (scene, { seat, entropy }) => withSeat(scene, seat, { entropy }),
  dealt(scene, { layout, starters, markers, piles, redeals, envelopes, until_ms, step }) {
    const board = {
      layout,
      foundations: layout.map((_, place) => starters.slice(place, place + 1)),
      piles: Array.from({ length: piles }, () => []),
      turned: null,
      stock: envelopes[0].length,
      redeals,
      direct: 0,
    };
    return { ...withBoards(scene, () => ({ board })), markers, envelopes, until_ms, phase: "countdown", ...(step === undefined ? {} : { step }) };
  },
  started: (scene, { until_ms }) => ({ ...scene, phase: "racing", until_ms }),
  turned: (scene, { seat, turn: at, card }) =>
    withSeat(scene, seat, { board: turn(scene.seats[seat].board, card), turn: at }),
  moved(scene, { seat, number, move }) {
    const { board } = scene.seats[seat];
    const changes = move !== "stop" && move !== "resign";
    return withSeat(scene, seat, { moves: number, board: changes ? play(board, move) : board });
  },
  stopped(scene, { seat, until_ms }) {
    const after = withSeat(scene, seat, { has_stopped: true });
    return scene.phase === "racing" ? { ...after, until_ms } : after;
  },
  round_finished(scene, { outcome, duration_ms, match_is_over, secret, wins }) {
    const seats = scene.seats.map((seat, place) => {
      const hasWonMatch = match_is_over && wins[place] > wins[1 - place];
      return { ...seat, wins: wins[place], matches_won: (seat.matches_won ?? 0) + Number(hasWonMatch), has_stopped: true };
    });
    return { ...scene, seats, outcome, duration_ms, match_is_over, secret, phase: "finished", until_ms: null };
  },
  rematch_wanted: (scene, { seat }) => withSeat(scene, seat, { wants_rematch: true }),
  room_closed: (scene) => ({ ...scene, phase: "closed", until_ms: null }),
};

/** Return the scene of a room without its last round, as that of a room in which nothing was dealt yet. */
export function betweenMatches({ options, seats }) {
  const kept = seats.map(({ name, is_connected, until_ms }) => ({ ...NEW_SEAT, name, is_connected, until_ms }));
  return { ...NEW_ROUND, options, phase: "waiting", seats: kept };
}

/** Return the scene after an entry; the scene itself for an entry of a type that is not known here. */
export const afterEntry = (scene, entry) => (Object.hasOwn(FOLDS, entry.type) ? FOLDS[entry.type](scene, entry) : scene);
