// The page about the player of this browser: its name and seats, its way to another machine and back, and another token.
import { make, setText } from "./dom.js";
import { seatList } from "./own_seats.js";
import { MAX_BYTES, NotAPlayer, playerFile, readPlayerFile } from "./player_file.js";
import { NoAnswer, askAsPlayer, askOnce, renewToken, seatsIn, tournamentsIn } from "./player_request.js";
import { compareServer } from "./server_past.js";
import { socketUrl } from "./socket_line.js";
import { becomePlayer, readCommitment, readKey, readNextToken, readToken } from "./storage.js";
import { TEXT } from "./texts.js";

const button = (label, onclick) => make("button", { type: "button", onclick }, label);

/** The page. It asks the server once when it is opened, and after each change. */
export class IdentityView {
  #name = null;
  #state = make("p", { class: "sentence", role: "status" }, TEXT.connecting);
  #warning = make("p", { class: "warning", role: "alert" });
  #seats = make("div");
  #own = make("div", { hidden: true });
  #text = make("textarea", { readonly: true, rows: 4, "aria-label": TEXT.playerText });
  #question = make("div", { class: "question", hidden: true, role: "alertdialog", "aria-label": TEXT.importTitle });
  #typed = make("textarea", { rows: 4, spellcheck: false, autocomplete: "off" });
  #file = make("input", { type: "file", accept: ".json,application/json" });
  #imported = make("p", { class: "sentence", role: "status" });
  #renewed = make("p", { class: "sentence", role: "status" });
  element;

