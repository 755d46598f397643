/**
 * Tells machines apart that share a data directory over a network.
 *
 * The id of the machine is private: it is only ever kept as a keyed hash, as machine-id(5) asks.
 *
 * @module
 */

import { createHmac } from 'node:crypto'
import { access, readFile } from 'node:fs/promises'
import { hostname } from 'node:os'

/** What is `undefined` cannot be found out on this platform. */
export interface MachineIdentity {
  /** `id:` and a hash of the id of the machine, or `host:` and a hash of its name. */
  readonly machine: string | undefined
  /** What it calls itself, for people. */
  readonly host: string | undefined
}

/** Of systemd, and of D-Bus where there is no systemd. */
const ID_FILES: readonly string[] = ['/etc/machine-id', '/var/lib/dbus/machine-id']

/** Is there when systemd made up an id for this boot only, and put it over the first file. */
const TRANSIENT_ID_FILE = '/run/machine-id'

const MACHINE_ID = /^[0-9a-f]{32}\n?$/

/** What the hashes are for. */
const PURPOSE = 'clipgate: lock of a data directory'

/** Names of machines have at most so many letters, digits, dots and dashes. */
const MAX_NAME_LENGTH = 64

/** Which machine this is. */
export async function identifyMachine(): Promise<MachineIdentity> {
  const host = hostname()
  const id = await readMachineId()
  if (id !== undefined) return { machine: `id:${hash(id)}`, host }
  // Laptops of other platforms are called otherwise in each network.
  const isNamed = process.platform === 'linux' && host !== '' && host !== 'localhost'
  return { machine: isNamed ? `host:${hash(host)}` : undefined, host }
}

/**
 * Whether both are known and two machines. An id and a name cannot be compared: that counts as
 * unknown. Names count less than ids: each container has its own, so they say nothing during one
 * boot of the machine.
 */
export function isAnotherMachine(
  then: { readonly machine: string | undefined; readonly bootId: string | undefined },
  now: { readonly machine: string | undefined; readonly bootId: string | undefined },
): boolean {
  if (then.machine === undefined || now.machine === undefined) return false
  if (then.machine === now.machine) return false
  const isId = now.machine.startsWith('id:')
  if (then.machine.startsWith('id:') !== isId) return false
  return isId || then.bootId === undefined || then.bootId !== now.bootId
}

/** The name of a machine as it may be printed: whoever can write the lock chose it. */
export function printableHost(host: string | undefined): string {
  return (host ?? 'unknown').slice(0, MAX_NAME_LENGTH).replace(/[^\w.-]/g, '?')
}

async function readMachineId(): Promise<string | undefined> {
  if (await isThere(TRANSIENT_ID_FILE)) return undefined
  for (const path of ID_FILES) {
    // Not there, or not readable: then there may be another one.
    const text = await readFile(path, 'latin1').catch(() => '')
    // In images of systems it is empty, or says "uninitialized".
    if (MACHINE_ID.test(text)) return text.trim()
  }
  return undefined
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

function hash(secret: string): string {
  return createHmac('sha256', secret).update(PURPOSE).digest('hex').slice(0, 32)
}
