/**
 * Finds the running daemon for commands that need one.
 *
 * @module
 */

import { openRunning, type PanelClient } from '../daemon/open-running.ts'
import { CommandError, type SettingsInvocation } from './command.ts'

/**
 * @param action What it is needed for, as in "Cannot …".
 * @throws {CommandError} when none runs on the data directory of these settings.
 */
export async function needRunning(
  { settings }: Pick<SettingsInvocation, 'settings'>,
  action: string,
): Promise<PanelClient> {
  const running = await openRunning(settings.dataDir)
  if (running !== undefined) return running
  throw new CommandError(`Cannot ${action}: no daemon runs; start it: clipgate serve`)
}
