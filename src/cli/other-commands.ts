/**
 * All commands but `serve`, which should start without waiting for these.
 *
 * @module
 */

import type { Invocation, Run, SettingsInvocation } from './command.ts'
import type { PlainCommandName, SettingsCommandName } from './commands.ts'
import { runDevices } from './devices.ts'
import { runDoctor } from './doctor.ts'
import { runGroup } from './group.ts'
import { runHelp } from './help.ts'
import { runJoin } from './join.ts'
import { runLeave } from './leave.ts'
import { runLink } from './link.ts'
import { runPair } from './pair.ts'
import { runPanel } from './panel.ts'
import { runPause } from './pause.ts'
import { runPeers } from './peers.ts'
import { runVersion } from './print-version.ts'
import { runPull } from './pull.ts'
import { runPush } from './push.ts'
import { runResume } from './resume.ts'
import { runRevoke } from './revoke.ts'
import { runRotate } from './rotate.ts'
import { runStatus } from './status.ts'
import { runWatch } from './watch.ts'

export const OTHER_SETTINGS_COMMANDS: Readonly<
  Record<Exclude<SettingsCommandName, 'serve'>, Run<SettingsInvocation>>
> = {
  pair: runPair,
  devices: runDevices,
  rotate: runRotate,
  revoke: runRevoke,
  status: runStatus,
  panel: runPanel,
  pause: runPause,
  resume: runResume,
  join: runJoin,
  leave: runLeave,
  peers: runPeers,
  group: runGroup,
}

export const PLAIN_COMMANDS: Readonly<Record<PlainCommandName, Run<Invocation>>> = {
  doctor: runDoctor,
  link: runLink,
  pull: runPull,
  push: runPush,
  watch: runWatch,
  help: runHelp,
  version: runVersion,
}
