// The English texts of the analysis of a race.
import { PILES, cardOf, rankOf } from "./board.js";

const RANK_NAMES = ["ace", "2", "3", "4", "5", "6", "7", "8", "9", "10", "jack", "queen", "king"];
/** Return a chance in percent. A half is rounded to the even number, as in `fairest analyse`. */
export function percent(chance) {
  const low = Math.floor(100 * chance);
  const isUp = 100 * chance - low === 0.5 ? low % 2 === 1 : 100 * chance - low > 0.5;
  return `${isUp ? low + 1 : low} %`;
}
/** Return a share in percent with one digit behind the point. */
const exactPercent = (share) => `${(100 * share).toFixed(1)} %`;
const isPile = (place) => PILES.includes(place);

/** Return a move in words, for the board on which it is made. */
function moveName(board, move) {
  if (move === "redeal") return "dealing the waste again";
  const card = `the ${RANK_NAMES[rankOf(cardOf(board, move)) - 1]}`;
  const source = isPile(move[0]) ? ` of pile ${move[0]}` : "";
  return `laying ${card}${source} on ${isPile(move[1]) ? "pile" : "foundation"} ${move[1]}`;
}

/** What is said of a mistake before which a player who knew the order could still win, by the verdict after it. */
const AFTERWARDS = {
  winnable: " A player who knew the order of the stock could still win after the move that was made.",
  unwinnable: " The move lost the deal: before it there was a line that wins, after it none.",
  open: " Before the move there was a line that wins; after it none was found.",
};

export const ANALYSIS_TEXT = {
  analysis: "Analysis",
  analysisHint: "The analysis says what each move was worth to a player who does not know the cards to come: a simple player finishes sampled games "
    + "from each position. The chances are those of that player, so compare them with each other. Your browser needs some seconds for it.",
  analyse: "Analyse the race",
  stopAnalysis: "Stop the analysis",
  analysisShare: (share) => `${Math.floor(100 * share)} % analysed`,
  analysisStopped: "The analysis was stopped.",
  analysisDone: "The race is analysed.",
  analysisFault: "The analysis could not be loaded or run. Load the page again, or use an installed client: fairest analyse.",
  verdicts: {
    winnable: "A player who knows the order of the stock can win this deal.",
    unwinnable: "Nobody can win this deal, not even a player who knows the order of the stock: all moves were tried.",
    open: "No line that wins this deal was found, and no proof that there is none.",
  },
  noMove: (name) => `${name} made no move.`,
  chanceCurve: (name) => `The chance to win after each move of ${name}, from the first to the last`,
  costs: (count, cost) => (count === 1 ? `1 move; it cost ${exactPercent(cost)} of the chance to win.` : `${count} moves; on average one cost ${exactPercent(cost)} of the chance to win.`),
  noMistake: (least) => `No move cost ${percent(least)} or more.`,
  mistakes: "The moves that cost most, the worst first:",
  mistake: ({ board, move, chance, best, bestChance }, time) => {
    const other = `${moveName(board, best)} would have left ${percent(bestChance)}`;
    return `At ${time}, ${moveName(board, move)} left a chance of ${percent(chance)}; ${other}.`;
  },
  better: (line) => `Better: ${line.join(" ")}`,
  markedMove: ({ board, move, best }, name, time) => `${name}, ${time}: before ${moveName(board, move)}. Marked: ${moveName(board, best)}, which was better.`,
  afterwards: ({ before, after }) => (before === "winnable" ? AFTERWARDS[after] : ""),
  moveCodes: "In a move, s is the card just turned, and letters are piles: s2 puts it on foundation 2, sb on pile b, and a2 the top of pile a on foundation 2.",
  showPosition: "Show the position",
  showPositionOf: (name, number) => `Show the position of ${name}, move ${number} of the list`,
};
