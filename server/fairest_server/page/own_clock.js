// The clock by which this page judges the server.

/**
 * Return the milliseconds of a clock of our own. It goes on while the machine sleeps, as that of the system does and the
 * one of the page may not, and is never set back.
 */
export const ownClock = (() => {
  let [now_ms, date_ms, page_ms] = [Date.now(), Date.now(), performance.now()];
  return () => {
    now_ms += Math.max(0, Date.now() - date_ms, performance.now() - page_ms);
    [date_ms, page_ms] = [Date.now(), performance.now()];
    return now_ms;
  };
})();
