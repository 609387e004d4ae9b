// The English texts of tournaments on the page, which are part of `TEXT`.

const FORMATS = { swiss: "Swiss", round_robin: "round robin", knockout: "knock-out" };
const TOURNAMENT_PHASES = {
  open: "open", filling: "rivals enter", gathering: "players get ready", revealing: "the deck is drawn", racing: "racing",
  over: "over", cancelled: "cancelled",
};

export const playerCount = (count) => (count === 1 ? "1 player" : `${count} players`);
const raceAgainst = (other) => (other === null ? "you have a bye, and race the deal as well" : `you race ${other}`);
const pointsOf = (halves) => `${halves === 1 ? "" : Math.floor(halves / 2)}${halves % 2 ? "½" : ""}`;

export const TOURNAMENT_TEXT = {
  tournamentsTitle: "Tournaments",
  tournamentsNow: "Open and under way",
  tournamentsEnded: "Ended",
  loadingTournaments: "Reading the tournaments …",
  noTournaments: "No tournament is open or under way.",
  noSuchTournament: "There is no tournament with this code.",
  noneEnded: "No tournament has ended lately.",
  tournamentsHint: "Everybody races the same sealed deal in each round, alone and at the same time. An installed client enters a tournament as well: "
    + "fairest tournament join CODE.",
  createTournamentTitle: "Create a tournament",
  createTournament: "Create the tournament",
  format: "Format",
  tournamentFormat: (format) => FORMATS[format],
  rounds: "Rounds, 1 to 15 (empty for as many as the players need)",
  mostPlayers: "Most players, 2 to 128",
  rivals: "Fill it up with programs",
  tournamentRivals: (level) => (level === null ? "no" : `yes, of the strength ${level}`),
  readySeconds: "Seconds to get ready for a round",
  limitSeconds: "Seconds for a race",
  enterTournament: "Enter the tournament",
  entersAs: (name) => `You enter as ${name}.`,
  leaveTournament: "Leave the tournament",
  startTournament: "Start the tournament",
  getReady: (number, other) => `Round ${number}: ${raceAgainst(other)}. Get ready.`,
  readyTitle: (number) => `● Get ready for round ${number}`,
  raceTitle: (number) => `● Race of round ${number}`,
  raceStartsIn: (seconds) => `The race starts in ${seconds}`,
  raceOver: ({ won, placed, direct }, time) =>
    `Your race is over: ${won ? "every card" : `${placed} cards`}, ${direct} of them straight from the stock, in ${time}. The round ends when all races have.`,
  opponentCount: (name, { placed, ended }) => `${name}: ${placed} cards${ended ? ", ended" : ""}`,
  unratedTournament: "A tournament changes nobody's rating.",
  tournamentLine: ({ format, rules, phase, round, players, most_players: most, creator, winners = [] }) =>
    [FORMATS[format] ?? format, rules, round ? `round ${round}` : `${players} of ${most} players`, TOURNAMENT_PHASES[phase] ?? phase,
      winners.length ? `won by ${winners.join(" and ")}` : `by ${creator}`].join(" · "),
  showTournament: "Show",
  showTournamentOf: (code) => `Show the tournament ${code}`,
  tournamentTitle: (code) => `Tournament ${code}`,
  tournamentHead: ({ format, rules, phase, rounds, played, standings }) =>
    [FORMATS[format] ?? format, rules, played.length ? `round ${played.at(-1).number}${rounds ? ` of ${rounds}` : ""}` : playerCount(standings.length),
      TOURNAMENT_PHASES[phase] ?? phase].join(" · "),
  tournamentDue: ({ name, shown }) => {
    const { phase, creator, code, played, standings } = shown;
    const [newest, own] = [played.at(-1), standings.find((row) => row.name === name)];
    if (phase === "open") return `${own && creator === name ? "You start it when all are here." : `${creator} starts it.`} Others enter at this address, or by: fairest tournament join ${code}`;
    if (phase === "over") return `Won by ${standings.filter(({ rank }) => rank === 1).map((row) => row.name).join(" and ")}.`;
    if (own?.has_left) return "You have left this tournament.";
    const pair = own && newest?.pairs.find(({ names }) => names.includes(name));
    if (pair && newest.ready.some((each) => each.name === name) && phase !== "racing")
      return `You are ready for round ${newest.number}: ${raceAgainst(pair.names.find((each) => each !== null && each !== name) ?? null)}.`;
    if (phase === "gathering" || phase === "revealing") return `${playerCount(newest.ready.length)} ready for round ${newest.number}.`;
    return "";
  },
  standings: "Standings",
  standingsHeads: ["rank", "player", "points", "cards", "direct", "opponents"],
  hasLeftTournament: ", has left",
  points: pointsOf,
  roundTitle: (number) => `Round ${number}`,
  bye: "a bye",
  isReady: "ready",
  tournamentCount: ({ placed, ended }) => `${placed} cards${ended ? ", ended" : ""}`,
  pairResult: (points, score, time) =>
    `${pointsOf(points)}${score ? ` (${score.won ? "every card" : `${score.placed} cards`}, ${score.direct} direct, ${time})` : ""}`,
  raceReplay: "replay",
  raceReplayOf: (name, number) => `Replay and proof of the race of ${name} in round ${number}`,
  noSuchRace: "The tournament has no race of this player in this round, or it is not over yet.",
  shownToYou: "What this browser was shown",
  roundProved: "The secret of this round belongs to its commitment.",
};
