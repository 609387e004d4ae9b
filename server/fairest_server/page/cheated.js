/** Raised if the server does what an honest one cannot; the message says what. */
export class Cheated extends Error {}
