// What this browser was shown of a tournament, kept as a note, and the comparison of the record of a race with it: in the words
// of `fairest verify` with a receipt.
import { toBytes, toHex } from "./bytes.js";
import { Cheated } from "./cheated.js";
import { WrongRecord } from "./record.js";
import { commitSecret } from "./seal.js";
import { sha256 } from "./sha2.js";
import { firstWrongEnvelope, isSame, isSameScore, sealedDeck } from "./solo_game.js";
import { keepTournamentNote, readToken, readTournamentNotes } from "./storage.js";
import { checkDeck, commitEntrant } from "./tournament_rounds.js";

const demand = (condition, sentence) => {
  if (!condition) throw new WrongRecord(sentence);
};

/** What stands for our player in notes: a token opens seats, so it is kept in one place only. */
const ownPlayer = () => toHex(sha256(toBytes(readToken() ?? ""))).slice(0, 32);

/**
 * Return the note of a tournament on the server with this key, or null. It is that of our token, under which we may have taken
 * another name meanwhile, or of our `name`, under which we may have taken another token.
 */
export const readNote = (tournament, key, name) => {
  const notes = readTournamentNotes().filter((note) => note.tournament === tournament && note.key === key);
  return notes.find(({ player }) => player === ownPlayer()) ?? notes.find((note) => note.name === name) ?? null;
};

/** Keep what we were shown of a tournament. */
export const keepNote = (note) => keepTournamentNote({ ...note, player: ownPlayer() });

/**
 * Yield a sentence for each thing in which a record of `parseSolo` agrees with what we know of its round; `own` is our name in the
 * tournament. Throws `WrongRecord` at a difference.
 */
export function* compareRound(record, witness, own) {
  try {
    if (witness.secret) checkDeck(record.rules, witness, record.round);
  } catch (fault) {
    if (!(fault instanceof Cheated)) throw fault;
    throw new WrongRecord(fault.message);
  }
  const isBound = commitSecret(record.roundId, record.secret) === witness.commitment;
  demand(isBound, "The record has another commitment, or other rules, than the server showed to your client.");
  yield "Receipt: its commitment is the one that you were shown.";
  const areSame = !witness.entropies.length || isSame(record.entropies, witness.entropies);
  demand(areSame, "The record is dealt from other bytes than those that your client was shown.");
  for (const [name, entropy] of record.entropies) {
    const isOfHash = witness.hashes.some((each) => isSame(each, [name, commitEntrant(record.roundId, name, entropy)]));
    demand(!witness.hashes.length || isOfHash, `The bytes of ${name} do not belong to the hash that your client was shown.`);
  }
  if (witness.hashes.length) yield `Receipt: the bytes of all ${record.entropies.length} players belong to the hashes that you were shown.`;
  if (!witness.envelopes.length) return;
  const wrong = firstWrongEnvelope(witness.envelopes, sealedDeck(record.rules, record.seed, record.roundId));
  demand(!wrong, "The deck is not the one in the envelopes that your client was shown.");
  yield "Receipt: the deck is the one in the envelopes that you were shown.";
  if (record.name === own) yield compareOwn(record, witness);
}

function compareOwn(record, { moves, result }) {
  const made = record.moves.map(([, move]) => move);
  demand(isSame(moves, result ? made : made.slice(0, moves.length)), "The moves are not those that your client made.");
  demand(!result || isSameScore(result, record), "The score is not the one that your client was shown.");
  return `Receipt: its ${moves.length} moves ${result ? "and its score are" : "so far are"} those that your client was shown.`;
}
