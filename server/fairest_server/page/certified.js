// Certified deals: the step that is dealt, found again, as docs/protocol.md has it under "Certified deals".
import { makeDeal } from "./deal.js";
import { isProvedWinnable } from "./line_search.js";

const STEPS = 16;

/**
 * Return the step that is to be dealt, as {step, isProved}: the first one whose deal is proved winnable, the last one if
 * none is. `seedOf(step)` is the seed of a step. It takes some milliseconds as a rule; a lie makes it no longer.
 */
export function findStep(rules, piles, redeals, seedOf) {
  for (let step = 0; step < STEPS; step++) {
    const { layout, orders } = makeDeal(rules, redeals, seedOf(step));
    const foundations = layout.map(({ start, step: by, length }) => [start, by, length]);
    if (isProvedWinnable(foundations, orders, piles)) return { step, isProved: true };
  }
  return { step: STEPS - 1, isProved: false };
}

/** Return what the steps of a certified round have shown, as a clause. */
export const describeStep = ({ step, isProved }) =>
  (isProved ? `proved winnable at step ${step + 1} of ${STEPS}${step ? ", and at none before" : ""}`
    : `NOT PROVED winnable, as none of ${STEPS} steps was; so the last one was dealt`);

/** Return a sentence if the server has dealt another step than the one that is to be dealt, else nothing. */
export const stepProblem = (found, dealt) =>
  (found.step === dealt ? ""
    : `The server dealt step ${dealt + 1} of the certified round, where step ${found.step + 1} is to be dealt.`);
