// One tournament: where it stands, what our player does in it, the standings and the rounds, as they change.
import { alarm } from "./alarm.js";
import { STATUS } from "./connection.js";
import { announce, make, setText } from "./dom.js";
import { isRaceDealt, isReadyWanted, newestOf } from "./known_tournament.js";
import { TEXT, clock } from "./texts.js";
import { TournamentConnection } from "./tournament_connection.js";
import { PlayerView } from "./tournament_player_view.js";
import { RoundsView, standingsTable } from "./tournament_rounds_view.js";

const TICK_MS = 250;
const CODE = /^[a-z]+(-[a-z]+){1,5}$/;

/** The tournament with a code. */
export class TournamentView {
  #code;
  #connection;
  #player;
  #rounds;
  #status = make("p", { class: "status" });
  #phase = make("span");
  #starting = make("strong", { class: "big" });
  #clock = make("span", { class: "clock" });
  #sentence = make("p", { class: "sentence", role: "status" });
  #warning = make("p", { class: "warning", role: "alert" });
  #standings = make("div");
  #drawn = "";
  #announced = "";
  element;

  constructor(code) {
    this.#code = code;
    this.#status.append(this.#phase, this.#starting, this.#clock);
    this.element = make(
      "section", { class: "tournament" }, make("h1", {}, TEXT.tournamentTitle(code)),
      this.#warning, this.#status, this.#sentence, this.#standings);
    document.title = TEXT.title(TEXT.tournamentTitle(code));
    if (!CODE.test(code)) {
      setText(this.#sentence, TEXT.noSuchTournament);
      return;
    }
    this.#connection = new TournamentConnection(code, () => this.#update());
    this.#player = new PlayerView(this.#connection);
    this.#rounds = new RoundsView();
    this.#standings.before(this.#player.element);
    this.#standings.after(this.#rounds.element);
    this.#update();
    setInterval(() => this.#tick(), TICK_MS);
  }

  #update() {
    const { known, counts, status, sentence, warning, cheated } = this.#connection;
    if (cheated) {
      this.element.replaceChildren(alarm(cheated));
      return;
    }
    // What our player is to do is said behind where the tournament stands: the last sentence is the one that is read.
    if (known) this.#draw(known);
    this.#player.update();
    // While we race, the board has the warning and the state of the connection above it.
    const { isRacing } = this.#player;
    setText(this.#warning, isRacing ? "" : warning);
    const isSaid = isRacing ? undefined : { [STATUS.CONNECTING]: TEXT.connecting, [STATUS.LOST]: TEXT.lost }[status];
    setText(this.#sentence, isSaid ?? (status === STATUS.ENDED && sentence || (known ? TEXT.tournamentDue(known) : "")));
    if (!known) return;
    this.#rounds.draw(known.shown);
    this.#rounds.drawCounts(counts);
    this.#tick();
  }

  #draw({ shown, name }) {
    const drawn = `${shown.version} ${name}`;
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    const head = TEXT.tournamentHead(shown);
    setText(this.#phase, head);
    if (this.#announced && this.#announced !== head) announce(head);
    this.#announced = head;
    this.#standings.replaceChildren(standingsTable(shown, name), make("p", { class: "hint" }, TEXT.unratedTournament));
  }

  /** Draw the clocks, and what is asked of our player in the title of the window. */
  #tick() {
    const { known, now, status } = this.#connection;
    if (!known || this.#connection.cheated) return;
    const { shown } = known;
    const isStarting = isRaceDealt(known) && newestOf(known).started_ms > now;
    setText(this.#starting, isStarting ? TEXT.raceStartsIn(Math.ceil((newestOf(known).started_ms - now) / 1000)) : "");
    const isTimed = shown.until_ms && status === STATUS.CONNECTED && !isStarting && !this.#player.isRacing;
    setText(this.#clock, isTimed ? TEXT.left(clock(shown.until_ms - now)) : "");
    const asked = isReadyWanted(known) ? TEXT.readyTitle(newestOf(known).number)
      : isStarting || this.#player.isRacing ? TEXT.raceTitle(newestOf(known).number) : TEXT.tournamentTitle(this.#code);
    if (document.title !== TEXT.title(asked)) document.title = TEXT.title(asked);
  }
}
