// Answers questions about the modules of the page: one JSON question a line on standard input, one JSON answer a line
// on standard output. The tests compare the answers with those of Python.
import { createInterface } from "node:readline";

const page = (name) => import(new URL(`../../server/fairest_server/page/${name}.js`, import.meta.url));
const [bytes, sha2, shake, ed25519, board, deal, record, scene, seal, practice, tv, witness, cheated, certified, lineSearch, heads, receiptCheck, dailyEntries, dailyGame, soloRecord, playerFile, soloGame, knownTournament, tournamentGame, tournamentRounds, tournamentNote, chances, layoutTables, judging, analysis, solver, race, texts] = await Promise.all(
  ["bytes", "sha2", "shake256", "ed25519", "board", "deal", "record", "scene", "seal", "practice", "tv", "witness", "cheated", "certified", "line_search", "heads", "receipt_check", "daily_entries", "daily_game", "solo_record", "player_file", "solo_game", "known_tournament", "tournament_game", "tournament_rounds", "tournament_note", "chance", "layout_tables", "judging", "analysis", "solver", "race", "analysis_texts"].map(page));
const { fromHex, toHex } = bytes;

const ANSWERS = {
  write_player: ({ player }) => playerFile.playerFile(player),
  read_player({ text, place }) {
    try {
      return { player: playerFile.readPlayerFile(text, place), fault: null };
    } catch (fault) {
      if (!(fault instanceof playerFile.NotAPlayer)) throw fault;
      return { player: null, fault: fault.message };
    }
  },
  sha256: ({ message }) => toHex(sha2.sha256(fromHex(message))),
  sha512: ({ message }) => toHex(sha2.sha512(fromHex(message))),
  hmac: ({ key, message }) => toHex(sha2.hmacSha256(fromHex(key), fromHex(message))),
  shake256({ message, count }) {
    const stream = shake.shake256(fromHex(message));
    return toHex(Array.from({ length: count }, () => stream.next().value));
  },
  signed: ({ message, signature, key }) => ed25519.isSigned(...[message, signature, key].map(fromHex)),
  legal: ({ board: given }) => board.legalMoves(given),
  play: ({ board: given, move, next }) => board.play(given, move, next),
  deal({ rules, redeals, seed, round }) {
    const made = deal.makeDeal(rules, redeals, seed);
    return { ...made, envelopes: deal.sealDeal(made, seed, round) };
  },
  words: ({ round, commitment, entropies, envelopes, terms }) =>
    seal.checkWords(round, commitment, entropies, envelopes, terms),
  terms: ({ options }) => seal.termsOf(options),
  verify({ text, key }) {
    const sentences = [];
    try {
      for (const sentence of record.checkRecord(record.parseRecord(text), key)) sentences.push(sentence);
    } catch (fault) {
      if (!(fault instanceof record.WrongRecord)) throw fault;
      return { sentences, fault: fault.message };
    }
    return { sentences, fault: null };
  },
  /** Prove the record of a race that was raced alone: the sentences, and what is wrong. */
  solo({ text, key }) {
    const sentences = [];
    try {
      for (const sentence of soloRecord.checkSolo(soloRecord.parseSolo(text), key)) sentences.push(sentence);
    } catch (fault) {
      if (!(fault instanceof record.WrongRecord)) throw fault;
      return { sentences, fault: fault.message };
    }
    return { sentences, fault: null };
  },
  /** Replay one such race, or two beside one another: each step with its event, and what both seats have then. */
  solo_steps({ texts }) {
    const steps = soloRecord.soloSteps(...texts.map(soloRecord.parseSolo));
    return steps.map(({ event, race: { racers } }) => ({ event, racers: racers.map(({ board: { foundations, piles }, ending }) => ({ foundations, piles, ending })) }));
  },
  /** Draw numbers from a seed: 700 from 0 to 1, as many words of 32 bits, and a list of 60 in another order. */
  chance({ seed }) {
    const chance = new chances.Chance(seed);
    const count = Array.from({ length: 700 });
    const shuffled = count.slice(0, 60).map((_, at) => at);
    const drawn = { random: count.map(() => chance.random()), bits: count.map(() => chance.bits(32)), shuffled };
    chance.shuffle(shuffled);
    return drawn;
  },
  /** Return the chance to win after each move of a board, the best first. */
  evaluate: ({ rules, board: given, seed, budget }) =>
    judging.evaluate(new layoutTables.LayoutTables(given.layout), given, rules, seed, budget),
  /** Analyse a race that was raced alone, or two beside one another, or each round of a match: all news of each. */
  analyse({ texts, match }) {
    const races = match ? record.racesOf(record.parseRecord(match)) : [soloRecord.soloRace(...texts.map(soloRecord.parseSolo))];
    return races.map((race) => [...analysis.analyse(race)]);
  },
  /** Return the verdict of the solver on each of the steps of a race of one seat with these moves. */
  solve({ rules, piles, redeals, seed, moves, at }) {
    let played = race.startRace(deal.makeDeal(rules, redeals, seed), piles, redeals);
    const races = [played, ...moves.map((move) => (played = race.after(played, { type: "move", at_ms: 0, seat: 0, move })))];
    return at.map((step) => solver.solve(races[step], 0));
  },
  percent: ({ shares }) => shares.map(texts.percent),
  /** Begin a daily deal with the first view, and go on with the others: the moves that are known then, or the alarm. */
  daily_views({ rules, views: [first, ...answers] }) {
    try {
      return soloGame.ownOf(answers.reduce(dailyGame.afterView, dailyGame.beginDaily(rules, first))).moves;
    } catch (fault) {
      if (!(fault instanceof cheated.Cheated)) throw fault;
      return fault.message;
    }
  },
  daily_day({ day, asked, now }) {
    try {
      dailyGame.checkDay(day, asked, now);
      return null;
    } catch (fault) {
      if (!(fault instanceof cheated.Cheated)) throw fault;
      return fault.message;
    }
  },
  daily_beacon({ day, seal }) {
    try {
      dailyGame.checkBeacon(day, seal);
      return null;
    } catch (fault) {
      if (!(fault instanceof cheated.Cheated)) throw fault;
      return fault.message;
    }
  },
  /** Follow a tournament as the player `name`, step by step: what is known then, or the alarm. */
  tournament({ name, steps }) {
    let [known, game] = [knownTournament.knownTournament(name), null];
    const take = {
      shown: (shown) => (known = knownTournament.afterShown(known, shown)),
      taken: ([number, entropy]) => (known = knownTournament.withEntropy(known, number, entropy)),
      race: (answer) => keepRace(tournamentGame.beginRace(known.shown.rules, known.rounds[answer.round], answer, game)),
      move: (answer) => keepRace(tournamentGame.afterRace(game, answer)),
    };
    const keepRace = (raced) => {
      game = raced;
      known.rounds[game.number] = tournamentGame.withRace(known.rounds[game.number], game);
    };
    try {
      for (const [kind, value] of steps) take[kind](value);
    } catch (fault) {
      if (!(fault instanceof cheated.Cheated)) throw fault;
      return fault.message;
    }
    const newest = knownTournament.newestOf(known);
    return {
      rounds: Object.fromEntries(Object.entries(known.rounds).map(([number, { moves, result, ...round }]) =>
        [number, { ...round, moves, is_over: result !== null, seed: tournamentRounds.seedOf({ ...round }) }])),
      ready: knownTournament.isReadyWanted(known), due: knownTournament.isRevealDue(known, known.taken[newest?.number]),
      entered: knownTournament.hasEntered(known), left: knownTournament.hasLeft(known), pair: knownTournament.pairOf(known)?.names ?? null,
    };
  },
  /** Compare the record of a race in a tournament with what the player `own` was shown of its round. */
  compare_race({ text, witness, own }) {
    try {
      return { sentences: [...tournamentNote.compareRound(soloRecord.parseSolo(text), witness, own)], fault: null };
    } catch (fault) {
      if (!(fault instanceof record.WrongRecord)) throw fault;
      return { sentences: [], fault: fault.message };
    }
  },
  /** Replay a receipt of `fairest`: how the rounds ended, and the line with which the server was found out. */
  receipt({ lines, entropies }) {
    const ended = [];
    let known = null;
    for (const [number, line] of lines.entries()) {
      const { type, key, at_ms: at, heard, known: seen, said, dropped, returned, arrived, ended: end } = JSON.parse(line);
      const before = known?.binding.lastEnd;
      try {
        if (type === "receipt") known = new witness.Witness(key, entropies);
        else if (heard ?? seen) known.hear(heard ?? seen, at);
        else if (said) known.said(said, at);
        else if (dropped) known.binding.drop(dropped.alive_ms);
        else if (arrived) known.binding.arrived(arrived.round, at);
        else if (returned) known.binding.pong(at);
        else if (end.way_out !== "quit") known.wayOut(end.way_out, end.detail ?? "", at);
      } catch (fault) {
        if (!(fault instanceof cheated.Cheated || fault instanceof witness.Contradiction)) throw fault;
        return { ended, fault: fault.message, line: number + 1 };
      }
      const { lastEnd } = known.binding;
      if (lastEnd && lastEnd !== before) ended.push([lastEnd.round, lastEnd.explanation]);
    }
    return { ended, fault: null, line: null };
  },
  proved({ rules, piles, redeals, seed }) {
    const { layout, orders } = deal.makeDeal(rules, redeals, seed);
    return lineSearch.isProvedWinnable(layout.map(({ start, step, length }) => [start, step, length]), orders, piles);
  },
  step({ rules, piles, redeals, seed }) {
    const seedOf = (step) => seal.hash("step", fromHex(seed), Uint8Array.of(step));
    return certified.findStep(rules, piles, redeals, seedOf);
  },
  heads({ key, shown, now_ms, known }) {
    return {
      problem: heads.headProblem(shown, key, now_ms, known),
      signed: heads.isHeadSigned(shown, key),
      after: heads.headsAfter(known, shown),
    };
  },
  /** Judge the pages of a chain of rounds for a daily deal: whether its announcement may be on the first, and the rest. */
  daily_entries({ rules, day, seal, pages, page_lines, head, known }) {
    const judged = (work) => {
      try {
        return work();
      } catch (fault) {
        if (!(fault instanceof cheated.Cheated || fault instanceof dailyEntries.BrokenChain)) throw fault;
        return `${fault.constructor.name}: ${fault.message}`;
      }
    };
    return [
      judged(() => dailyEntries.mayBeginAt(pages[0], day)),
      judged(() => {
        const entries = new dailyEntries.DailyEntries(rules, day, seal);
        for (const page of pages) entries.addPage(page, page_lines, head.number);
        return entries.check(head, known).sentence;
      })];
  },
  /** Compare a receipt with a record, or with a text of null say how its rounds ended. */
  prove({ text, lines }) {
    const sentences = [];
    try {
      for (const sentence of receiptCheck.checkReceipt(text === null ? null : record.parseRecord(text), lines))
        sentences.push(sentence);
    } catch (fault) {
      if (fault instanceof receiptCheck.BadReceipt) return { sentences, fault: fault.message, isBad: true };
      if (!(fault instanceof record.WrongRecord)) throw fault;
      return { sentences, fault: fault.message, isBad: false };
    }
    return { sentences, fault: null, isBad: false };
  },
  tv: ({ rooms }) => tv.chooseMatch(rooms)?.room ?? null,
  practice({ rules, seed, steps }) {
    const make = { undo: practice.undo, redo: practice.redo };
    let game = practice.startPractice(rules, seed);
    const states = [game];
    for (const step of steps) states.push(game = make[step] ? make[step](game) : practice.playMove(game, step));
    return states.map((each) => ({ board: practice.boardOf(each), ending: practice.endingOf(each), undos: each.undos }));
  },
  fold: ({ scene: first, entries }) => entries.reduce(scene.afterEntry, first),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { ask, ...question } = JSON.parse(line);
  process.stdout.write(`${JSON.stringify(ANSWERS[ask](question))}\n`);
}
