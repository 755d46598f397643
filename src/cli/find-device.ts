/** Finds the device that a person means. @module */

import type { Admin, DeviceSummary } from '../ports/admin.ts'
import { CommandError } from './command.ts'

/** Characters of an id that tables show; commands take as many, or more. */
export const SHORT_ID_LENGTH = 12

/**
 * The id of the device with this id, beginning of an id, user name or label.
 *
 * @throws {CommandError} when there is none, or more than one.
 */
export async function findDevice(admin: Pick<Admin, 'devices'>, name: string): Promise<string> {
  const devices = await admin.devices()
  for (const isMeant of MEANINGS) {
    const [found, ...others] = devices.filter((device) => isMeant(device, name))
    if (found !== undefined && others.length === 0) return found.id
    if (found === undefined) continue
    const all = [found, ...others].map(({ id, username }) => `${id} (${username})`).join(', ')
    throw new CommandError(`Cannot tell which device "${name}" is: ${all}; name it by its id`)
  }
  throw new CommandError(`Cannot find a device "${name}"; see "clipgate devices"`)
}

/** The meanings of a name, the surest first. */
const MEANINGS: readonly ((device: DeviceSummary, name: string) => boolean)[] = [
  ({ id, username }, name) => id === name || username === name,
  ({ label }, name) => label === name,
  ({ label }, name) => label.toLowerCase() === name.toLowerCase(),
  ({ id }, name) => name.length >= SHORT_ID_LENGTH && id.startsWith(name),
]
