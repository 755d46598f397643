/**
 * Registries with devices whose hashes cost next to nothing: a real one of Argon2id takes a fifth of
 * a second to make, and another one to check.
 * @module
 */

import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Argon2Pool } from '../../src/devices/argon2-pool.ts'
import { formatDeviceFile } from '../../src/devices/device-file.ts'
import { type Argon2Parameters, formatPhcString } from '../../src/devices/phc-string.ts'
import { systemClock } from '../../src/lib/clock.ts'

/** The least that RFC 9106 allows. */
const CHEAP: Argon2Parameters = { memoryKib: 8, passes: 1, parallelism: 1 }

/** A hash of `CHEAP_PASSWORD`, with the parameters of `CHEAP`. */
const CHEAP_HASH =
  '$argon2id$v=19$m=8,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$kR2cYmuKESWa01O9FUNW+bLy4HkU2KBsKk4IadiwlAM'
const CHEAP_PASSWORD = 'a password of ours'

/** A device that was paired before its daemon was started, as a link says it. */
export interface EarlyDevice {
  readonly id: string
  readonly label: string
  readonly username: string
  readonly password: string
}

/** Makes a data directory in which devices of these labels are paired; `Peer` is another daemon. */
export async function pairBeforehand(
  dataDir: string,
  labels: readonly string[],
): Promise<readonly EarlyDevice[]> {
  const devices = labels.map((label) => {
    const kind = label === 'Peer' ? 'peer' : 'phone'
    const username = `${kind === 'peer' ? 'peer' : 'mobile'}_${randomBytes(4).toString('hex')}`
    const id = `did_${randomBytes(16).toString('hex')}`
    return { id, kind, label, username, passwordHash: CHEAP_HASH, createdAt: Date.now() } as const
  })
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const text = formatDeviceFile(devices.map((device) => ({ ...NEVER_SEEN, ...device })))
  await writeFile(join(dataDir, 'devices.json'), text, { mode: 0o600, flag: 'wx' })
  return devices.map(({ id, label, username }) => ({
    ...{ id, label, username },
    password: CHEAP_PASSWORD,
  }))
}

/** What a device has that was paired, and has not been seen. */
export const NEVER_SEEN = {
  lastSeenAt: undefined,
  lastSeenAddress: undefined,
  lastClient: undefined,
  dialect: undefined,
  reads: undefined,
  usesOldKeys: undefined,
  isExact: undefined,
  linkUrl: undefined,
}

export interface CheapDevice {
  readonly id: string
  readonly username: string
  readonly password: string
  /** The value of its `Authorization` header. */
  readonly authorization: string
}

/**
 * Adds devices to a `devices.json` that has at least one.
 *
 * @param path Of a data directory that nobody has open.
 * @param parameters What a first login of theirs costs; next to nothing unless told.
 */
export async function addCheapDevices(
  path: string,
  count: number,
  parameters: Argon2Parameters = CHEAP,
): Promise<readonly CheapDevice[]> {
  const file = JSON.parse(await readFile(path, 'utf8'))
  const [device] = file.devices
  const added: CheapDevice[] = []
  const pool = new Argon2Pool({ clock: systemClock })
  for (let index = 1; index <= count; index++) {
    const hex = index.toString(16)
    const id = `did_${hex.padStart(32, '0')}`
    const username = `cheap_${hex.padStart(8, '0')}`
    const password = randomBytes(16).toString('base64url')
    const passwordHash = await hash(pool, password, parameters)
    file.devices.push({ ...device, id, username, passwordHash })
    added.push({
      id,
      username,
      password,
      authorization: `Basic ${btoa(`${username}:${password}`)}`,
    })
  }
  await pool.close()
  await writeFile(path, JSON.stringify(file), { mode: 0o600 })
  return added
}

async function hash(
  pool: Argon2Pool,
  password: string,
  parameters: Argon2Parameters,
): Promise<string> {
  const salt = new Uint8Array(randomBytes(16))
  const job = { ...parameters, password: new TextEncoder().encode(password), salt, tagLength: 32 }
  return formatPhcString({ ...parameters, salt, tag: await pool.derive(job, 'urgent') })
}
