// The English texts of the page. Another language is another file with the same names. The sentences of proofs and alarms
// stand where they are found out: word for word those of `fairest`, so that anybody can compare the two.
import { ANALYSIS_TEXT } from "./analysis_texts.js";
import { RANKS, rankOf } from "./board.js";
import { IDENTITY } from "./identity_texts.js";
import { TOURNAMENT_TEXT, playerCount } from "./tournament_texts.js";

const RANK_NAMES = ["ace", "2", "3", "4", "5", "6", "7", "8", "9", "10", "jack", "queen", "king"];
const RANK_SIGNS = ["A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K"];
const SUITS = { c: "clubs", d: "diamonds", h: "hearts", s: "spades" };
const ENDINGS = {
  won: "placed every card",
  stuck: "had no move left",
  stopped: "stopped",
  out_of_time: "ran out of time",
  away: "stayed away too long",
  resigned: "resigned",
  not_revealed: "did not take part in the deal",
  round_over: "was still racing",
};

export const rankSign = (rank) => RANK_SIGNS[rank - 1];
export const cardSign = (card) => RANK_SIGNS[RANKS.indexOf(card[0])];
export const cardName = (card) => `${RANK_NAMES[rankOf(card) - 1]} of ${SUITS[card[1].toLowerCase()]}`;
const rankName = (rank) => RANK_NAMES[rank - 1];

