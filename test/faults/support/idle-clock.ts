/**
 * Time for the timers of one delay, so that hours of waiting take no time.
 *
 * @module
 */

import type { TestContext } from 'node:test'

export interface IdleClock {
  /** Timers that are running. */
  readonly running: number
  /** Lets so much time pass, and runs what is due. */
  advance(ms: number): void
}

interface FakeTimer {
  due: number
  readonly run: () => void
}

/** Takes over all timers of exactly this delay until the test ends; the others stay real. */
export function takeTimers(t: TestContext, delayMs: number): IdleClock {
  const { setTimeout: start, clearTimeout: clear } = globalThis
  const timers = new Map<unknown, FakeTimer>()
  let now = 0

  function startFake(run: () => void): unknown {
    // Whatever is not faked is that of a timer that never fires.
    const handle = start(() => undefined, 2 ** 31 - 1).unref()
    const timer = { due: now + delayMs, run }
    handle.refresh = () => {
      timers.set(handle, timer)
      timer.due = now + delayMs
      return handle
    }
    return handle.refresh()
  }

  Reflect.set(globalThis, 'setTimeout', (run: () => void, ms?: number, ...rest: unknown[]) =>
    ms === delayMs ? startFake(run) : Reflect.apply(start, undefined, [run, ms, ...rest]),
  )
  Reflect.set(globalThis, 'clearTimeout', (handle: NodeJS.Timeout | undefined) => {
    timers.delete(handle)
    clear(handle)
  })
  t.after(() => {
    Reflect.set(globalThis, 'setTimeout', start)
    Reflect.set(globalThis, 'clearTimeout', clear)
  })

  return {
    get running() {
      return timers.size
    },
    advance: (ms) => {
      now += ms
      for (const [handle, { due, run }] of timers) {
        if (due > now) continue
        timers.delete(handle)
        run()
      }
    },
  }
}
