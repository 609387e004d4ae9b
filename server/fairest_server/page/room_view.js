// A room on the page, for spectators and players: what it shows in each phase, and the moves of a player.
import { cardOf, goalOf, legalMoves, mayRedeal, placedOn, play } from "./board.js";
import { describeStep } from "./certified.js";
import { RoomConnection, STATUS } from "./connection.js";
import { announce, make, setText } from "./dom.js";
import { click, press, targetsOf } from "./hand.js";
import { QueueView } from "./queue_view.js";
import { RaceTable, hasBoards, namesOf } from "./race_table.js";
import { RatingChange } from "./ratings.js";
import { WrongRecord, checkRecord, parseRecord } from "./record.js";
import { outcomeText, timingLines } from "./record_view.js";
import { TEXT, clock } from "./texts.js";

const TICK_MS = 250;

/**
 * The page of one room. `onOver(isOver)` is called when there is nothing more to watch here, and when there is again.
 * `onNext()` is called when a player has left for the next opponent of the queue; without it, none is offered.
 * `table` is one that shows the race already, which stays until the room is here.
 */
export class RoomView {
  element = make("section", { class: "room" });
  #connection;
  #onOver;
  #onNext;
  #names = ["", ""];
  #heading = make("h1", { class: "hidden" });
  #queue = new QueueView(() => this.#connection.leaveQueue());
  #wasInRoom = false;
  #rating = null;
  #picked = null;
  #sure = null;
  #record = null;
  #isOver = false;
  #isSeenOver = false;
  #hasRaced = false;
  #parts = {};
  #offered = null;
  #table;

