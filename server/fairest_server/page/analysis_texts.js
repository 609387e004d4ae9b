// The English texts of the analysis of a race.
import { PILES, cardOf, rankOf } from "./board.js";

const RANK_NAMES = ["ace", "2", "3", "4", "5", "6", "7", "8", "9", "10", "jack", "queen", "king"];
const percent = (chance) => `${Math.round(100 * chance)} %`;
const isPile = (place) => PILES.includes(place);

/** Return a move in words, for the board on which it is made. */
function moveName(board, move) {
  if (move === "redeal") return "dealing the waste again";
  const card = `the ${RANK_NAMES[rankOf(cardOf(board, move)) - 1]}`;
  const source = isPile(move[0]) ? ` of pile ${move[0]}` : "";
  return `${card}${source} to ${isPile(move[1]) ? "pile" : "foundation"} ${move[1]}`;
}

export const ANALYSIS_TEXT = {
  analysis: "Analysis",
  analysisHint: "What each move was worth to a player who does not know what comes: from each position, a simple player finishes sampled games. "
    + "Your browser computes it in some seconds.",
  analyse: "Analyse the race",
  stopAnalysis: "Stop the analysis",
  analysisShare: (share) => `${Math.floor(100 * share)} % analysed`,
  analysisStopped: "The analysis was stopped.",
  analysisDone: "The race is analysed.",
  analysisFault: "This browser could not run the analysis. An installed client can.",
  dealFound: "Knowing the order of the stock, this deal can be won.",
  dealNotFound: "No line that wins this deal was found, knowing the order of the stock.",
  noMove: (name) => `${name} made no move.`,
  chanceCurve: (name) => `The chance to win after each move of ${name}, from the first to the last`,
  lostInAll: (count, lost) => `${count} ${count === 1 ? "move" : "moves"}; together they gave away ${lost.toFixed(2)} of a win.`,
  noMistake: (least) => `No move cost ${percent(least)} or more of a win.`,
  mistake: ({ board, move, chance, best, bestChance }, time) => {
    const sentence = `${moveName(board, move)} left a chance of ${percent(chance)}; ${moveName(board, best)} would have left ${percent(bestChance)}.`;
    return `At ${time}, ${sentence}`;
  },
  better: (line) => `Better: ${line.join(" ")}.`,
  afterwards: ({ could, can }) =>
    (!could ? "" : can ? " The deal could still be won after it, knowing the order of the stock."
      : " Before it there was a line that wins, knowing the order; after it none was found."),
  moveCodes: "In a move, s is the card just turned, and letters are piles: s2 puts it on foundation 2, sb on pile b, and a2 the top of pile a on foundation 2.",
  showPosition: "Show the position",
};
