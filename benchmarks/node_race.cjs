// The control `node`: the hand-written race of benchmarks/controls.py, on Node and `ws`, in memory only.
"use strict";

const { WebSocketServer } = require("ws");

const RANKS = "A23456789TJQK";
const HEARTBEAT_MS = 1000 * Number(process.argv[2]);

function shuffledStock() {
  const stock = [...RANKS].flatMap((rank) => [..."SHDC"].map((suit) => rank + suit)).filter((card) => !/^[A234]S$/.test(card));
  // Any order serves: a client of the load moves every card to the first pile.
  return stock.reverse();
}

class Solitaire {
  constructor() {
    this.stock = shuffledStock();
    this.foundations = ["AS", "2S", "3S", "4S"].map((card) => [card]);
    this.piles = [[], [], [], []];
    this.moves = 0;
  }

  /** Make a move and return it as a message, or a refusal. */
  play(number, move) {
    if (number !== this.moves + 1) return { type: "refused", number, code: "wrong_number" };
    const [source, target] = move;
    const cards = source === "s" ? this.stock : this.piles["abcd".indexOf(source)];
    if (cards.length === 0) return { type: "refused", number, code: "nothing_there" };
    const card = cards.at(-1);
    if ("1234".includes(target)) {
      const step = Number(target);
      const foundation = this.foundations[step - 1];
      const wanted = (RANKS.indexOf(foundation.at(-1)[0]) + step) % RANKS.length;
      if (RANKS.indexOf(card[0]) !== wanted) return { type: "refused", number, code: "rank_not_needed" };
      foundation.push(cards.pop());
    } else {
      this.piles["abcd".indexOf(target)].push(cards.pop());
    }
    this.moves = number;
    return { type: "moved", number, move, turned: this.stock.at(-1) ?? null, left: this.stock.length };
  }
}

let alone = null;
const server = new WebSocketServer({ host: "127.0.0.1", port: 0, backlog: 4096, perMessageDeflate: false }, () =>
  console.log(server.address().port),
);
server.on("connection", (socket) => {
  const game = new Solitaire();
  let partner = null;
  socket.meet = (other) => {
    partner = other;
  };
  if (alone === null) {
    alone = socket;
  } else {
    socket.meet(alone);
    alone.meet(socket);
    alone = null;
  }
  socket.on("message", (data) => {
    const { number, move } = JSON.parse(data);
    const reply = game.play(number, move);
    socket.send(JSON.stringify(reply));
    // The load distinguishes notices from answers by their first character.
    if (reply.type === "moved" && partner !== null) partner.send("!" + JSON.stringify({ ...reply, seat: "other" }));
  });
  const heartbeat = setInterval(() => socket.ping(), HEARTBEAT_MS);
  socket.on("close", () => clearInterval(heartbeat));
});
