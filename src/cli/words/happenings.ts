/** Sentences about what happened, for people at a terminal: never content. @module */

import type { Happening, HappeningKind } from '../../core/happening.ts'
import { OWNER_ID } from '../../core/owner.ts'
import { countOf } from '../../lib/count-of.ts'
import { formatBytes } from '../../lib/format-bytes.ts'
import { describePause } from './quantities.ts'

/** Says what happened, in one sentence without its full stop. */
export function sentenceOf(happening: Happening): string {
  return SENTENCES[happening.kind](happening)
}

const TYPES = { Text: 'a text', Image: 'a picture', File: 'a file', Group: 'several files' }

const BY = { start: 'at the start', command: 'with a command', panel: 'in the panel' }

const SENTENCES: Readonly<Record<HappeningKind, (happening: Happening) => string>> = {
  pushed: (happening) => `${nameOf(happening)} sent ${whatOf(happening)}`,
  received: (happening) => `${nameOf(happening, 'Another computer')} sent ${whatOf(happening)}`,
  copied: (happening) => `Copied on this computer: ${whatOf(happening)}`,
  paired: (happening) => `${nameOf(happening)} was paired ${byOf(happening)}`,
  rotated: (happening) => `${nameOf(happening)} was given a new password ${byOf(happening)}`,
  ended: (happening) => `The password of ${nameOf(happening)} has ended`,
  revoked: (happening) => `${nameOf(happening)} was removed ${byOf(happening)}`,
  connected: (happening) =>
    `${nameOf(happening)} logged in from a new address (${happening.address ?? 'unknown'})`,
  refused: (happening) => {
    const { times = 1, address = 'unknown' } = happening
    return `Refused ${countOf(times, 'login')} as ${nameOf(happening)}: the password (${address})`
  },
  paused: ({ untilMs }) => `The clipboard was paused ${describePause({ untilMs })}`,
  resumed: () => 'The clipboard is shared again',
}

function nameOf({ label, device }: Happening, other = 'A device'): string {
  if (device === OWNER_ID) return 'This computer'
  return label ?? other
}

function whatOf({ type, size }: Happening): string {
  return `${TYPES[type ?? 'File']} (${formatBytes(size ?? 0)})`
}

function byOf({ by }: Happening): string {
  return BY[by ?? 'command']
}
