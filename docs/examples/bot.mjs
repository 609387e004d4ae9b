// A bot in plain JavaScript, from docs/protocol.md: `node bot.mjs URL [ROOM or OPTIONS [FILE]]`, see README.md here.
const Socket = globalThis.WebSocket ?? (await import("ws")).WebSocket;
const [RANKS, PILES] = ["A23456789TJQK", "abcdefgh"];
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const fromHex = (text) => Uint8Array.from(text.match(/../g) ?? [], (digits) => parseInt(digits, 16));
const [toBytes, two] = [(text) => new TextEncoder().encode(text), (number) => [number >> 8, number & 255]];

// The entries that this bot needs, with the phase that they lead to. It ignores all others.
const PHASES = { round_opened: "ready", player_ready: null, revealed: null, dealt: "countdown", started: "racing",
  turned: null, moved: null, round_finished: "finished", round_voided: "waiting", seat_freed: "waiting" };

// Return the hash of a label and parts, each behind its length.
async function seal(label, ...parts) {
  const texts = [toBytes(`fairest.v1.${label}`), ...parts];
  const bytes = texts.flatMap((part) => [0, 0, ...two(part.length), ...part]);
  return toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", Uint8Array.from(bytes))));
}

// Return a legal move, if there is one: always the same for a board, so that a move that is sent again is the same.
function chooseMove({ layout, foundations, piles, turned, redeals }) {
  const tops = [...piles.map((pile, place) => [PILES[place], pile.at(-1)]), ["s", turned]].filter(([, card]) => card);
  for (const [place, { start, step, length }] of layout.entries()) {
    const count = foundations[place].length;
    const rank = RANKS[(((start - 1 + step * count) % 13) + 13) % 13];
    const found = tops.find(([, card]) => card[0] === rank && count < length);
    if (found) return `${found[0]}${place + 1}`;
  }
  const heights = piles.map((pile) => pile.length);
  return turned ? `s${PILES[heights.indexOf(Math.min(...heights))]}` : tops.length && redeals ? "redeal" : null;
}

// A player, and its knowledge of the room; it runs in a browser as it is.
export class Bot {
  constructor(url, entry, wantsRecord, print = console.log) { // `entropies` are own random bytes by round
    Object.assign(this, { url, entry, wantsRecord, print, entropies: {}, token: null });
  }

  // Play the match, over a new connection whenever one ends. Return the lines of its record, if they are wanted.
  async run() {
    for (this.pause = 250; ; this.pause = Math.min(2 * this.pause, 60000)) {
      const { code = 1006, reason } = await this.connect();
      if (this.isDone) return this.record;
      if (code >= 4000 || code === 1003 || code === 1009) throw new Error(`Closed for good: ${code} ${reason}`);
      await sleep(this.pause * (0.5 + Math.random() / 2));
    }
  }

  // Open a connection and take what it brings, one message after the other; return the event that ends it.
  connect() {
    return new Promise((resolve, reject) => {
      const socket = new Socket(this.url + (this.entry.room ? `/r/${this.entry.room}` : ""), "fairest.v1");
      let taken = Promise.resolve();
      const take = async (message) => {
        if (!this.isDone) await this.receive(message);
        if (this.isDone) socket.close();
      };
      [this.socket, this.asked] = [socket, ""];
      socket.onopen = () => this.ask({ type: "hello", token: this.token, capabilities: ["credit"] });
      socket.onmessage = ({ data }) => (taken = taken.then(() => take(JSON.parse(data))).catch(reject));
      socket.onclose = socket.onerror = (event) => taken.then(() => resolve(event));
    });
  }

  // Send a request, unless it is the one that waits for its answer on this connection.
  ask(message) {
    const text = JSON.stringify(message);
    if (text !== this.asked) this.socket.send(text);
    this.asked = text;
  }

