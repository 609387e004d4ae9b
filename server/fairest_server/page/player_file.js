// A player as the text of a file, as `fairest identity export` writes it: to take it from this browser to an installed client
// or to another browser, and back. Whoever has the text can play as this player.

const FORMAT = 1;
/** More than any file of a player has, in bytes. */
export const MAX_BYTES = 64 * 1024;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;
const NAME = /^[A-Za-z0-9_-]{2,20}$/;
const HASH = /^[0-9a-f]{64}$/;
const ROUND = /^[0-9a-f]{32}$/;
const PORTS = { "ws:": "80", "wss:": "443", "http:": "80", "https:": "443" };

/** Raised for a text that is not the file of a player of this server; the message says why. */
export class NotAPlayer extends Error {}

const demand = (condition, reason) => {
  if (!condition) throw new NotAPlayer(reason);
};
const isText = (value, form) => typeof value === "string" && form.test(value);
const addressOf = ({ protocol, hostname, port }) => `${hostname}:${port || PORTS[protocol]}`;

/** Return the text of a file. `server` is the server's address; all but `token` may be null. */
export const playerFile = ({ server, name, token, nextToken, key, commitment }) => JSON.stringify({
  fairest_player: FORMAT, server, name: isText(name, NAME) ? name : null,
  player: { token, next_token: nextToken, server_key: key, bond: commitment },
});

/**
 * Return the player of a file as {name, token, nextToken, key, commitment}. `place` is the page's location: a token must reach
 * no other server than its own, so the file of another server is refused. Throws `NotAPlayer`.
 */
export function readPlayerFile(text, place) {
  demand(new TextEncoder().encode(text).length <= MAX_BYTES, "it is too long");
  const found = parsed(text);
  demand(found?.fairest_player === FORMAT, `it does not begin with format ${FORMAT}`);
  const { server, name = null, player } = found;
  demand(typeof server === "string" && player !== null && typeof player === "object", "it names no server, or no player");
  const address = addressIn(server);
  demand(address !== null, "its server is not an address such as ws://127.0.0.1:8765");
  demand(name === null || isText(name, NAME), "its name is not that of a player");
  demand(address === addressOf(place), `it is of a player at ${server}, and this page came from ${place.host}: open the page there`);
  const { token, next_token: nextToken = null, server_key: key = null, bond: commitment = null } = player;
  demand(isText(token, TOKEN) && (nextToken === null || isText(nextToken, TOKEN)), "it has no token of a player");
  demand(key === null || isText(key, HASH), "its key is not that of a server");
  demand(commitment === null || isCommitment(commitment), "what its player is bound to is not readable");
  return { name, token, nextToken, key, commitment };
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch (fault) {
    if (!(fault instanceof SyntaxError || fault instanceof RangeError)) throw fault;
    throw new NotAPlayer("it is not JSON");
  }
}

function addressIn(server) {
  try {
    const url = new URL(server);
    return ["ws:", "wss:"].includes(url.protocol) ? addressOf(url) : null;
  } catch (fault) {
    if (!(fault instanceof TypeError)) throw fault;
    return null;
  }
}

const isCommitment = ({ round_id: round, commitment, seat, entropy, entropy_hash: hash, other_hash: other = null }) =>
  isText(round, ROUND) && [commitment, entropy, hash].every((each) => isText(each, HASH)) && [0, 1].includes(seat)
  && (other === null || isText(other, HASH));
