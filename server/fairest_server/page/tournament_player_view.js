// What a player does in a tournament: enter and leave it, start it, get ready for a round, and race.
import { STATUS } from "./connection.js";
import { announce, make, setText } from "./dom.js";
import { hasEntered, hasLeft, isEnded, isRaceDealt, isReadyWanted, newestOf, opponentOf } from "./known_tournament.js";
import { SoloRaceView } from "./solo_race_view.js";
import { TEXT, clock } from "./texts.js";

const GUEST = /^guest-[0-9a-f]{6}$/;
/** Elements that take the key Enter for themselves. */
const TAKES_ENTER = ["INPUT", "SELECT", "BUTTON", "A"];

/** The requests of our player, and our race. */
export class PlayerView {
  #connection;
  #refusal = make("p", { class: "wrong", role: "alert" });
  #call = make("p", { class: "call" });
  #actions = make("div", { class: "actions" });
  #place = make("div");
  #offered = "";
  #isSure = false;
  #race = null;
  #called = "";
  element = make("div", { class: "player" }, this.#refusal, this.#call, this.#actions, this.#place);

  constructor(connection) {
    this.#connection = connection;
    document.addEventListener("keydown", (event) => this.#key(event));
  }

  /** Whether our race is under way on this page: its board is shown. */
  get isRacing() {
    return this.#race !== null;
  }

  update() {
    const { known, refusal } = this.#connection;
    setText(this.#refusal, refusal);
    if (!known) return;
    this.#drawRace(known);
    this.#drawCall(known);
    this.#offer(known);
  }

  /** Tell our player what is to be done now, once in the voice of a screen reader as well. */
  #drawCall(known) {
    const call = isReadyWanted(known) ? TEXT.getReady(newestOf(known).number, opponentOf(known)) : "";
    setText(this.#call, call);
    if (call && call !== this.#called) announce(call);
    this.#called = call;
  }

  /** Draw the buttons anew only when another one is to be there, so that a button keeps the focus. */
  #offer(known) {
    const offers = this.#offersOf(known);
    const offered = JSON.stringify([offers, this.#isSure, GUEST.test(this.#connection.name)]);
    if (offered === this.#offered) return;
    this.#offered = offered;
    const button = (label, work, isMain = true) => make("button", { type: "button", class: isMain ? "main" : null, onclick: work }, label);
    const making = {
      enter: () => this.#entering(),
      start: () => button(TEXT.startTournament, () => this.#connection.start()),
      ready: () => button(TEXT.ready, () => this.#connection.getReady()),
      leave: () => button(this.#isSure ? TEXT.sure : TEXT.leaveTournament, () => this.#leave(), false),
    };
    this.#actions.replaceChildren(...offers.map((offer) => making[offer]()));
  }

  /** Return what our player may do now. */
  #offersOf(known) {
    const { shown, name } = known;
    if (isEnded(known) || hasLeft(known) || this.isRacing) return [];
    if (!hasEntered(known)) return shown.phase === "open" ? ["enter"] : [];
    return [
      ...(shown.phase === "open" && shown.creator === name ? ["start"] : []), ...(isReadyWanted(known) ? ["ready"] : []), "leave"];
  }

  #entering() {
    const name = make("input", { pattern: "[A-Za-z0-9_\\-]{2,20}", maxlength: 20, autocomplete: "nickname" });
    const enter = (event) => {
      event.preventDefault();
      this.#connection.enter(name.value || null);
    };
    const isGuest = GUEST.test(this.#connection.name);
    const who = isGuest ? make("label", {}, TEXT.yourName, name) : make("p", {}, TEXT.entersAs(this.#connection.name));
    return make("form", { class: "enter", onsubmit: enter }, who, make("button", { class: "main" }, TEXT.enterTournament));
  }

  /** Ask once more before the tournament is left. */
  #leave() {
    if (this.#isSure) this.#connection.leave();
    this.#isSure = !this.#isSure;
    this.update();
    this.#actions.lastChild?.focus();
  }

  /** Show the board while our race is under way, and its result until the round is over. */
  #drawRace(known) {
    const { game } = this.#connection;
    const isOfRound = game !== null && isRaceDealt(known) && game.number === newestOf(known).number;
    if (this.#race && (!isOfRound || game.result)) {
      this.#race.close();
      this.#race = null;
    }
    if (isOfRound && game.result) this.#showResult(game);
    else if (isOfRound && !this.#race) this.#openRace();
    else if (!isOfRound) this.#place.replaceChildren();
    this.#race?.update();
  }

  #openRace() {
    this.#isSure = false;
    this.#race = new SoloRaceView(this.#connection, {
      stop: TEXT.stop, result: () => [], others: () => {
        const { known, counts } = this.#connection;
        const count = counts.get(opponentOf(known));
        return count ? TEXT.opponentCount(opponentOf(known), count) : "";
      },
    });
    this.#place.replaceChildren(this.#race.element);
    this.#race.update();
    // The time runs already, and on a telephone the board stands below the window.
    this.#race.element.scrollIntoView();
    announce(TEXT.started);
  }

  #showResult({ result }) {
    const sentence = TEXT.raceOver(result, clock(result.time_ms));
    if (this.#place.textContent === sentence) return;
    this.#place.replaceChildren(make("p", { class: "outcome" }, sentence));
    announce(sentence);
  }

  #key(event) {
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !TAKES_ENTER.includes(event.target.tagName);
    const { known, status } = this.#connection;
    if (event.key !== "Enter" || !isPlain || !known || status !== STATUS.CONNECTED || !isReadyWanted(known)) return;
    this.#connection.getReady();
    event.preventDefault();
  }
}
