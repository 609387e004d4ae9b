// The checks that hold a server to the sealed deal of a round, entry by entry, as `fairest` makes them.
//
// A page that watches or plays makes each of them as early as it can: the signature and the commitment when the round
// is opened, each envelope when a seat turns its card, the whole deal when the secret is shown.
import { Cheated } from "./cheated.js";
import { findStep, stepProblem } from "./certified.js";
import { makeDeal, sealDeal } from "./deal.js";
import { checkBothReady, checkOutcome } from "./outcome_check.js";
import DATA from "./record_data.js";
import { checkWords, commitEntropy, commitSecret, isRoundSigned, makeEnvelope, makeSeed, termsOf } from "./seal.js";

const demand = (condition, sentence) => {
  if (!condition) throw new Cheated(sentence);
};
const nameOf = ([pass, position]) => (pass ? `position ${position + 1} of redeal ${pass}` : `position ${position + 1}`);

/** What the server has shown of its rounds on this page. `key` is the server's, in hexadecimal digits. */
export class SealCheck {
  /** Bytes of our own by round id, if we have a seat. */
  entropies = {};
  /** Hashes of our bytes by round id, where the bytes themselves are not known: in a receipt that is replayed. */
  ownHashes = {};
  /** The number of envelopes that the secret of the last round has opened; null before its end. */
  proved = null;
  /** The step of a certified round as {step, isProved}, found again when the secret was shown; null in other rooms. */
  certified = null;
  /** For each seat the cards that it turned and the moves that it made; null if an entry was missed since the deal. */
  shown = null;
  #key;
  #seat;
  #past = new Set();
  #place = null;
  #opened = new Map();
  #last = [null, null];
  #redeals = [0, 0];
  #isSecretDue = false;

  constructor(key) {
    this.#key = key;
  }

  /** Check a snapshot; it may not take back what was shown before. */
  afterSnapshot(before, scene, seat) {
    this.#seat = seat;
    if (scene.round === null) return;
    if (before?.round === scene.round) {
      const isSame = before.commitment === scene.commitment && before.match === scene.match;
      demand(isSame, "The server shows another commitment than before for the same round.");
      for (const [place, old] of before.seats.entries())
        if (old.entropy_hash && scene.seats[place].entropy_hash)
          demand(old.entropy_hash === scene.seats[place].entropy_hash, "The server changed an entropy hash.");
      const hasOther = before.envelopes.length && scene.envelopes.length
        && JSON.stringify(before.envelopes) !== JSON.stringify(scene.envelopes);
      demand(!hasOther, "The server shows other envelopes than before for the same round.");
    } else this.#open(scene, scene.options, null);
    // Entries may have been missed before the snapshot, so the race can no longer be replayed from its start.
    this.shown = null;
    this.#isSecretDue = scene.secret === null;
    this.#last = scene.seats.map(({ turn }) => turn);
    this.#redeals = scene.seats.map(({ board }) => (board ? scene.options.redeals - board.redeals : 0));
    for (const [place, { entropy, entropy_hash }] of scene.seats.entries()) {
      if (entropy_hash) this.#checkOwnHash(scene.round, place, entropy_hash);
      if (entropy) this.#checkEntropy(scene.round, place, entropy, entropy_hash);
    }
    if (scene.phase === "finished") checkBothReady(scene.seats);
    if (scene.secret !== null) this.#checkSecret(scene, scene.secret);
  }

