/**
 * One event stream for all tabs and windows of the panel: browsers open six connections to a host,
 * so that the seventh tab would never load. One of them has the stream, and tells the others.
 *
 * Their channel has the token as its name, and no page can list channels: one of another server
 * that had our port, and is of our origin still, hears nothing.
 * @module
 */

import { openEvents, readStateText, tokenOfTab } from './api.ts'
import { MAX_FRAME } from '../shared/follow.ts'

/** Sent when the stream has ended, in place of an event. */
const END = ''

/**
 * Whoever has this lock has the stream; the others wait for it. Pages can list locks, so its name
 * says nothing of the token; and it follows from that, so that nobody else has it.
 */
async function lockOf(token: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token))
  return `clipgate.${btoa(String.fromCharCode(...new Uint8Array(digest)))}`
}

/** Without them each tab that is seen has a stream. Where a page keeps nothing they are refused. */
async function hasLocks(): Promise<boolean> {
  const locks: LockManager | undefined = navigator.locks
  return (await locks?.query().catch(() => undefined)) !== undefined
}

/** The event stream, or what the tab hears that has it. */
export async function openShared(signal: AbortSignal): Promise<Response> {
  if (!(await hasLocks())) return openEvents(signal)
  const token = tokenOfTab()
  const lock = await lockOf(token)
  const channel = new BroadcastChannel(token)
  let events: ReadableStreamDefaultController<string> | undefined
  const body = new ReadableStream<string>({
    start: (controller) => {
      events = controller
    },
  })
  let [isOver, hasHeard] = [false, false]

  function give(event: string) {
    hasHeard = true
    if (!isOver) events?.enqueue(event)
  }

  function end() {
    if (isOver) return
    isOver = true
    channel.close()
    events?.close()
  }

  async function lead() {
    const { body: stream } = await openEvents(signal)
    const reader = stream?.pipeThrough(new TextDecoderStream()).getReader()
    let rest = ''
    while (!isOver && rest.length <= MAX_FRAME) {
      const { value } = (await reader?.read()) ?? {}
      if (value === undefined) return
      const parts = (rest + value).split('\n\n')
      rest = parts.pop() ?? ''
      for (const part of isOver ? [] : parts) {
        channel.postMessage(`${part}\n\n`)
        give(`${part}\n\n`)
      }
    }
  }

  channel.addEventListener('message', ({ data }) => (data === END ? end() : give(data)))
  signal.addEventListener('abort', end)
  navigator.locks.request(lock, { signal }, lead).then(endAll, endAll)

  /** Whoever looks next finds out why. */
  function endAll() {
    if (!isOver) channel.postMessage(END)
    end()
  }

  // A tab that hears another one would know nothing until the next change.
  const state = await readStateText(signal)
  if (!hasHeard) give(`data: ${state}\n\n`)
  return new Response(body.pipeThrough(new TextEncoderStream()))
}
