// The weights of the pile policy: where a card that fits no foundation goes. They are those of `pile_weights.py` of
// fairest_cli, where the words are explained.

export const WEIGHTS = {
  blocked: 1.804,
  blockedSteps: [1.631, 0.792, 0.258, -0.161],
  equal: 0.435,
  later: 0.633,
  laterSteps: 0.036,
  follows: 2.341,
  sameRank: 8.262,
  empty: -2.395,
  lastOnEmpty: 9.090,
  lastOn: 1.004,
  topLater: 2.857,
  topLaterSteps: -0.859,
  size: -1.074,
  followsSteps: -1.710,
  emptySteps: 0.475,
  followsSecond: 5.395,
  topSooner: 1.565,
};
/** The urgency of a rank that no foundation needs any more. */
export const UNNEEDED = 14;
export const URGENCIES = 15;
/** Copies of a rank in two decks. */
const COPIES = 8;

const costOf = (urgency, copies, other, isLast) => {
  if (other === UNNEEDED) return WEIGHTS.size;
  const steps = urgency - other;
  let cost = WEIGHTS.equal;
  if (steps > 0) cost = WEIGHTS.blocked + WEIGHTS.blockedSteps[Math.min(copies, 3)] * steps;
  else if (steps < 0) cost = WEIGHTS.later - WEIGHTS.laterSteps * steps;
  return (isLast ? cost + WEIGHTS.lastOn : cost) + WEIGHTS.size;
};

const blockRow = (urgency, isLast) =>
  Array.from({ length: (COPIES + 1) * URGENCIES }, (_, place) =>
    costOf(urgency, Math.floor(place / URGENCIES), place % URGENCIES, isLast));

/**
 * The cost of each card below a new one, by `copies * URGENCIES + urgency` of that card: a list for each urgency of the
 * new one, first of ranks that are not last ones, then of those that are.
 */
export const BLOCK_ROWS = [false, true].map((isLast) => Array.from({ length: URGENCIES }, (_, urgency) => blockRow(urgency, isLast)));
