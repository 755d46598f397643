/** `clipgate log`: what happened since the daemon was started; never content. @module */

import { OWNER_ID } from '../core/owner.ts'
import type { HappeningKind } from '../core/happening.ts'
import { countOf } from '../lib/count-of.ts'
import { formatBytes } from '../lib/format-bytes.ts'
import type { Happened } from '../ports/panel.ts'
import { printResult, type SettingsInvocation } from './command.ts'
import { needRunning } from './panel.ts'
import { printJson } from './shell.ts'
import { visible } from './visible.ts'
import { describePause, formatTime } from './words/quantities.ts'

/** Runs `clipgate log`. */
export async function runLog(call: SettingsInvocation): Promise<number> {
  const running = await needRunning(call, 'tell what happened')
  const happenings = (await running.happenings()).toReversed()
  if (call.args.flag('json')) {
    for (const happened of happenings) printJson(call.shell, happened)
    return 0
  }
  const lines = happenings.map((happened) => {
    const sentence = SENTENCES[happened.kind](happened)
    return `${formatTime(new Date(happened.at))}  ${visible(sentence)}`
  })
  printResult(call, happenings, lines.length === 0 ? ['Nothing has happened yet.'] : lines)
  return 0
}

const TYPES = { Text: 'a text', Image: 'a picture', File: 'a file', Group: 'several files' }

const BY = { start: 'at the start', command: 'with a command', panel: 'in the panel' }

const SENTENCES: Readonly<Record<HappeningKind, (happened: Happened) => string>> = {
  pushed: (happened) => `${nameOf(happened)} sent ${whatOf(happened)}`,
  received: (happened) => `${nameOf(happened, 'Another computer')} sent ${whatOf(happened)}`,
  copied: (happened) => `Copied on this computer: ${whatOf(happened)}`,
  paired: (happened) => `${nameOf(happened)} was paired ${byOf(happened)}`,
  rotated: (happened) => `${nameOf(happened)} was given a new password ${byOf(happened)}`,
  ended: (happened) => `The password of ${nameOf(happened)} has ended`,
  revoked: (happened) => `${nameOf(happened)} was removed ${byOf(happened)}`,
  connected: (happened) =>
    `${nameOf(happened)} logged in from a new address (${happened.address ?? 'unknown'})`,
  refused: (happened) => {
    const { times = 1, address = 'unknown' } = happened
    return `Refused ${countOf(times, 'login')} as ${nameOf(happened)}: the password (${address})`
  },
  paused: ({ untilMs }) => `The clipboard was paused ${describePause({ untilMs })}`,
  resumed: () => 'The clipboard is shared again',
}

function nameOf({ label, device }: Happened, other = 'A device'): string {
  if (device === OWNER_ID) return 'This computer'
  return label ?? other
}

function whatOf({ type, size }: Happened): string {
  return `${TYPES[type ?? 'File']} (${formatBytes(size ?? 0)})`
}

function byOf({ by }: Happened): string {
  return BY[by ?? 'command']
}