  /** Check the next entry; `scene` is the scene before it. */
  afterEntry(scene, entry) {
    const { type, seat } = entry;
    const check = {
      round_opened: () => {
        demand(!this.#isSecretDue, "The server opens another round and never opened the commitment before.");
        this.#open(entry, scene.options, this.#place);
      },
      round_voided: () => {
        const isOpen = scene.seats.some((each) => !each.entropy_hash) && entry.round === scene.round;
        demand(isOpen, "The server calls off a round to which both players were committed.");
        this.#checkSecret(scene, entry.secret);
      },
      player_ready: () => {
        const known = scene.seats[seat].entropy_hash;
        demand(known === null || known === entry.entropy_hash, "The server changed an entropy hash.");
        this.#checkOwnHash(scene.round, seat, entry.entropy_hash);
      },
      revealed: () => this.#checkEntropy(scene.round, seat, entry.entropy, scene.seats[seat].entropy_hash),
      dealt: () => {
        demand(scene.seats.every((each) => each.entropy), "The server deals before both players have revealed.");
        demand(!scene.envelopes.length, "The server deals a second time.");
        const isAgreed = entry.piles === scene.options.piles && entry.redeals === scene.options.redeals;
        demand(isAgreed, "The server deals for other rules than those of the room.");
        const hasStep = (entry.step !== undefined) === (scene.options.certified !== undefined);
        demand(hasStep, "The server deals without the step of a certified round, or with one in another room.");
        this.shown = [[], []];
      },
      turned: () => {
        this.#checkTurned(scene, entry);
        this.shown?.[seat].push(entry);
      },
      moved: () => {
        this.#redeals[seat] += entry.move === "redeal" ? 1 : 0;
        this.shown?.[seat].push(entry);
      },
      round_finished: () => {
        checkBothReady(scene.seats);
        this.#checkSecret(scene, entry.secret, entry.outcome);
      },
      room_closed: () => demand(!this.#isSecretDue, "The server closes the room and never opened its commitment."),
    }[type];
    check?.();
  }

  /** Return the check words of the round, or null before its deal. */
  wordsOf({ round, commitment, seats, envelopes, options }) {
    const entropies = seats.map(({ entropy }) => entropy);
    if (!envelopes.length || entropies.includes(null)) return null;
    return checkWords(round, commitment, entropies, envelopes, termsOf(options));
  }

  #open(opened, options, before) {
    const { round, match, round_number: number } = opened;
    demand(!this.#past.has(round), "The server opens a round again that it had opened before.");
    const isSigned = isRoundSigned(opened, match, number, termsOf(options), this.#key);
    demand(isSigned, "The server has not signed this commitment for this place in the match and these rules.");
    const follows = number === 1 ? match === round : !before || (match === before.match && number === before.number + 1);
    demand(follows, "The round does not follow the one before it in its match.");
    this.#past.add(round);
    this.#place = { match, number };
    this.#opened.clear();
    [this.#last, this.#redeals, this.#isSecretDue] = [[null, null], [0, 0], true];
    [this.proved, this.certified] = [null, null];
    this.shown = [[], []];
  }

  #checkOwnHash(round, seat, hash) {
    requireRound(round);
    if (seat !== this.#seat) return;
    const own = this.entropies[round];
    const isOurs = (own === undefined ? this.ownHashes[round] : commitEntropy(round, seat, own)) === hash;
    demand(isOurs, "The server shows another entropy hash for us than the one that we sent.");
  }

  #checkEntropy(round, seat, entropy, hash) {
    requireRound(round);
    const isShown = commitEntropy(round, seat, entropy) === hash;
    demand(isShown, `The entropy of seat ${seat + 1} does not belong to the hash that was shown before.`);
  }

  #checkTurned(scene, { seat, turn, card, salt }) {
    const [pass, position] = turn;
    const last = this.#last[seat] ?? [0, -1];
    const isNext = pass === 0 ? position === last[1] + 1 : pass > last[0] || position > last[1];
    demand(isNext && pass === this.#redeals[seat], `Seat ${seat + 1} turns the card at ${nameOf(turn)} out of order.`);
    const sealed = Math.min(pass, scene.envelopes.length - 1);
    const envelope = scene.envelopes[sealed]?.[position];
    const isOpened = envelope && makeEnvelope(scene.round, sealed, position, card, salt) === envelope;
    demand(isOpened, `The card at ${nameOf(turn)}, ${card}, does not come from its envelope.`);
    this.#last[seat] = turn;
    this.#opened.set(`${sealed} ${position}`, card);
  }

  #checkSecret({ round, commitment, seats, envelopes, options, step }, secret, outcome = null) {
    requireRound(round);
    demand(commitSecret(round, secret) === commitment, "The secret does not belong to the commitment.");
    this.#isSecretDue = false;
    // Without the bytes of a seat that was freed since, only the record can prove the deal.
    if (!envelopes.length || seats.some(({ entropy }) => !entropy)) return;
    if (!Object.hasOwn(DATA.variants, options.rules)) return;
    const entropies = seats.map(({ entropy }) => entropy);
    const seedOf = (each) => makeSeed(secret, entropies, round, each);
    const certified = options.certified ? findStep(options.rules, options.piles, options.redeals, seedOf) : null;
    const problem = certified && step !== undefined ? stepProblem(certified, step) : "";
    demand(!problem, problem);
    const seed = seedOf(certified?.step);
    const deal = makeDeal(options.rules, options.redeals, seed);
    const isDeal = JSON.stringify(sealDeal(deal, seed, round)) === JSON.stringify(envelopes);
    demand(isDeal, "The envelopes do not hold the deal that secret and entropies make.");
    for (const [place, card] of this.#opened) {
      const [pass, position] = place.split(" ");
      demand(deal.orders[pass][position] === card, `The card ${card} is not the one of the deal.`);
    }
    if (outcome && this.shown) checkOutcome(options, deal, this.shown, outcome);
    [this.proved, this.certified] = [envelopes.flat().length, certified];
  }
}

function requireRound(round) {
  demand(round !== null, "The server shows part of a deal before it has committed itself to one.");
}
