/** `clipgate service`: lets clipgate start by itself, by whatever starts programs here. @module */

import { DomainError } from '../../core/domain-error.ts'
import type { Surroundings } from '../../daemon/folders.ts'
import { openRunning } from '../../daemon/open-admin.ts'
import { PATIENCE_MS, retryWhileHeld } from '../../daemon/reach-daemon.ts'
import { CommandError, printResult, type Invocation, type SettingsInvocation } from '../command.ts'
import { createLaunchdService } from './launchd.ts'
import type { ServiceManager, ServiceState } from './manager.ts'
import { createSystemdService } from './systemd.ts'
import { createWindowsService } from './windows.ts'
import { readSettings } from '../setting-options.ts'
import { visible } from '../visible.ts'

/** Runs `clipgate service`. */
export async function runService(call: Invocation): Promise<number> {
  const { shell, args } = call
  const manager = findManager(shell.where)
  const [action] = args.operands
  if (action === 'install') return install(call, manager)
  if (action === 'remove') return remove(call, manager)
  return report(call, manager, await manager.state())
}

function findManager(where: Surroundings): ServiceManager {
  if (where.platform === 'darwin') return createLaunchdService(where)
  if (where.platform === 'win32') return createWindowsService(where)
  return createSystemdService(where)
}

async function install(call: Invocation, manager: ServiceManager): Promise<number> {
  const { variables, settings } = readOwnSettings(call)
  const { dataDir } = settings
  const { isRunning } = await manager.state()
  if (!isRunning && (await openRunning(dataDir)) !== undefined) {
    throw new CommandError(
      'Cannot start the service while clipgate runs that was started otherwise; ' +
        'stop it first: clipgate stop',
    )
  }
  const more = await manager.install(settings)
  // A program that was started may still end at once, as when a port is taken.
  const state = await retryWhileHeld(PATIENCE_MS, async () => {
    const answers = (await openRunning(dataDir)) !== undefined
    const now = await manager.state()
    return answers || !now.isRunning ? now : undefined
  })
  if (state === undefined) {
    const message = 'The service was started, and clipgate does not answer yet; to see why'
    throw new CommandError(`${message}: ${manager.look}`)
  }
  const ignored = variables.map(
    (name) => `${name} is set here, but not for the service: put it into the config file`,
  )
  return report(call, manager, state, [...more, ...ignored, 'To add a phone: clipgate pair'])
}

/** Starts the service where there is one for the data directory of this call. */
export async function startOwnService(call: SettingsInvocation): Promise<void> {
  const { settings } = readOwnSettings(call)
  if (settings.dataDir !== call.settings.dataDir) return
  const manager = findManager(call.shell.where)
  try {
    const { isInstalled, file } = await manager.state()
    if (isInstalled || file !== undefined) await manager.start()
  } catch (error) {
    // Nobody starts services here: the caller does without, and says why if that fails too.
    if (!(error instanceof CommandError)) throw error
  }
}

async function remove(call: Invocation, manager: ServiceManager): Promise<number> {
  const before = await manager.state()
  await manager.remove()
  const line = before.isInstalled
    ? 'Removed: clipgate no longer starts by itself. Devices and settings stay as they are.'
    : 'There was no service to remove.'
  // One alone runs on a data directory: where the service did, nothing is left.
  const more = before.isRunning ? [] : await describeLeft(call)
  printResult(call, toJson(await manager.state()), [line, ...more])
  return 0
}

/** Says that a daemon goes on, or why that is not known: the service is removed all the same. */
async function describeLeft(call: Invocation): Promise<readonly string[]> {
  try {
    const { dataDir } = readOwnSettings(call).settings
    if ((await openRunning(dataDir)) === undefined) return []
    return ['clipgate runs on: it was started otherwise; to end it: clipgate stop']
  } catch (error) {
    if (error instanceof CommandError || error instanceof DomainError) return [error.message]
    throw error
  }
}

/** Reads what the service will read: it does not have the variables of this shell. */
function readOwnSettings({ shell, args }: Invocation) {
  const { where } = shell
  const { environment } = where
  const names = Object.keys(environment)
  const variables = names.filter((name) => /^CLIPGATE_(?!TEST_)/.test(name))
  const left = Object.entries(environment).filter(([name]) => !variables.includes(name))
  const own = { ...where, environment: Object.fromEntries(left) }
  return { variables, settings: readSettings(args, { ...shell, where: own }) }
}

function report(
  call: Invocation,
  { look }: ServiceManager,
  state: ServiceState,
  more: readonly string[] = [],
): number {
  const { isInstalled, isRunning, file, advice } = state
  const running = isRunning ? 'It runs.' : `It does not run now; to see why: ${look}`
  const lines = isInstalled
    ? [
        'Installed: clipgate starts by itself when you log in.',
        running,
        ...(file === undefined ? [] : [`File: ${visible(file)}`]),
        ...advice,
        ...more,
      ]
    : ['Not installed; to let clipgate start by itself: clipgate service install']
  printResult(call, toJson(state), lines)
  return 0
}

function toJson({ isInstalled, isRunning, file, advice }: ServiceState): object {
  return { installed: isInstalled, running: isRunning, file, advice }
}
