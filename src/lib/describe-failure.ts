/** Puts failures into words: for the log, without anything that their messages quote. @module */

import { codeOf } from './system-error.ts'

/** The fields of a log line about a failure. */
export interface FailureDescription {
  readonly reason: string
  /** Where it happened, innermost first: `putFile (file.ts:82:11) < …`. */
  readonly at: string | undefined
}

/** Six frames are enough to see who called. */
const MAX_FRAMES = 6

/** The messages of these errors quote values: those of a clipboard, of a header, of a password. */
const QUOTING: ReadonlySet<string> = new Set([
  'AggregateError',
  'EvalError',
  'RangeError',
  'ReferenceError',
  'SyntaxError',
  'TypeError',
  'URIError',
])

/** The folders in front of the file name of a frame. */
const FOLDERS = /(?:file:\/\/)?[^\s()]*[/\\](?=[^\s()/\\]+:\d)/

/** Describes an unexpected failure for the log: its kind, its code and its frames. */
export function describeFailure(thrown: unknown): FailureDescription {
  if (!(thrown instanceof Error)) return { reason: `a thrown ${typeof thrown}`, at: undefined }
  return { reason: reasonOf(thrown), at: framesOf(thrown) }
}

function reasonOf(error: Error): string {
  const { name, message } = error
  const code = codeOf(error)
  // Paths of the user may be what was copied.
  if ('syscall' in error) return `${code} (${String(error.syscall)})`
  // The messages of Node quote values too.
  if (code?.startsWith('ERR_') === true) return `${name} ${code}`
  return QUOTING.has(name) ? name : `${name}: ${message}`
}

/** The frames alone: the stack begins with the message. */
function framesOf({ stack = '', message }: Error): string | undefined {
  const start = stack.indexOf(message)
  if (start === -1) return undefined
  const frames = stack
    .slice(start + message.length)
    .split('\n')
    .map((line) => /^ +at (.+)$/.exec(line)?.[1]?.replace(FOLDERS, ''))
    .filter((frame) => frame !== undefined)
  return frames.length === 0 ? undefined : frames.slice(0, MAX_FRAMES).join(' < ')
}

/** The message of `error`, or its text when it is no `Error`. It may quote what was read. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
