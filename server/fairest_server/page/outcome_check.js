// The outcome of a round, checked: the moves that were shown, replayed on the deal, lead to it. Functions throw `Cheated`.
import { goalOf, legalMoves, placedOn } from "./board.js";
import { DECISIVE, WrongRace, after, startRace, winnerOf } from "./race.js";
import DATA from "./record_data.js";
import { Cheated } from "./cheated.js";

const demand = (condition, sentence) => {
  if (!condition) throw new Cheated(sentence);
};
const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);
const BROKEN_OFF = ["out_of_time", "away", "resigned", "round_over"];

/** Throw `Cheated` for a result before both players were ready: until then a round can only be called off. */
export function checkBothReady(seats) {
  const areReady = seats.every((each) => each.entropy_hash !== null);
  demand(areReady, "The server ends the round with a result before both players were ready.");
}

/** Replay the turns and moves of each seat, in `shown`, and compare the outcome with them. */
export function checkOutcome({ piles, redeals, direct_breaks_ties: breaksTies }, deal, shown, outcome) {
  outcome.scores.forEach((score, seat) => {
    const { board, seen, ending } = replay(startRace(deal, piles, redeals), seat, shown[seat]);
    const counted = [placedOn(board), goalOf(board), board.direct, shown[seat].length ? seen : 0];
    const isCounted = isSame([score.placed, score.goal, score.direct, score.cards_turned], counted);
    demand(isCounted, `The result counts other cards for seat ${seat + 1} than it has placed.`);
    const mayEnd = ending ? score.ending === ending : BROKEN_OFF.includes(score.ending);
    demand(mayEnd, `Seat ${seat + 1} is said to have ended as ${score.ending}, which its race does not bear out.`);
  });
  checkWinner(outcome, breaksTies);
}

function replay(started, seat, shown) {
  let race = started;
  for (const { type, turn, card, number, move } of shown) {
    const { board, pass } = race.racers[0];
    if (type === "turned") {
      const isTurn = card === board.turned && isSame(turn, [pass, race.deal.orders[pass].indexOf(card)]);
      demand(isTurn, `Seat ${seat + 1} was shown a card, ${card}, and it was not its turn.`);
      continue;
    }
    try {
      race = after(race, { type: "move", seat: 0, move });
    } catch (fault) {
      if (!(fault instanceof WrongRace)) throw fault;
      throw new Cheated(`Move ${number} of seat ${seat + 1}, ${move}, is against the rules.`);
    }
  }
  return race.racers[0];
}

/** Compare the outcome of a round that was never dealt with the only ones that it can have. */
export function checkUndealtOutcome({ rules }, outcome) {
  const endings = outcome.scores.map(({ ending }) => ending);
  const losing = ["not_revealed", "resigned"];
  const isPossible = endings.some((ending) => losing.includes(ending))
    && endings.every((ending) => [...losing, "round_over"].includes(ending));
  const scores = endings.map((ending) => ({ placed: 0, goal: DATA.variants[rules].goal, direct: 0, cards_turned: 0, ending }));
  const isRight = isPossible && outcome.winner === winnerOf(scores, false)
    && outcome.scores.every((score, seat) => Object.entries(scores[seat]).every(([name, value]) => score[name] === value));
  demand(isRight, "The result counts cards or names a winner, and no cards were dealt.");
}

/** Compare the outcome with the last boards that were shown, where the race cannot be replayed from its start. */
export function checkBoards(boards, outcome, breaksTies) {
  outcome.scores.forEach(({ placed, goal, direct, ending }, seat) => {
    const board = boards[seat];
    const isCounted = board && isSame([placed, goal, direct], [placedOn(board), goalOf(board), board.direct]);
    demand(isCounted, `The result counts other cards for seat ${seat + 1} than its board shows.`);
    const isWon = placedOn(board) === goalOf(board);
    const isStuck = !isWon && !legalMoves(board).length;
    const isBorneOut = (ending === "won") === isWon && (ending !== "stuck" || isStuck);
    demand(isBorneOut, `Seat ${seat + 1} is said to have ended as ${ending}, which its board does not bear out.`);
  });
  checkWinner(outcome, breaksTies);
}

/** Compare the rounds won by each seat, and whether that ends the match, with the outcome; `scene` is that before it. */
export function checkStanding({ seats, round_number: number, options }, { outcome, wins, match_is_over: isOver }) {
  const won = seats.map((seat, place) => seat.wins + Number(outcome.winner === place));
  const ends = Math.max(...won) > options.best_of / 2 || number >= options.best_of;
  demand(isSame([wins, isOver], [won, ends]), "The server counts other rounds won than those that it has shown.");
}

/** Check that an outcome has a ledger just where it has to, and that it adds up; times rest on the server's word. */
export function checkLedger({ scores, ledger }, { credit }) {
  const isTimed = Boolean(credit) && scores.some(({ ending }) => ending === "won");
  demand(
    Boolean(ledger) === isTimed, "The result credits distance where it is not to be credited, or does not where it is.",
  );
  (ledger ?? []).forEach((timing, seat) => {
    const { arrival_ms: arrival, credit_ms: credited, corrected_ms: corrected } = timing;
    const { ending, cards_turned: turned } = scores[seat];
    const most = Math.floor((turned * DATA.credit.round_trip_us) / 1000);
    const isOfEnding = (arrival !== null) === (ending === "won");
    const addsUp = corrected === (arrival === null ? null : arrival - credited);
    demand(credited >= 0 && credited <= most && isOfEnding && addsUp, "The times in the result do not add up.");
  });
}

/** Compare the winner of an outcome with its counts and endings. */
export function checkWinner(outcome, breaksTies) {
  const endings = outcome.scores.map(({ ending }) => ending);
  const isEnded = !endings.includes("round_over") || endings.some((ending) => DECISIVE.includes(ending));
  demand(isEnded, "The round is said to be over, and nothing has ended it.");
  const isTimed = outcome.ledger || endings.some((ending) => ending !== "won");
  demand(isTimed, "Both players are said to have placed every card, and no times say who was first.");
  const winner = winnerOf(outcome.scores, breaksTies, outcome.ledger);
  demand(outcome.winner === winner, "The result names another winner than the counts do.");
}