  constructor(entry, { name = null, onOver = null, onNext = null, table = null } = {}) {
    this.#onOver = onOver;
    this.#onNext = onNext;
    this.#table = table ?? new RaceTable();
    this.#table.onSlot = (slot) => this.#click(slot);
    for (const part of ["alarm", "warning", "notice", "status", "end"])
      this.#parts[part] = make("div", { class: part, role: ["alarm", "warning"].includes(part) ? "alert" : null });
    this.element.append(this.#heading, ...Object.values(this.#parts), this.#table.element);
    this.element.setAttribute("aria-busy", "true");
    setText(this.#parts.status, TEXT.connecting);
    this.#connection = new RoomConnection(entry, (connection, message) => this.#update(message), { name });
    this.timer = setInterval(() => this.#tick(), TICK_MS);
    this.onkey = (event) => this.#key(event);
    document.addEventListener("keydown", this.onkey);
  }

  /** End the connection and stop listening. */
  close() {
    clearInterval(this.timer);
    document.removeEventListener("keydown", this.onkey);
    this.#connection.close();
  }

  get #scene() {
    return this.#connection.scene;
  }

  get #isQueued() {
    return !this.#scene && this.#connection.queued !== null && this.#connection.status !== STATUS.ENDED;
  }

  /** Whether a race from the queue is over, so that the next opponent may be looked for; this one may have left. */
  get #mayGoNext() {
    if (!this.#onNext || !this.#scene || !this.#own || this.#connection.leavesForNext) return false;
    const { phase, match_is_over: isOver } = this.#scene;
    return (phase === "waiting" && this.#hasRaced) || (phase === "finished" && isOver);
  }

  get #own() {
    return this.#connection.seat === null ? null : this.#scene.seats[this.#connection.seat];
  }

  /** Our own board with the moves made that the server has not answered yet. */
  get #ownBoard() {
    let { board } = this.#own;
    for (const { move } of this.#connection.sent)
      if (legalMoves(board).includes(move)) board = play(board, move);
    return board;
  }

  #update(message) {
    const { status, room, cheated } = this.#connection;
    if (cheated) {
      this.#parts.alarm.replaceChildren(make("strong", {}, TEXT.cheated), make("p", {}, TEXT.cheatedAdvice), make("p", {}, cheated));
      return;
    }
    if (this.#connection.leavesForNext && status === STATUS.ENDED) {
      this.close();
      this.#onNext();
      return;
    }
    setText(this.#parts.warning, this.#connection.warning);
    if (message?.type === "snapshot") {
      this.#wasInRoom = true;
      if (location.pathname !== `/r/${room}`) history.replaceState(null, "", `/r/${room}`);
      document.title = TEXT.title(room);
      setText(this.#heading, TEXT.roomTitle(room));
    }
    if (message?.type === "record") this.#prove(message.lines);
    if (message?.type === "announcement") this.#notice(message.text);
    if (message?.type === "refused" && message.to !== "ping") this.#notice(message.sentence);
    for (const entry of message?.type === "view" ? message.entries : []) this.#tell(entry);
    if (status === STATUS.ENDED) setText(this.#parts.status, this.#connection.sentence);
    const hasArrived = this.#scene !== null || this.#isQueued || status === STATUS.ENDED;
    if (hasArrived) this.element.removeAttribute("aria-busy");
    if (this.#scene) this.#draw();
    else if (this.#isQueued) this.#drawQueue();
    else this.#parts.end.replaceChildren();
    if (hasArrived && !this.#scene) this.#table.element.hidden = true;
    this.#isOver = this.#scene?.phase === "finished" && this.#scene.match_is_over;
    const isSeenOver = this.#isOver || this.#scene?.phase === "waiting" || status === STATUS.ENDED;
    if (isSeenOver !== this.#isSeenOver) this.#onOver?.(isSeenOver);
    this.#isSeenOver = isSeenOver;
  }

  /** Draw the wait for an opponent. After one that did not arrive, the room that was there is gone. */
  #drawQueue() {
    if (this.#wasInRoom) this.#notice(TEXT.waitsAgain);
    this.#wasInRoom = false;
    this.#queue.draw(this.#connection);
    setText(this.#heading, TEXT.quickTitle);
    document.title = TEXT.title(TEXT.quickTitle);
    if (this.#queue.element.parentNode === this.#parts.end) return;
    setText(this.#parts.status, "");
    this.#parts.end.replaceChildren(this.#queue.element);
  }

  /** Tell screen readers about an entry, in a sentence. */
  #tell(entry) {
    const name = this.#names[entry.seat];
    if (entry.type === "moved" && entry.card) announce(TEXT.moved(name, entry.move, entry.card));
    else if (entry.type === "started") announce(TEXT.started);
    else if (entry.type === "stopped") announce(TEXT.stoppedSeat(name));
    else if (entry.type === "round_finished") announce(outcomeText(this.#names, entry.outcome));
    if (entry.type === "round_opened") {
      this.#table.beginRound();
      this.#record = null;
    }
    if (entry.type === "started") this.#table.start(this.#connection.now);
    if (entry.type === "dealt" && this.#own && this.#scene.round_number === 1)
      this.#rating = new RatingChange(this.#own.name, this.#scene.seats[1 - this.#connection.seat].name, this.#scene.options.rules);
    if (entry.type === "round_finished" && entry.match_is_over) this.#rating?.follow(() => this.#draw());
  }

  #notice(sentence) {
    setText(this.#parts.notice, sentence);
    announce(sentence);
  }

  #draw() {
    this.#names = namesOf(this.#scene, this.#connection.seat);
    if (hasBoards(this.#scene)) this.#drawRace();
    this.#table.element.hidden = !hasBoards(this.#scene);
    this.#drawEnd();
    this.#tick();
  }

  /** Redraw the line that says what happens now, with its clock. */
  #tick() {
    if (this.#isQueued) this.#queue.draw(this.#connection);
    if (!this.#scene) return;
    const { status, sentence } = this.#connection;
    const { phase, until_ms, options } = this.#scene;
    const left = until_ms === null ? "" : clock(until_ms - this.#connection.now);
    const own = this.#own;
    const byPhase = {
      waiting: () => TEXT.waitingSeat,
      ready: () => (own === null ? TEXT.phases.ready : own.entropy_hash ? TEXT.readyWait : ""),
      dealing: () => TEXT.bothReady,
      countdown: () => TEXT.startsIn,
      racing: () => (own && placedOn(own.board) === goalOf(own.board) ? TEXT.allPlaced : ""),
      finished: () => "",
      closed: () => sentence,
    };
    let text = byPhase[phase]?.() ?? "";
    if (status === STATUS.LOST) text = own ? TEXT.lostSeat(options.grace_seconds) : TEXT.lost;
    if (status === STATUS.ENDED) text = sentence;
    const isCounting = phase === "countdown" && status === STATUS.CONNECTED;
    const big = isCounting ? String(Math.max(1, Math.ceil((until_ms - this.#connection.now) / 1000))) : "";
    this.#parts.status.replaceChildren(
      make("span", {}, text), make("strong", { class: "big" }, big), make("span", { class: "clock" }, isCounting || !left ? "" : TEXT.left(left)),
      ...this.#awayLines(), ...this.#watchingLines(),
    );
    if (phase === "racing") this.#drawProgress();
  }

  #awayLines() {
    return this.#scene.seats.flatMap(({ until_ms }, seat) =>
      (until_ms === null ? [] : [make("p", { class: "away" }, TEXT.away(this.#names[seat], clock(until_ms - this.#connection.now)))]));
  }

  #watchingLines() {
    const { watching } = this.#connection;
    return watching ? [make("p", { class: "watching" }, TEXT.watching(watching))] : [];
  }

  /** The race as we see it, for the table. */
  get #race() {
    const { scene, seat, sent, placed, now, check } = this.#connection;
    const ownBoard = seat === null ? null : this.#ownBoard;
    const fitting = ownBoard && this.#picked ? targetsOf(ownBoard, this.#picked) : [];
    const words = check.wordsOf(scene);
    return { scene, seat, names: this.#names, now, ownBoard, sent: sent.length, placed, picked: this.#picked, fitting, words };
  }

  #drawRace() {
    this.#table.draw(this.#race);
    this.#offerActions();
  }

  #drawProgress() {
    this.#table.drawProgress(this.#race);
    this.#offerActions();
  }

  /** Draw the buttons of a player anew only when another one is to be there, so that a button keeps the focus. */
  #offerActions() {
    const offered = `${this.#scene.phase} ${this.#own?.has_stopped} ${this.#own !== null && mayRedeal(this.#ownBoard)}`;
    if (offered !== this.#offered) this.#drawActions();
    this.#offered = offered;
  }

  #drawActions() {
    const isRacing = this.#scene.phase === "racing" && this.#own && !this.#own.has_stopped;
    const act = (move, label) => make("button", { type: "button", onclick: () => this.#giveUp(move) }, this.#sure === move ? TEXT.sure : label);
    const redeal = isRacing && mayRedeal(this.#ownBoard)
      ? [make("button", { type: "button", onclick: () => this.#connection.play("redeal") }, TEXT.redeal)] : [];
    this.#table.actions.replaceChildren(...(isRacing ? [...redeal, act("stop", TEXT.stop), act("resign", TEXT.resign)] : []));
  }

  #giveUp(move) {
    // Without a connection, the move would be lost.
    if (!this.#mayMove) return;
    if (this.#sure === move) this.#connection.play(move);
    this.#sure = this.#sure === move ? null : move;
    this.#drawActions();
  }

  #drawEnd() {
    const { phase, outcome, match_is_over: isOver, seats } = this.#scene;
    const parts = [];
    if (phase === "finished") this.#hasRaced = true;
    const button = (label, work) => make("button", { type: "button", class: "main", onclick: work }, label);
    if (phase === "waiting" || phase === "ready") parts.push(...this.#invitation());
    if (this.#connection.isReadyWanted) parts.push(button(TEXT.ready, () => this.#connection.getReady()));
    if (phase === "finished" && outcome) {
      parts.push(make("h2", { class: "outcome" }, outcomeText(this.#names, outcome)), ...timingLines(this.#names, outcome));
      const { proved, certified } = this.#connection.check;
      if (proved) parts.push(make("p", { class: "right" }, TEXT.proved(proved)));
      if (certified) parts.push(make("p", { class: certified.isProved ? "right" : "wrong" }, TEXT.certifiedDeal(describeStep(certified))));
      const { explanation } = this.#connection;
      if (explanation) parts.push(make("p", { class: "explained" }, explanation));
      if (this.#record) parts.push(this.#record);
      if (this.#rating?.text) parts.push(make("p", { class: "rating" }, this.#rating.text));
      const matchesWon = seats.map(({ matches_won: won = 0 }) => won);
      if (isOver && matchesWon[0] + matchesWon[1] > 1) parts.push(make("p", { class: "series" }, TEXT.series(this.#names, matchesWon)));
      if (!isOver) parts.push(make("p", {}, TEXT.nextRound));
      else if (this.#own) parts.push(...this.#rematch(seats, button));
      if (isOver) parts.push(make("a", { class: "button", href: `/m/${this.#scene.match}` }, TEXT.replay));
    }
    if (this.#mayGoNext) parts.push(make("button", { type: "button", onclick: () => this.#goNext() }, TEXT.nextOpponent));
    // In a race, leaving is resigning, for which there is a button of its own.
    if (this.#connection.leavesForNext) parts.push(make("p", {}, TEXT.leavesForNext));
    else if (this.#own && ["waiting", "ready", "finished"].includes(phase))
      parts.push(make("button", { type: "button", onclick: () => this.#connection.leave() }, TEXT.leave));
    this.#parts.end.replaceChildren(...parts);
  }

  #goNext() {
    this.#connection.leaveForNext();
    this.#drawEnd();
  }

  #invitation() {
    const link = `${location.origin}/r/${this.#connection.room}`;
    const seats = this.#scene.seats.map(({ name, entropy_hash }, seat) =>
      make("li", {}, `${entropy_hash ? "✓ " : ""}${name ? this.#names[seat] : TEXT.seatFree}`));
    const isFree = this.#connection.seat === null && this.#scene.seats.some(({ name }) => name === null);
    const join = isFree ? [make("a", { class: "button main", href: `/r/${this.#connection.room}?join` }, TEXT.takeSeat)] : [];
    const field = make("input", { readonly: true, value: link, "aria-label": TEXT.shareLabel, onfocus: () => field.select() });
    const warning = this.#scene.options.spectators === "open" ? [make("p", { class: "wrong" }, TEXT.openRoom)] : [];
    return [make("label", {}, TEXT.shareLabel, field), make("ul", { class: "seat-list" }, ...seats), ...warning, ...join];
  }

  #rematch(seats, button) {
    const other = 1 - this.#connection.seat;
    if (this.#own.wants_rematch) return [make("p", {}, TEXT.rematchWaits)];
    const asked = seats[other].wants_rematch ? [make("p", {}, TEXT.rematchAsked(this.#names[other]))] : [];
    return [...asked, button(TEXT.rematch, () => this.#connection.askRematch())];
  }

  /** Check the record of the match that is over, and compare its boards' counts with those that were shown. */
  #prove(lines) {
    try {
      const record = parseRecord(lines.map((line) => `${line}\n`).join(""));
      for (const _ of checkRecord(record, this.#connection.check.key));
      // After a quick rematch, the record may come behind the opening of the next match.
      if (this.#scene.match !== record.heading.match) return;
      const last = record.rounds.find(({ id }) => id === this.#scene.round);
      const isShown = last && last.result && JSON.stringify(last.result.scores) === JSON.stringify(this.#scene.outcome.scores);
      if (!isShown) throw new WrongRecord("its last round is not the one that was shown.");
      this.#record = make("p", { class: "right" }, TEXT.recordProved);
    } catch (fault) {
      if (!(fault instanceof WrongRecord)) throw fault;
      this.#record = make("p", { class: "wrong" }, TEXT.recordWrong(fault.message));
    }
  }

  // Moves.

  get #mayMove() {
    const isRacing = this.#scene?.phase === "racing" && this.#own && !this.#own.has_stopped;
    return isRacing && this.#connection.status === STATUS.CONNECTED;
  }

  #click(slot) {
    if (this.#mayMove) this.#apply(click(this.#ownBoard, this.#picked, slot));
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || ["INPUT", "SELECT"].includes(event.target.tagName)) return;
    if (event.key === "Enter" && this.#connection.isReadyWanted) this.#connection.getReady();
    else if (event.key.toLowerCase() === "r" && this.#isOver && this.#own && !this.#own.wants_rematch)
      this.#connection.askRematch();
    else if (event.key.toLowerCase() === "f" && this.#mayGoNext) this.#goNext();
    else if (this.#mayMove) {
      const result = press(this.#ownBoard, this.#picked, event.key, event.shiftKey);
      if (!result) return;
      this.#apply(result);
    } else return;
    event.preventDefault();
  }

  #apply({ move, picked, sentence }) {
    this.#picked = picked;
    this.#sure = null;
    this.#notice(sentence ?? (move ? TEXT.youMoved(move, cardOf(this.#ownBoard, move)) : ""));
    if (move) this.#connection.play(move);
    this.#drawRace();
  }
}
