/**
 * Hears of each change, across outages and a locked screen. `EventSource` cannot send credentials,
 * so the stream is read by `fetch`.
 * @module
 */

import { keepAliveClock, within } from '../../lib/clock.ts'

const FIRST_DELAY_MS = 500

/** A stream that was live for so long ends for a reason, such as that this phone was removed. */
const WELL_MS = 2_000

/** The daemon sends a sign of life every 25 s. After two such times without one it is not there. */
const MAX_SILENCE_MS = 27_000

/** A stream that a proxy holds back has no bytes by then. */
const FIRST_BYTES_MS = 10_000

/** Between two looks where there is no stream. */
const POLL_MS = 5_000
const MAX_POLLS = 60

/** The last frame of a stream that another one of the same device has replaced. */
const REPLACED = ': replaced'

/** More characters than the longest event has: the state of thousands of devices. */
export const MAX_FRAME: number = 16 * 1024 * 1024

/** How the way to the daemon is. */
export type Way = 'trying' | 'live' | 'away' | 'refused'

interface Followed {
  /** Asks for the event stream. */
  readonly open: (signal: AbortSignal) => Promise<Response>
  /** Takes the data of an event. */
  readonly take: (data: string, signal: AbortSignal) => Promise<void> | void
  /** Gets what is current without the stream. What comes after its signal is older than others. */
  readonly look: (signal: AbortSignal) => Promise<void>
  readonly onWay: (way: Way) => void
  /** Says what such a failure means for the way; throws every other error. */
  readonly wayOf: (error: unknown) => 'away' | 'refused'
  /** Between two attempts. */
  readonly maxDelayMs: number
}

interface Following {
  /** Lets go for good. */
  end(): void
  /** Looks again at once, and says until then that it tries. */
  reopen(): void
  /** Looks again at once, and says that the daemon is away until then. */
  lose(): void
}

/**
 * Follows the daemon until it refuses this page.
 *
 * A hidden page lets go of its stream: a phone freezes it anyway, and browsers open six connections
 * to a host, in all tabs together.
 */
export function follow(followed: Followed): Following {
  const { take, look, onWay, wayOf, maxDelayMs } = followed
  let stream = new AbortController()
  let delayMs = FIRST_DELAY_MS
  let timer: ReturnType<typeof setTimeout> | undefined
  let isEnded = false
  /** Since when this stream is live, unless the daemon does not answer right now. */
  let liveAt: number | undefined
  /** Whether the last stream was live in the end. */
  let wasLive = false

  async function open(): Promise<void> {
    close()
    if (document.hidden || isEnded) return
    stream = new AbortController()
    const { signal } = stream
    liveAt = undefined
    let way: Way = 'away'
    try {
      way = await attend(signal)
    } finally {
      // Also after what nobody has foreseen: it is tried again.
      if (!signal.aborted) goOn(way)
    }
  }

  function goOn(way: Way): void {
    const wasWell = way !== 'refused' && Date.now() - (liveAt ?? Infinity) > WELL_MS
    if (way === 'refused') end()
    else timer = setTimeout(open, wasWell ? 0 : delayMs)
    delayMs = Math.min(delayMs * 1.7, maxDelayMs)
    wasLive = wasWell
    onWay(wasWell ? 'trying' : way)
  }

  /** @returns How the way is when this has ended. */
  async function attend(signal: AbortSignal): Promise<Way> {
    let since: number | undefined
    try {
      // Who does not answer this is away, and no stream is waited for to find out.
      await look(signal)
      if (signal.aborted) return 'trying'
      if (wasLive) onWay('live')
      for await (const data of eventsOf(followed, signal)) {
        liveAt = undefined
        await (data === undefined ? look(signal) : take(data, signal))
        if (signal.aborted) break
        delayMs = FIRST_DELAY_MS
        liveAt = since ??= Date.now()
        wasLive = true
        onWay('live')
      }
      return 'trying'
    } catch (error) {
      return error instanceof BrokenStream ? 'away' : wayOf(error)
    }
  }

  function close(): void {
    clearTimeout(timer)
    stream.abort()
  }

  function restart(until: Way): void {
    if (isEnded) return
    onWay(until)
    delayMs = FIRST_DELAY_MS
    void open()
  }

  const reopen = (): void => restart('trying')
  const lose = (): void => restart('away')

  function end(): void {
    isEnded = true
    close()
  }

  document.addEventListener('visibilitychange', () => (document.hidden ? close() : reopen()))
  // A stream hears nothing of a network that is gone.
  window.addEventListener('offline', reopen)
  window.addEventListener('online', reopen)
  // A page that the browser had frozen has a dead stream.
  window.addEventListener('pageshow', (event) => event.persisted && reopen())
  window.addEventListener('pagehide', close)
  void open()
  return { end, lose, reopen }
}

/**
 * Yields the data of each event until the daemon ends the stream, and `undefined` when it is time
 * to look.
 *
 * @throws {BrokenStream} And what `open` throws.
 */
async function* eventsOf(
  { open }: Followed,
  signal: AbortSignal,
): AsyncGenerator<string | undefined, void> {
  const stream = new AbortController()
  const stop = (): void => stream.abort()
  signal.addEventListener('abort', stop)
  let [isHeard, isReplaced] = [false, false]
  try {
    const chunks = chunksOf(open(stream.signal))
    let next: Promise<IteratorResult<string, void>> | undefined
    let [rest, isQuiet] = ['', false]
    while (!isReplaced) {
      next ??= chunks.next()
      const patienceMs = isHeard ? MAX_SILENCE_MS : FIRST_BYTES_MS
      const come = await within(keepAliveClock, patienceMs, next, undefined)
      if (come === undefined) {
        if (!isHeard) break
        if (isQuiet) broken()
        isQuiet = true
        // Whoever looks now finds out whether the daemon is there.
        yield
        continue
      }
      if (come.done) return
      next = undefined
      isHeard = true
      isQuiet = false
      const frames = (rest + come.value).split('\n\n')
      rest = frames.pop() ?? ''
      isReplaced = frames.includes(REPLACED)
      if (rest.length > MAX_FRAME) broken()
      // A frame without data is a sign of life, and what came before the last one is over.
      const data = frames.flatMap((frame) => /^data: ?(.*)$/m.exec(frame)?.[1] ?? []).pop()
      if (data !== undefined) yield data
    }
  } finally {
    signal.removeEventListener('abort', stop)
    stop()
  }
  // A proxy keeps the stream to itself, so looking is all there is for a while; or others have the
  // streams of this device, and would come again if this page did.
  for (let polls = 0; (isReplaced || polls < MAX_POLLS) && !signal.aborted; polls++) {
    yield
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

/** Yields the stream as it comes. */
async function* chunksOf(opening: Promise<Response>): AsyncGenerator<string, void> {
  const reader = (await opening).body?.pipeThrough(new TextDecoderStream()).getReader()
  for (;;) {
    const { value } = (await reader?.read().catch(broken)) ?? {}
    if (value === undefined) return
    yield value
  }
}

/** The stream broke, fell silent, or is none of ours. */
class BrokenStream extends Error {}

/** Browsers say nothing of use about why it broke. */
function broken(): never {
  throw new BrokenStream()
}
