/**
 * The line protocol between an adapter and its helper process: one JSON object a line.
 *
 * | from | line |
 * |---|---|
 * | helper | `{"event":"ready"}`: it works from now on |
 * | helper | `{"event":"changed", …}`, or another event of its adapter |
 * | helper | `{"event":"renewal"}`: it ends now, so that another one takes its place |
 * | helper | `{"event":"trouble","message":"…"}`; without a message: it is over |
 * | helper | `{"reply":ID, …}`, or `{"reply":ID,"error":"…"}` |
 * | adapter | `{"id":ID,"do":"…", …}` |
 * @module
 */

import { decodeNumber, decodeString, objectOf, optional } from '../../lib/decoder.ts'
import { parseJson } from '../../lib/utf8.ts'

/** An event with everything else that its line says. */
export type HelperEvent = Readonly<Record<string, unknown>> & { readonly event: string }

export type HelperMessage =
  | { readonly kind: 'event'; readonly event: HelperEvent }
  | { readonly kind: 'trouble'; readonly message: string | undefined }
  | { readonly kind: 'reply'; readonly id: number; readonly fields: Record<string, unknown> }
  | { readonly kind: 'refusal'; readonly id: number; readonly error: string }

const decodeKnown = objectOf({
  event: optional(decodeString),
  message: optional(decodeString),
  reply: optional(decodeNumber),
  error: optional(decodeString),
})

/** Reads a line; `undefined` when it is not of the protocol. */
export function parseHelperMessage(line: Uint8Array): HelperMessage | undefined {
  try {
    const value: unknown = parseJson(line)
    const { event, message, reply, error } = decodeKnown(value)
    const fields = { ...Object(value) }
    if (event === 'trouble') return { kind: 'trouble', message }
    if (event !== undefined) return { kind: 'event', event: { ...fields, event } }
    if (reply === undefined) return undefined
    if (error !== undefined) return { kind: 'refusal', id: reply, error }
    return { kind: 'reply', id: reply, fields }
  } catch {
    // The line is not UTF-8, not JSON, or of another shape.
    return undefined
  }
}

/** One line, with its end. `fields` cannot replace the id or what to do. */
export function formatHelperRequest(
  id: number,
  action: string,
  fields: Readonly<Record<string, unknown>>,
): string {
  return `${JSON.stringify({ ...fields, id, do: action })}\n`
}
