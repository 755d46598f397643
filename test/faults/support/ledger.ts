/**
 * What a daemon was told, and what it acknowledged: after it was killed, each thing is as it was
 * acknowledged, or as it was just being told.
 * @module
 */

import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sha256 } from '../../support/hashes.ts'

/** An item, or a staged upload, by its content; `undefined` when there is none. */
export type Content = string | undefined

/** Whether something may be found, once a change that is under way has been cut off. */
type Told = (found: Content) => boolean

/** One thing. */
class Cell {
  #known: Content
  #told: Told = () => false

  get known(): Content {
    return this.#known
  }

  /** A change begins. */
  tell(next: Content | Told): void {
    this.#told = typeof next === 'function' ? next : (found) => found === next
  }

  acknowledge(value: Content): void {
    this.#known = value
    this.#told = () => false
  }

  /** Takes what was found for known, after the daemon has died. */
  settle(found: Content, what: string): void {
    const isPossible = found === this.#known || this.#told(found)
    assert.ok(isPossible, `${what} is ${found}, and was ${this.#known}`)
    this.acknowledge(found)
  }
}

export class Ledger {
  /** SHA-256 of the bytes of the current item, or its text. */
  readonly item = new Cell()
  /** SHA-256 of the bytes of the latest item that has some. */
  readonly binary = new Cell()
  /** SHA-256 of what waits, by name. */
  readonly staged = new Map<string, Cell>()
  /** The password hash of each device; `undefined` when the device is gone. */
  readonly devices = new Map<string, Cell>()
  /** How many devices may be there that nobody has heard of. */
  pairing = 0
  /** What must hold of several things together, when the change that is under way is cut off. */
  together: () => void = () => {}

  stagedAs(name: string): Cell {
    return cellOf(this.staged, name)
  }

  device(id: string): Cell {
    return cellOf(this.devices, id)
  }
}

function cellOf(cells: Map<string, Cell>, key: string): Cell {
  const cell = cells.get(key) ?? new Cell()
  cells.set(key, cell)
  return cell
}

const KNOWN_NAMES = [
  'blobs',
  'computer.id',
  'control.token',
  'devices.json',
  'item.json',
  'lock',
  'sightings.json',
  'staging',
]

/** Compares a data directory, on which a daemon has just started, with what is known; all of it. */
export async function settleFiles(data: string, ledger: Ledger): Promise<void> {
  const left = (await readdir(data)).filter((name) => !KNOWN_NAMES.includes(name))
  assert.deepEqual(left, [], 'debris')

  const blobs = new Map<string, string>()
  for (const name of await readdir(join(data, 'blobs'))) {
    blobs.set(name, sha256(await readFile(join(data, 'blobs', name))))
  }
  const found = new Map<string, string>()
  for (const file of await readdir(join(data, 'staging'))) {
    const record = JSON.parse(await readFile(join(data, 'staging', file), 'utf8'))
    const name = file.replace(/\.json$/, '')
    assert.equal(blobs.get(name), record.sha256, `the bytes of ${record.dataName} are whole`)
    assert.ok(!found.has(record.dataName), `${record.dataName} waits once`)
    found.set(record.dataName, record.sha256)
    blobs.delete(name)
  }
  for (const name of new Set([...found.keys(), ...ledger.staged.keys()])) {
    ledger.stagedAs(name).settle(found.get(name), `staged ${name}`)
  }

  const item = await readJson(join(data, 'item.json'))
  const { text, binary } = item ?? {}
  const bytes = binary === undefined ? undefined : blobs.get(binary.blob.name)
  if (binary !== undefined) {
    assert.equal(bytes, binary.item.contentHash, 'the bytes of the item are whole')
    blobs.delete(binary.blob.name)
  }
  assert.deepEqual([...blobs.keys()], [], 'bytes that nobody refers to')
  ledger.binary.settle(bytes, 'the latest bytes')
  ledger.item.settle(text?.text ?? bytes, 'the item')

  const { devices } = (await readJson(join(data, 'devices.json'))) ?? { devices: [] }
  const hashes = new Map<string, string>()
  for (const { id, passwordHash } of devices) hashes.set(id, passwordHash)
  const strangers = [...hashes.keys()].filter((id) => !ledger.devices.has(id))
  assert.ok(strangers.length <= ledger.pairing, `${strangers.length} devices that nobody paired`)
  for (const id of strangers) ledger.device(id).tell(() => true)
  ledger.pairing = 0
  for (const [id, cell] of ledger.devices) cell.settle(hashes.get(id), `device ${id}`)
  ledger.together()
  ledger.together = () => {}
}

async function readJson(path: string) {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  return text === undefined ? undefined : JSON.parse(text)
}
