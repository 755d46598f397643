/** The screen of a phone, while files are on their way. @module */

/**
 * Keeps the screen on while something moves, where browsers let pages do that: with https. A phone
 * that sleeps sends nothing; one that waits for the computer may sleep.
 */
export function createWakeLock(): (isWanted: boolean) => void {
  let lock: Promise<WakeLockSentinel | undefined> | undefined

  // A battery that is low may be a reason against it.
  const request = () => navigator.wakeLock?.request('screen').catch(() => undefined)

  function keepAwake(isWanted: boolean) {
    if (isWanted === (lock !== undefined)) return
    void lock?.then((held) => held?.release())
    lock = isWanted ? request() : undefined
  }

  // The browser takes it away from a page that nobody sees.
  document.addEventListener('visibilitychange', () => {
    if (lock !== undefined && !document.hidden) lock = request()
  })
  return keepAwake
}