  constructor() {
    this.#text.hidden = true;
    this.#own.append(
      make("h2", {}, TEXT.exportTitle), make("p", { class: "hint" }, TEXT.exportHint),
      make("div", { class: "actions" }, button(TEXT.exportFile, () => this.#save()), button(TEXT.exportText, () => this.#showText())),
      this.#text,
      make("h2", {}, TEXT.renewTitle), make("p", { class: "hint" }, TEXT.renewHint),
      make("div", { class: "actions" }, button(TEXT.renew, (event) => this.#renew(event.target))), this.#renewed);
    this.#file.addEventListener("change", () => this.#file.files[0] && this.#bringFile(this.#file.files[0]));
    this.element = make(
      "section", { class: "identity" },
      make("h1", {}, TEXT.identityTitle), this.#state, this.#warning, this.#seats, this.#own,
      make("form", { class: "import", onsubmit: (event) => this.#bringTyped(event) },
        make("h2", {}, TEXT.importTitle), make("p", { class: "hint" }, TEXT.importHint),
        make("label", {}, TEXT.importFile, this.#file), make("label", {}, TEXT.importText, this.#typed),
        make("button", {}, TEXT.importIt)),
      this.#question, this.#imported);
    this.#refresh();
  }

  /** Ask the server which player we are, and where it has seats. */
  async #refresh() {
    const hadPlayer = readToken() !== null;
    try {
      const found = await askAsPlayer();
      this.#show(found?.welcome ?? null);
      if (hadPlayer && !found) setText(this.#state, TEXT.playerUnknown);
    } catch (fault) {
      if (!(fault instanceof NoAnswer)) throw fault;
      setText(this.#state, TEXT.playerUnread(fault.message));
    }
    this.#own.hidden = readToken() === null;
  }

  #show(welcome) {
    this.#name = welcome?.name ?? null;
    setText(this.#state, welcome ? TEXT.youAre(welcome.name) : TEXT.noPlayerHere);
    const rooms = welcome ? seatsIn(welcome) : [];
    const note = rooms === null ? TEXT.seatsUnread : !welcome || rooms.length ? "" : TEXT.noSeats;
    const tournaments = welcome ? tournamentsIn(welcome) ?? [] : [];
    this.#seats.replaceChildren(...(note ? [make("p", {}, note)] : []), seatList(rooms ?? [], tournaments));
    if (welcome) setText(this.#warning, compareServer(welcome.key, welcome.rounds, welcome.now_ms));
  }

  get #exported() {
    return playerFile({
      server: socketUrl().replace(/\/$/, ""), name: this.#name, token: readToken(), nextToken: readNextToken(), key: readKey(),
      commitment: readCommitment(),
    });
  }

  #save() {
    const url = URL.createObjectURL(new Blob([this.#exported], { type: "application/json" }));
    make("a", { href: url, download: "fairest-player.json" }).click();
    URL.revokeObjectURL(url);
  }

  #showText() {
    this.#text.hidden = !this.#text.hidden;
    this.#text.value = this.#text.hidden ? "" : this.#exported;
    if (!this.#text.hidden) this.#text.select();
  }

  async #bringFile(file) {
    this.#bring(file.size > MAX_BYTES ? "" : await file.text(), file.size > MAX_BYTES ? TEXT.fileTooLong : "");
    this.#file.value = "";
  }

  #bringTyped(event) {
    event.preventDefault();
    this.#bring(this.#typed.value, "");
  }

  /** Let the player of a text be that of this browser, if the server knows it; ask before another one is replaced. */
  async #bring(text, problem) {
    this.#question.hidden = true;
    setText(this.#imported, TEXT.importing);
    try {
      if (problem) throw new NotAPlayer(problem);
      const { moved, welcome } = await greetAs(readPlayerFile(text, location));
      const questions = [];
      if (![null, moved.token].includes(readToken())) questions.push(TEXT.importReplaces(this.#name, welcome.name));
      if (moved.key !== null && moved.key !== welcome.key) questions.push(TEXT.importOtherKey);
      setText(this.#imported, "");
      if (questions.length) this.#ask(questions, () => this.#become(moved, welcome.name));
      else this.#become(moved, welcome.name);
    } catch (fault) {
      if (!(fault instanceof NotAPlayer || fault instanceof NoAnswer)) throw fault;
      setText(this.#imported, TEXT.notImported(fault.message));
    }
  }

  #ask(questions, work) {
    const answer = (isYes) => {
      this.#question.hidden = true;
      if (isYes) work();
      else setText(this.#imported, TEXT.keptMine);
    };
    const keep = button(TEXT.keepMine, () => answer(false));
    this.#question.replaceChildren(
      ...questions.map((sentence) => make("p", {}, sentence)),
      make("div", { class: "actions" }, keep, button(TEXT.replaceMine, () => answer(true))));
    this.#question.hidden = false;
    keep.focus();
  }

  #become(moved, name) {
    try {
      becomePlayer(moved);
    } catch (fault) {
      if (!(fault instanceof DOMException)) throw fault;
    }
    if (readToken() !== moved.token) {
      setText(this.#imported, TEXT.notImported(TEXT.playerNotKept));
      return;
    }
    this.#typed.value = this.#text.value = "";
    this.#text.hidden = true;
    setText(this.#imported, TEXT.imported(name));
    this.#refresh();
  }

  async #renew(pressed) {
    pressed.disabled = true;
    this.#text.value = "";
    this.#text.hidden = true;
    try {
      await renewToken();
      setText(this.#renewed, TEXT.renewed);
    } catch (fault) {
      if (!(fault instanceof NoAnswer)) throw fault;
      setText(this.#renewed, TEXT.notRenewed(fault.message));
    } finally {
      pressed.disabled = false;
    }
    this.#refresh();
  }
}

/** Say hello as the player of a file; return it as `moved`, with the token that the server knows, and the `welcome`. */
async function greetAs(moved) {
  try {
    return { moved, welcome: (await askOnce(moved.token)).welcome };
  } catch (fault) {
    if (!fault.isUnknown || moved.nextToken === null) throw fault;
    const renewed = { ...moved, token: moved.nextToken, nextToken: null };
    return { moved: renewed, welcome: (await askOnce(renewed.token)).welcome };
  }
}
