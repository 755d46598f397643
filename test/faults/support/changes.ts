/**
 * Everything that changes what a daemon keeps, each with an entry in the ledger before and after.
 * @module
 */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { request, type Agent } from 'node:http'
import { join } from 'node:path'
import type { Admin } from '../../../src/ports/admin.ts'
import type { DaemonProcess } from '../../support/daemon-process.ts'
import { sha256 } from '../../support/hashes.ts'
import { NEW_PHONE } from '../../support/owner.ts'
import type { Ledger } from './ledger.ts'

export interface Target {
  readonly daemon: DaemonProcess
  readonly authorization: string
  readonly agent: Agent
  readonly owner: Admin
  readonly ledger: Ledger
  /** Told how many bytes of a body have been handed to the system. */
  readonly onSent: (bytes: number) => void
  /** Never the same twice. */
  readonly next: () => number
}

export type Change = (target: Target) => Promise<void>

const CHUNK = 32 * 1024

/** As a number never comes twice, no content does. */
function makeBytes(number: number, size: number): Buffer {
  return Buffer.alloc(size, `${number},`)
}

/** Stages bytes under a name, perhaps in the place of others. */
export function putFile(name: string, size: number): Change {
  return async (target) => {
    const cell = target.ledger.stagedAs(name)
    const bytes = makeBytes(target.next(), size)
    cell.tell(sha256(bytes))
    await send(target, 'PUT', `/file/${name}`, bytes)
    cell.acknowledge(sha256(bytes))
  }
}

/** Makes what waits under a name the item; stages it first when nothing does. */
export function commit(name: string, size: number): Change {
  return async (target) => {
    const { item, binary } = target.ledger
    const cell = target.ledger.stagedAs(name)
    if (cell.known === undefined) await putFile(name, size)(target)
    const content = cell.known
    for (const changed of [item, binary]) changed.tell(content)
    cell.tell(undefined)
    target.ledger.together = () => {
      assert.equal(item.known === content, binary.known === content)
      const waiting = binary.known === content ? undefined : content
      assert.equal(cell.known, waiting, `${name} is somewhere`)
    }
    const body = JSON.stringify({ type: 'File', dataName: name, hasData: true })
    await send(target, 'PUT', '/Sync.json', Buffer.from(body))
    for (const changed of [item, binary]) changed.acknowledge(content)
    cell.acknowledge(undefined)
    target.ledger.together = () => {}
  }
}

export const putText: Change = async (target) => {
  const { item } = target.ledger
  const text = `text ${target.next()}`
  item.tell(text)
  await send(target, 'PUT', '/Sync.json', Buffer.from(JSON.stringify({ type: 'Text', text })))
  item.acknowledge(text)
}

/** Bytes and their document in one request. */
export function postForm(size: number): Change {
  return async (target) => {
    const { item, binary } = target.ledger
    const bytes = makeBytes(target.next(), size)
    const content = sha256(bytes)
    for (const changed of [item, binary]) changed.tell(content)
    target.ledger.together = () => assert.equal(item.known === content, binary.known === content)
    const field = (name: string, value: string): string =>
      `--b\r\nContent-Disposition: form-data; ${name}\r\n\r\n${value}`
    const body = Buffer.concat([
      Buffer.from(`${field('name="type"', 'File')}\r\n${field('name="hash"', content)}\r\n`),
      Buffer.from(field('name="data"; filename="form"', '')),
      bytes,
      Buffer.from('\r\n--b--\r\n'),
    ])
    await send(target, 'POST', '/api/history', body, 'multipart/form-data; boundary=b')
    for (const changed of [item, binary]) changed.acknowledge(content)
    target.ledger.together = () => {}
  }
}

export const pair: Change = async (target) => {
  target.ledger.pairing += 1
  const { id } = await target.owner.pair(NEW_PHONE)
  target.ledger.pairing -= 1
  target.ledger.device(id).acknowledge(await savedHash(target, id))
}

export function rotate(id: string): Change {
  return async (target) => {
    const cell = target.ledger.device(id)
    cell.tell((found) => found?.startsWith('$argon2id$') === true)
    await target.owner.rotate(id)
    const hash = await savedHash(target, id)
    assert.notEqual(hash, cell.known, 'the new password is saved')
    cell.acknowledge(hash)
  }
}

export function revoke(id: string): Change {
  return async (target) => {
    const cell = target.ledger.device(id)
    cell.tell(undefined)
    await target.owner.revoke(id)
    assert.equal(await savedHash(target, id), undefined, 'the device is gone for good')
    cell.acknowledge(undefined)
  }
}

/** What would be there after a kill right now. */
async function savedHash({ daemon }: Target, id: string): Promise<string | undefined> {
  const text = await readFile(join(daemon.folder, 'data', 'devices.json'), 'utf8')
  const { devices } = JSON.parse(text)
  return devices.find((device: { id: string }) => device.id === id)?.passwordHash
}

/** Sends piece by piece, and waits for the 200. */
function send(
  { daemon, authorization, agent, onSent }: Target,
  method: string,
  path: string,
  body: Uint8Array,
  contentType = 'application/octet-stream',
): Promise<void> {
  const headers = { authorization, 'content-length': body.length, 'content-type': contentType }
  return new Promise((resolve, reject) => {
    const outgoing = request(`${daemon.ready.gateway}${path}`, { method, headers, agent })
    outgoing.on('error', reject)
    outgoing.on('response', (response) => {
      response.on('error', reject).resume()
      response.on('end', () => {
        if (response.statusCode === 200) resolve()
        else reject(new Error(`${method} ${path} was answered ${response.statusCode}`))
      })
    })
    const write = (at: number): void => {
      if (at >= body.length) {
        outgoing.end()
        return
      }
      const chunk = body.subarray(at, at + CHUNK)
      outgoing.write(chunk, () => {
        onSent(chunk.length)
        write(at + chunk.length)
      })
    }
    write(0)
  })
}
