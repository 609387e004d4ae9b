// Our race in a round of a tournament as the page knows it, with the checks that hold the server to the round's deal, as
// `fairest` makes them. Races are values; nothing changes them.
import { goalOf, placedOn } from "./board.js";
import { afterSolo, beginSolo, demand, isSame, isSameScore, ownOf } from "./solo_game.js";

const WHAT = "the round's deal";

/**
 * Return our race as the answer to `race_tournament` shows it: the race with its `code`, `number`, `until_ms`, `moves` and
 * `result`. `witness` is what we know of the round, `known` the same race as we knew it before, or null. Throws `Cheated`.
 */
export function beginRace(rules, witness, answer, known = null) {
  const { code, round: number, until_ms } = answer;
  const begun = { ...beginSolo(WHAT, rules, witness.round, answer.entries), code, number, until_ms };
  const game = withResult({ ...begun, moves: movesIn(answer), result: null }, answer);
  const isAsBefore = (!witness.envelopes.length || isSame(witness.envelopes, game.scene.envelopes))
    && isSame(witness.moves, game.moves.slice(0, witness.moves.length))
    && (!witness.result || isSameScore(witness.result, game.result))
    && (!known || ownOf(game).moves >= ownOf(known).moves);
  demand(isAsBefore, `The server shows another race of ours in round ${number} than before.`);
  return game;
}

/** Return our race after the answer to a move. Throws `Cheated`. */
export function afterRace(game, answer) {
  demand(answer.code === game.code && answer.round === game.number, "The server answers a move with another race.");
  const moves = [...game.moves, ...movesIn(answer)];
  return withResult({ ...afterSolo(game, answer.entries), moves, until_ms: answer.until_ms }, answer);
}

/** Return what we know of a round after our race in it was shown, or a move of it. */
export const withRace = (witness, { scene, moves, result }) => ({ ...witness, envelopes: scene.envelopes, moves, result });

const movesIn = ({ entries }) => entries.filter(({ type }) => type === "moved").map(({ move }) => move);

/** Return the race with the result that the server shows, which has to be that of our board. */
function withResult(game, { moves, result }) {
  const { moves: shown, board } = ownOf(game);
  demand(moves === shown, `The server counts ${moves} moves of ours, and has shown ${shown}.`);
  if (!result) return { ...game, result: null };
  const placed = placedOn(board);
  const isOurs = isSame([result.won, result.placed, result.direct], [placed === goalOf(board), placed, board.direct]);
  demand(isOurs, "The result of our race is not that of our board.");
  return { ...game, result };
}
