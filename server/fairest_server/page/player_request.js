// One request to the server as a player, on a socket of its own that enters no room: who we are, where we have seats, and
// another token.
import { BAD_TOKEN, socketUrl } from "./socket_line.js";
import { forgetToken, keepNextToken, keepToken, readNextToken, readToken } from "./storage.js";
import { TEXT } from "./texts.js";

const ANSWER_MS = 15000;
const TOKEN_BYTES = 32;
const CODE = /^(?=.{1,60}$)[a-z]+(-[a-z]+){1,5}$/;
const MAX_SEATS = 16;

/** Raised when the server does not answer, or refuses; `isUnknown` is whether it does not know the token. */
export class NoAnswer extends Error {
  constructor(sentence, isUnknown = false) {
    super(sentence);
    this.isUnknown = isUnknown;
  }
}

/**
 * Say hello with a token, send what `request(welcome)` returns, and return the `welcome` with the `answer`: null if there was
 * nothing to send. Throws `NoAnswer`, and what `request` throws.
 */
export const askOnce = (token, request = () => null) => new Promise((resolve, reject) => {
  const socket = new WebSocket(socketUrl(), "fairest.v1");
  let [welcome, sentence] = [null, ""];
  const end = (settle, result) => {
    clearTimeout(timer);
    socket.onclose = socket.onmessage = null;
    socket.close();
    settle(result);
  };
  const fail = (...reason) => end(reject, new NoAnswer(...reason));
  const timer = setTimeout(() => fail(TEXT.serverSilent), ANSWER_MS);
  const take = (message) => {
    if (message.type === "error") sentence = message.sentence;
    else if (message.type === "refused") fail(message.sentence);
    else if (welcome) end(resolve, { welcome, answer: message });
    else if (message.type === "welcome") {
      welcome = message;
      const next = request(welcome);
      if (next) socket.send(JSON.stringify(next));
      else end(resolve, { welcome, answer: null });
    }
  };
  socket.onopen = () => socket.send(JSON.stringify({ type: "hello", token, name: null, client: "fairest page", capabilities: [] }));
  socket.onclose = ({ code, reason }) =>
    (code === BAD_TOKEN ? fail(TEXT.tokenUnknown, true) : fail(sentence || (code === 1006 ? TEXT.serverSilent : TEXT.closedBy(code, reason))));
  socket.onmessage = ({ data }) => {
    try {
      take(JSON.parse(data));
    } catch (fault) {
      // A message without the fields of its type is the server's fault; `request` may refuse to go on.
      if (fault instanceof SyntaxError || fault instanceof TypeError) fail(TEXT.answerBroken);
      else end(reject, fault);
    }
  };
});

/** Ask as the player of this browser, as `askOnce` does; return null if this browser has none that the server knows. */
export async function askAsPlayer(request) {
  for (let token = readToken(); token !== null; token = readToken()) {
    try {
      return await askOnce(token, request);
    } catch (fault) {
      if (!fault.isUnknown) throw fault;
      forgetToken(token);
    }
  }
  return null;
}

/** Return the codes of the rooms in which the player of a welcome has a seat; null while the server cannot read them. */
export const seatsIn = ({ rooms }) => codesIn(rooms);

/** Return the codes of the tournaments that the player of a welcome has entered and that are not over, likewise. */
export const tournamentsIn = ({ tournaments }) => codesIn(tournaments);

const codesIn = (codes) =>
  (Array.isArray(codes) ? codes.filter((code) => typeof code === "string" && CODE.test(code)).slice(0, MAX_SEATS) : null);

/**
 * Let the player of this browser take a new token, which is kept before it is sent. If the answer is lost, the next hello of
 * this browser finds out which one of the two is right. Throws `NoAnswer`; to try again is safe.
 */
export async function renewToken() {
  let taken = null;
  const found = await askAsPlayer(({ capabilities, version }) => {
    if (!capabilities.includes("renew")) throw new NoAnswer(TEXT.renewsNone(version));
    taken = nextToken();
    return { type: "renew", token: taken };
  });
  if (!found) throw new NoAnswer(TEXT.noPlayerHere);
  keepToken(taken);
}

/** Return the token that the player is about to take, which is kept now. Throws `NoAnswer` if the browser keeps nothing. */
function nextToken() {
  const token = readNextToken() ?? drawToken();
  try {
    keepNextToken(token);
  } catch (fault) {
    if (!(fault instanceof DOMException)) throw fault;
  }
  // A token that only the server had would be a player that nobody is any more.
  if (readNextToken() !== token) throw new NoAnswer(TEXT.tokenNotKept);
  return token;
}

const drawToken = () =>
  btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(TOKEN_BYTES))))
    .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
