// The English texts about the player of this browser, its seats, and its way to another machine; `texts.js` has all others.

export const IDENTITY = {
  seatIn: (room) => `You have a seat in ${room}.`,
  takeIt: "Take it",
  takeSeatIn: (room) => `Take it: your seat in ${room}`,
  tournamentGoesOn: (code) => `Your tournament ${code} goes on.`,
  goOn: "Go on",
  goOnIn: (code) => `Go on in the tournament ${code}`,
  identityTitle: "Your player",
  youAre: (name) => `On this server you are ${name}.`,
  noPlayerHere: "This browser has no player here yet: it gets one when you first enter a room.",
  playerUnknown: "The server does not know the player of this browser any more: its token was renewed elsewhere, or it is too old. "
    + "A file that was saved since then brings it back.",
  playerUnread: (reason) => `Your player lies in this browser, and the server does not show its name: ${reason}`,
  noSeats: "You have no seat in a room now.",
  seatsUnread: "The server cannot say now in which rooms you have a seat.",
  exportTitle: "Take your player to another machine",
  exportHint: "The file is that of \"fairest identity export\": bring it to this page in another browser, or to an installed client with "
    + "\"fairest identity import\". It holds your token, and what you are bound to in a round under way. "
    + "Whoever has it plays as you: carry it over a safe way, and delete it afterwards.",
  exportFile: "Save as a file",
  exportText: "Show as text",
  playerText: "The text of your player",
  renewTitle: "If somebody else may know your token",
  renewHint: "Renewing takes a new token. The old one opens nothing any more, and within some seconds everybody who plays with it is cut "
    + "off: a thief, and also your own player on another machine. Files that were saved before hold the old token. Name, seats and "
    + "ratings stay. Of a thief and you, the first one to renew has the player.",
  renew: "Renew my token",
  renewed: "You have a new token. Files that were saved before open nothing any more: save another one.",
  notRenewed: (reason) => `Your token was not renewed, as far as this page knows; to try again is safe. ${reason}`,
  renewsNone: (version) => `This server (Fairest ${version}) renews no tokens.`,
  tokenNotKept: "This browser does not keep what a page stores, so the new token would be lost.",
  importTitle: "Bring a player here",
  importHint: "From a file of \"fairest identity export\" or of this page in another browser. The server is asked whether it knows the player.",
  importFile: "The file",
  importText: "Or its text",
  importIt: "Bring it here",
  importing: "The server is asked …",
  imported: (name) => `You are ${name} in this browser now. Other tabs that are open go on as before until they are loaded again.`,
  notImported: (reason) => `Nothing was changed, since this player cannot be brought here: ${reason}`,
  playerNotKept: "This browser does not keep what a page stores.",
  importReplaces: (own, other) =>
    `This browser has a player already${own ? `: ${own}` : ""}. If ${other} takes its place, it is lost, unless you have saved it as a file.`,
  importOtherKey: "Beware: this server signs with another key than the one in the file, which it showed to this player before.",
  replaceMine: "Replace it",
  keepMine: "Keep my player",
  keptMine: "Nothing was changed.",
  fileTooLong: "it is too long",
  tokenUnknown: "The server does not know this token: it was renewed, or it is too old.",
  serverSilent: "The server does not answer.",
  answerBroken: "What the server answers is not understood.",
};
