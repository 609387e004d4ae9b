// The page: which view its path asks for, and the choice of colours.
import { drawHex } from "./bytes.js";
import { DailyView } from "./daily_view.js";
import { make, setText } from "./dom.js";
import { firstTable } from "./first_view.js";
import { IdentityView } from "./identity_view.js";
import { LobbyView } from "./lobby_view.js";
import { showMatches } from "./match_list_view.js";
import { NoRecord, fetchRecord, showRecord } from "./record_view.js";
import { showLeaderboard, showPlayer } from "./ratings_view.js";
import { PracticeView } from "./practice_view.js";
import { RoomView } from "./room_view.js";
import { soloKind } from "./solo_record.js";
import { showSolo } from "./solo_view.js";
import { TEXT } from "./texts.js";
import { TournamentList } from "./tournament_list_view.js";
import { showTournamentRace } from "./tournament_race_view.js";
import { TournamentView } from "./tournament_view.js";
import { findMatch } from "./tv.js";

const view = document.getElementById("view");
const show = (...elements) => view.replaceChildren(...elements);

/** How long the result of a match stays on TV, and how long TV waits before it looks for a match again. */
const TV_RESULT_MS = 12000;
const TV_SEARCH_MS = 3000;
/** The length of the key of a request to create a room: the same request again creates no other room. */
const KEY_BYTES = 16;

function showLobby() {
  show(new LobbyView((options, name) => {
    show(new RoomView({ type: "create", options, key: drawHex(KEY_BYTES) }, { name }).element);
  }, showQueue).element);
}

/** Wait for an opponent by a wish of the form, and after the race for the next one, if the player asks for that. */
function showQueue(wish, name) {
  const onNext = () => {
    // The path is that of the room which the player has left.
    history.replaceState(null, "", "/");
    showQueue(wish, name);
  };
  show(new RoomView({ type: "queue", ...wish }, { name, onNext }).element);
}

async function showMatch(match) {
  const heading = make("h1", {}, TEXT.recordTitle);
  show(heading, make("p", { role: "status" }, TEXT.loading));
  try {
    show(...showRecord(await fetchRecord(match)));
  } catch (fault) {
    if (!(fault instanceof NoRecord)) throw fault;
    show(heading, make("p", { role: "alert" }, fault.message));
  }
}

/** Follow one match after the other: the best one that is under way, then the next. */
async function showTv() {
  const next = await findMatch();
  if (!next) {
    show(make("h1", {}, TEXT.tvTitle), make("p", { role: "status" }, TEXT.tvSearching));
    setTimeout(showTv, TV_SEARCH_MS);
    return;
  }
  let timer = null;
  const room = new RoomView({ type: "watch", room: next.room }, {
    onOver: (isOver) => {
      clearTimeout(timer);
      timer = isOver ? setTimeout(() => {
        room.close();
        showTv();
      }, TV_RESULT_MS) : null;
    },
  });
  show(room.element);
}

function choosePage() {
  const [, kind, name] = location.pathname.split("/");
  if (kind === "r" && name) {
    const wantsSeat = new URLSearchParams(location.search).has("join");
    show(new RoomView({ type: wantsSeat ? "join" : "watch", room: name }, { table: firstTable }).element);
  } else if (kind === "m" && name) showMatch(name);
  else if (kind === "m") show(showMatches(location.search));
  else if (kind === "ratings") show(showLeaderboard(location.search));
  else if (kind === "p" && name) show(showPlayer(decodeURIComponent(name), location.search));
  else if (kind === "tv") showTv();
  else if (kind === "t" && name && location.search) show(showTournamentRace(name, location.search));
  else if (kind === "t") show((name ? new TournamentView(name) : new TournamentList()).element);
  else if (kind === "today") show(new DailyView(location.search).element);
  else if (kind === "me") show(new IdentityView().element);
  else if (kind === "practice") show(new PracticeView(location.search).element);
  else showLobby();
}

/** Remember the choice of four colours, where the browser lets a page remember. */
function offerColours() {
  const button = document.getElementById("four-colours");
  const apply = (isOn) => {
    document.documentElement.classList.toggle("four-colours", isOn);
    button.setAttribute("aria-pressed", isOn);
  };
  setText(button, TEXT.fourColours);
  let isOn = false;
  try {
    isOn = localStorage.getItem("fairest.four-colours") === "true";
  } catch (fault) {
    if (!(fault instanceof DOMException)) throw fault;
  }
  apply(isOn);
  button.addEventListener("click", () => {
    isOn = !isOn;
    apply(isOn);
    try {
      localStorage.setItem("fairest.four-colours", isOn);
    } catch (fault) {
      if (!(fault instanceof DOMException)) throw fault;
    }
  });
}

document.addEventListener("record", async ({ detail: file }) => {
  const text = await file.text();
  show(...(soloKind(text) ? showSolo(text) : showRecord(text)));
});
offerColours();
choosePage();