  // Take a message, and send what it requires. Types that are not known here are ignored.
  async receive(message) {
    const { type, room, seat, scene, entries = [], position, tag } = message;
    if (type === "welcome") {
      this.token = message.token ?? this.token;
      this.ask(this.entry);
    } else if (type === "snapshot" || type === "view") {
      if (scene) Object.assign(this, { room, seat, scene }).print(`room ${room}, seat ${seat}`);
      for (const entry of entries) await this.apply(entry, this.scene, this.scene.seats[entry.seat ?? this.seat]);
      [this.entry, this.pause] = [{ type: "resume", room: this.room, position, tag }, 250];
      await this.goOn(this.scene, this.scene.seats[this.seat]);
    } else if (type === "record") this.leave(message.lines);
    else if (type === "refused" && ["try_again", "in_doubt"].includes(message.code)) {
      await sleep(250 + 250 * Math.random());
      this.socket.send(this.asked);
    } else if (type === "left" || (type === "refused" && !["ready", "reveal", "play"].includes(message.to)))
      throw new Error(message.sentence ?? "This seat was freed.");
  }

  // Send what the phase requires of this seat.
  async goOn({ phase, round, outcome, match_is_over }, own) {
    const isOver = match_is_over || (phase === "waiting" && outcome);
    if (isOver) this.wantsRecord ? this.ask({ type: "get_record" }) : this.leave();
    else if (phase === "ready" && !own.entropy_hash) {
      const entropy = (this.entropies[round] ??= crypto.getRandomValues(new Uint8Array(32)));
      this.ask({ type: "ready", round, entropy_hash: await seal("entropy", fromHex(round), [this.seat], entropy) });
    } else if (phase === "dealing") this.ask({ type: "reveal", round, entropy: toHex(this.entropies[round]) });
    const move = phase === "racing" && chooseMove(own.board);
    if (move) this.ask({ type: "play", number: own.moves + 1, move });
  }

  leave(record) {
    this.ask({ type: "leave" });
    [this.isDone, this.record] = [true, record];
  }

  // Change the scene by an entry, as far as this bot needs it, and check it. Types that are not known here are ignored.
  async apply(entry, scene, seat) {
    const { type, turn, move, card } = entry;
    if (!(type in PHASES)) return;
    const known = "seat" in entry ? seat : scene;
    for (const name of Object.keys(entry)) if (name in known) known[name] = entry[name]; // fields of the same name
    scene.phase = PHASES[type] ?? scene.phase;
    let [board, round, sealed, shown] = [seat.board, fromHex(scene.round ?? "")];
    if (type === "round_opened")
      for (const each of scene.seats) Object.assign(each, { entropy_hash: null, entropy: null, moves: 0 });
    else if (type === "player_ready" && scene.seats.every((each) => each.entropy_hash)) scene.phase = "dealing";
    else if (type === "revealed")
      [sealed, shown] = [seat.entropy_hash, await seal("entropy", round, [entry.seat], fromHex(entry.entropy))];
    else if (type === "dealt") {
      const foundations = entry.layout.map((_, place) => entry.starters.slice(place, place + 1));
      seat.board = { ...entry, piles: Array.from({ length: entry.piles }, () => []), foundations, turned: null };
    } else if (type === "turned") {
      const pass = Math.min(turn[0], scene.envelopes.length - 1);
      shown = await seal("envelope", round, [pass], two(turn[1]), toBytes(card), fromHex(entry.salt));
      sealed = scene.envelopes[pass][turn[1]];
      if (entry.seat === this.seat) board.turned = card;
    } else if (type === "moved" && entry.seat === this.seat) {
      seat.moves = entry.number;
      if (move[0] === "s") board.turned = null;
      else board.piles[PILES.indexOf(move[0])]?.pop();
      if (move === "redeal") Object.assign(board, { redeals: board.redeals - 1, piles: board.piles.map(() => []) });
      else (board.piles[PILES.indexOf(move[1])] ?? board.foundations[move[1] - 1]).push(card);
    } else if (type === "round_finished" || type === "round_voided") {
      [sealed, shown] = [scene.commitment, await seal("secret", round, fromHex(entry.secret))];
      this.print(`round ${scene.round_number}: ${JSON.stringify(scene.outcome)}`);
    }
    if (sealed !== shown) throw new Error(`The server lies: ${JSON.stringify(entry)} is not what was sealed.`);
  }
}

if (globalThis.process?.argv) {
  const [url, chosen = "{}", file] = process.argv.slice(2);
  const entry = chosen[0] === "{" ? { type: "create", options: JSON.parse(chosen) } : { type: "join", room: chosen };
  const end = (fault) => console.error(fault.message) ?? process.exit(1);
  const record = await new Bot(url, entry, Boolean(file)).run().catch(end);
  if (file) (await import("node:fs")).writeFileSync(file, record.map((line) => `${line}\n`).join(""));
}