/** Minutes and seconds, `4:05`. */
export function clock(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

const fromName = (source) => (source === "s" ? "" : ` from pile ${source}`);
const placeName = (target) => (/[1-8]/.test(target) ? `foundation ${target}` : `pile ${target}`);

export const TEXT = {
  ...IDENTITY,
  ...ANALYSIS_TEXT,
  title: (name) => (name ? `${name} · Fairest` : "Fairest"),
  fourColours: "Four colours",
  // The lobby.
  lobbyTitle: "Rooms on this server",
  lobbyEmpty: "No room is listed right now. Create one, and send its link to a friend.",
  lobbyFault: "The lobby cannot be read right now. The page tries again.",
  seatFree: "a free seat",
  against: " against ",
  join: "Join",
  watch: "Watch",
  watching: (count) => `${count} watching`,
  cardsPlaced: (placed) => `${placed.join(" : ")} cards`,
  phases: {
    waiting: "waits for a player", ready: "getting ready", dealing: "dealing", countdown: "about to start",
    racing: "racing", finished: "finished", closed: "closed",
  },
  createTitle: "Create a room",
  variant: "Variant",
  certified: ", certified",
  credit: "Credit the time that distance to the server costs",
  bestOf: "Best of",
  listed: "List the room in the lobby, for anybody to join",
  yourName: "Your name (2 to 20 letters, digits, _ or -; empty for a guest's name)",
  create: "Create",
  recordTitle: "A finished match",
  recordLabel: "Id of a match (32 digits and letters a to f), or choose a record's file",
  open: "Open",
  // The list of finished matches.
  matchesTitle: "Finished matches",
  loadingMatches: "Reading the list …",
  noMatches: "No such match is listed.",
  matchesFault: "The list cannot be read right now.",
  matchesHint: "Matches of rooms that stood in the lobby and might be watched. A name is whoever used it.",
  playerName: "Name of a player",
  everyVariant: "every variant",
  filter: "Show",
  older: "Older matches",
  replayOf: (names) => `Replay and proof of ${names.join(" against ")}`,
  // Ratings.
  leaderboardTitle: "Leaderboard",
  leaderboardOf: (rules) => `Leaderboard of ${rules}`,
  leaderboardHeads: ["place", "player", "rating", "rounds", "won", "streak"],
  playerHeads: ["variant", "rating", "place", "rounds", "won", "streak", "near misses", "best time", "best direct score", "left early"],
  pairHeads: ["variant", "won", "draws", "direct score", "last day"],
  loadingRatings: "Reading the ratings …",
  ratingsFault: "The ratings cannot be read right now.",
  ratingsHint: "Rated are the rounds between two people, of every room but open ones. A name is whoever uses it now.",
  noRatings: (rules) => `No established rating in ${rules} yet: it takes some 17 rounds against people.`,
  ratedPlayers: playerCount,
  rating: (rating, deviation) => `${rating} ± ${deviation}`,
  provisional: ", provisional",
  streak: (streak) => (streak > 0 ? `${streak} won` : streak < 0 ? `${-streak} lost` : "–"),
  higher: "Higher ratings",
  lower: "Lower ratings",
  ratingsOf: (name) => `Ratings of ${name}`,
  notRated: (name) => `${name} has no rated round here.`,
  againstName: "Score against another player",
  scoreOf: (name, other) => `Rounds of ${name} against ${other}`,
  neverMet: (name, other) => `${name} and ${other} have no rated round against each other.`,
  matchesOf: "Finished matches of this name",
  ratingChanged: ({ rating, deviation, change, is_provisional: isProvisional, won, other }) => {
    const changed = change === null ? "" : ` (${change < 0 ? "−" : "+"}${Math.abs(change)})`;
    const score = won ? `. Rounds against ${other}: ${won.join(" : ")}` : "";
    return `Your rating: ${rating} ± ${deviation}${changed}${isProvisional ? ", provisional" : ""}${score}`;
  },
  // The daily deal.
  dailyTitle: "The daily deal",
  dailyHint: "One sealed deck a day (UTC) and variant, the same for everybody. Each player races it alone and once.",
  loadingDaily: "Reading the daily deal …",
  dailyOf: (day, rules, begun, ended) => `${day}, ${rules}: ${begun} ${begun === 1 ? "player has" : "players have"} begun, ${ended} ended.`,
  dayBefore: "The day before",
  dailyRules: "You have one attempt, and 20 minutes for it. Moves are not taken back, and the time goes on if you close the page.",
  dailyUnderWay: (day) => `Your attempt of ${day} is under way, and its time goes on.`,
  dailyDone: "You have raced this deal.",
  dailyBegin: "Begin my attempt",
  dailyGoOn: "Go on",
  dailyShow: "Show my attempt",
  dailyStop: "End my attempt",
  dailyNotOpened: "The day is over. The table is opened when nobody races this deal any more.",
  dailyNotDealt: "There is no deal for this day yet. A deal is announced the day before, and dealt when it begins (UTC).",
  dailyNeverDealt: "It was never dealt: no server was running, or none could reach drand.",
  dailyResult: ({ won, placed, goal, direct, rank, ended }, time) => [
    `${won ? "You placed every card" : `Your attempt is over: ${placed} of ${goal} cards`}, ${direct} of them straight from the stock, in ${time}.`,
    `Rank ${rank} of ${ended} ${ended === 1 ? "attempt that has" : "attempts that have"} ended so far. The table is opened when the day is over.`,
  ],
  dailyTable: (day, rules) => `The daily deal of ${day}, ${rules}`,
  dailyHeads: ["Rank", "Player", "Cards", "Direct", "Time", "From this address", "Replay"],
  dailyNobody: "Nobody raced it.",
  dailyReplayOf: (name) => `Replay and proof of the attempt of ${name}`,
  dailyReplays: (name, best) => (best ? `${name} beside ${best}, the best attempt` : name),
  dailyNoAttempt: "The table has no such attempt.",
  dailyAnalysis: (day, rules, rank) => `An installed client also measures how hard the deal is: fairest daily --day ${day} --rules ${rules} --rank ${rank} --analyse`,
  dailySecretProved: "The secret belongs to the commitment.",
  dailyDeckProved: "The deck is the one in the envelopes that you were shown.",
  dailyRowProved: "Your attempt stands in the table with your score.",
  chainLooking: "Looking the commitment up in the server's list of rounds …",
  chainTooOld: "Its announcement is older than the entries that the server keeps, so it was not looked up.",
  chainUnavailable: (reason) => `The commitment could not be looked up in the list of rounds: ${reason}`,
  chainNotShown: (path, reason) => `The server does not show ${path}. ${reason}`,
  chainNotRead: (path) => `The server does not answer at ${path}.`,
  chainNotUnderstood: (path) => `What the server answers at ${path} is not understood.`,
  dailyPageMissing: (reason) => `A page of the table cannot be read: ${reason}`,
  ...TOURNAMENT_TEXT,
  closedBy: (code, reason) => `The server closed the connection: ${code} ${reason}`.trim(),
  // The queue.
  quickTitle: "Quick race",
  quickHint: "Wait for anybody who wants to race by the same rules. The room opens by itself.",
  quick: "Find an opponent",
  rival: "If nobody comes",
  rivalAfter: (seconds) =>
    (seconds === null ? "wait on" : `race a program after ${seconds < 60 ? `${seconds} seconds` : seconds === 60 ? "a minute" : `${seconds / 60} minutes`}`),
  rivalStrength: "Its strength",
  rivalLevel: (level) => level ?? "any",
  rivalDue: (left) => `A program may take the other seat in ${left}, if this server has one.`,
  queueWaits: (rules, waiting) =>
    `Waiting for an opponent in ${rules}. ${waiting === 1 ? "Nobody else waits yet." : `${waiting} players wait, you among them.`}`,
  queueWaited: (time) => `${time} waited`,
  cancelQueue: "Stop waiting",
  leftQueue: "You wait no longer.",
  takenFromQueue: "Another page or client of yours waits in the queue now.",
  waitsAgain: "Nobody came into the room. You wait in the queue again.",
  // Practice.
  practiceTitle: "Practice alone",
  practiceKeys: "U takes a move back · Y makes it again · Z same deal again · N new deal",
  practiceStarted: (seed) => `The deal of the seed ${seed}. Nothing is sent to the server.`,
  practiceWon: (undos) => (undos ? `You have placed every card; moves taken back: ${undos}.` : "You have placed every card."),
  practiceStuck: "There is no move left. You can take moves back.",
  undos: (count) => (count ? `moves taken back: ${count}` : ""),
  undo: "Undo (U)",
  redo: "Redo (Y)",
  again: "Same deal again (Z)",
  newDeal: "New deal (N)",
  // TV.
  tvTitle: "TV",
  tvSearching: "Looking for a race that may be watched …",
  // A room.
  otherTab: "You play this seat from another tab now.",
  hasLeft: "You have left the room.",
  roomClosed: "The room is closed.",
  roomTitle: (room) => `Room ${room}`,
  connecting: "Connecting …",
  lost: "The connection is lost. The page connects again by itself; nothing that was stored is lost.",
  lostSeat: (seconds) => `The connection is lost. Your seat waits for ${seconds} seconds, and your moves are kept.`,
  cheated: "THE SERVER BROKE ITS SEAL",
  cheatedAdvice: "Do not trust this result, and do not play on this server. What the page found:",
  shareLabel: "Link for the other player, and for spectators",
  takeSeat: "Take the free seat",
  ready: "Ready (Enter)",
  readyWait: "You are ready. Waiting for the other player …",
  waitingSeat: "Waiting for another player …",
  bothReady: "Both players are ready: the cards are being dealt …",
  startsIn: "The race starts in",
  left: (time) => `${time} left`,
  away: (name, time) => `${name} is away; the seat waits for ${time}.`,
  stoppedSeat: (name) => `${name} has stopped.`,
  hasStopped: "has stopped",
  shown: (placed, goal) => `${placed} of ${goal} shown`,
  count: (placed, goal) => `${placed} of ${goal}`,
  lead: (names, [first, second]) => (first === second ? "level" : `${names[Number(first < second)]} +${Math.abs(first - second)}`),
  horizon: "Boards are shown as far as both players have turned cards; the counts are ahead of them.",
  openRoom: "This room is open: spectators see everything at once, also cards that one player has not turned yet.",
  checkWords: (words) => `check words ${words.join(" ")}`,
  sealed: "The server has signed its commitment; the check words come with the deal.",
  certifiedDeal: (clause) => `Certified deal: ${clause}.`,
  proved: (count) => `Sealed deal: all ${count} cards match their envelopes; the commitment was kept.`,
  recordProved: "The record was checked as well, move by move.",
  recordWrong: (reason) => `The record of this match is wrong: ${reason}`,
  series: (names, won) => `Matches in this room: ${names.map((name, seat) => `${name} ${won[seat]}`).join(", ")}.`,
  rematch: "Rematch (R)",
  rematchWaits: "You want a rematch; waiting for the other player …",
  rematchAsked: (name) => `${name} wants a rematch.`,
  nextOpponent: "Next opponent (F)",
  leavesForNext: "Leaving for the next opponent …",
  leave: "Leave",
  stop: "Stop my race",
  resign: "Resign",
  sure: "Press again to do it",
  replay: "Replay and proof",
  nextRound: "The next round opens in a few seconds.",
  keys: "1–8 foundation · a–h pile · Shift+a–h top of a pile · or tap a card, then its target",
  picked: (card) => `${cardName(card)} is picked up: choose where it goes.`,
  fitsNothing: (card) => `${cardName(card)} fits no foundation now.`,
  whichFoundation: "It fits two foundations: press the digit of one.",
  unconfirmed: (count) => `${count} on the way`,
  you: "you",
  wins: (name) => `${name} wins`,
  draw: "A draw",
  deadHeat: "A dead heat: the corrected times differ by less than the credits are uncertain by.",
  allPlaced: "You have placed every card. The other player is farther away and may still be first: the result comes within seconds.",
  timing: (name, { arrival_ms: arrival, credit_ms: credit, corrected_ms: corrected }) => {
    const seconds = (milliseconds, digits) => `${(milliseconds / 1000).toFixed(digits)} s`;
    const credited = `credited ${seconds(credit, 1)} for distance`;
    return arrival === null ? `${name}: ${credited}`
      : `${name}: the last card after ${seconds(arrival, 2)}, ${credited}: ${seconds(corrected, 2)}`;
  },
  ending: (name, score) => `${name}: ${score.placed} of ${score.goal} cards, ${ENDINGS[score.ending]}`,
  foundationLabel: (place, board, rank, top) =>
    `Foundation ${place + 1}, by ${board.layout[place].step}: ${top ? `${cardName(top)} on top` : "empty"}, `
    + (rank ? `wants ${rank === 1 || rank === 8 ? "an" : "a"} ${rankName(rank)}` : "complete"),
  pileLabel: (letter, cards) =>
    cards.length ? `Pile ${letter}, top first: ${[...cards].reverse().map(cardName).join(", ")}` : `Pile ${letter}, empty`,
  turnedLabel: (card, stock) => `${card ? `Turned: ${cardName(card)}` : "No card is turned"}; ${stock} in the stock`,
  stockCount: (count) => `${count} to come`,
  redeal: "Redeal",
  // Sentences for the live region and the replay.
  moved: (name, move, card) => {
    if (move === "redeal") return `${name} deals the waste again.`;
    if (move === "stop" || move === "resign") return `${name} ${move === "stop" ? "stops" : "resigns"}.`;
    return `${name} lays ${cardName(card)}${fromName(move[0])} on ${placeName(move[1])}.`;
  },
  youMoved: (move, card) =>
    card ? `You lay ${cardName(card)}${fromName(move[0])} on ${placeName(move[1])}.` : "You deal the waste again.",
  counted: (names, placed) => `${names[0]} ${placed[0]}, ${names[1]} ${placed[1]}.`,
  started: "The race has started.",
  stoppedBy: (names, ending) => `${names.join(" and ")} ${ENDINGS[ending]}.`,
  // A record.
  loading: "Reading the record …",
  notFound: "No record of this match is kept here.",
  notRead: (status) => `The record cannot be read right now (${status}).`,
  round: (number, of) => `Round ${number} of ${of}`,
  step: (at, of, time) => `${at} of ${of} · ${time}`,
  position: "Position in the race",
  play: "Play",
  pause: "Pause",
  speed: "Speed",
  verify: "Proof",
  right: "Everything that can be checked is right.",
  wrong: (reason) => `WRONG: ${reason}`,
  limits: [
    "What a record alone cannot prove:",
    "that this match took place, and that the record is complete: a server could invent a whole record.",
    "who won the match, and whether clocks and limits were kept: times are the server's own.",
    "that the key is your server's: compare it with GET /key.",
    "that no player was told which cards were to come.",
  ],
  soloLimits: {
    attempt: [
      "What a record alone cannot show:",
      "that the commitment stands in the server's chain of rounds before the day, and before the beacon if that is an entry of the chain.",
      "that the key is your server's: compare it with GET /key.",
      "whether clocks and limits were kept: times are the server's own.",
    ],
    tournament_race: [
      "What a record alone cannot show:",
      "that these are the entropies of all who were ready.",
      "that the commitment stands in the server's chain of rounds before any of them was shown.",
      "that the key is your server's: compare it with GET /key.",
      "whether clocks and limits were kept: times are the server's own.",
    ],
  },
  soloFile: "The record as a file, for fairest verify",
  soloRead: (reason) => `The record cannot be read right now: ${reason}`,
  saveReceipt: "Save your receipt of this match",
  receiptCut: "Your receipt was too long for this browser, or had no room in it: it ends before the match did.",
  receiptUnreadable: (reason) => `Your receipt cannot be read: ${reason}.`,
  keyOfServer: "The key is the one that this server shows.",
  curve: (names) => `Cards placed over time: ${names.join(" and ")}`,
};
