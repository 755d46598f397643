/**
 * Whether a daemon is as fit as before: it answers, has given back what it opened and allocated,
 * and still has its item.
 * @module
 */

import assert from 'node:assert/strict'
import { readdirSync, readlinkSync } from 'node:fs'
import { Socket } from 'node:net'
import type { DaemonProcess, PairedDevice } from '../../support/daemon-process.ts'
import { RawClient } from '../../support/raw-http.ts'
import { authorizationOf } from './raw-device.ts'
import { MAX_LOOKS, vitalsOf } from './vitals.ts'

/** What the heap of a program that has worked is larger by, and workers that are not idle yet. */
const MAX_GROWTH_MIB = 96

export interface Patient {
  readonly daemon: DaemonProcess
  readonly device: PairedDevice
}

/** What a daemon that rests has open, holds, and serves. */
export interface Fitness {
  readonly files: readonly string[]
  readonly connections: number
  readonly memoryMib: number
  readonly document: string
  /** In latin1. */
  readonly bytes: string | undefined
}

/** Examines a daemon that nobody uses, to compare it later. */
export async function examine({ daemon, device }: Patient): Promise<Fitness> {
  const document = await get(daemon, '/Sync.json', device)
  const { dataName } = JSON.parse(document)
  const path = `/file/${encodeURIComponent(String(dataName))}`
  const bytes = dataName === '' ? undefined : await get(daemon, path, device)
  return { document, bytes, ...openOf(daemon), memoryMib: vitalsOf(daemon).memory() }
}

/** Waits until it is as fit as it was: `/healthz` answers all the time. */
export async function assertFit(patient: Patient, before: Fitness): Promise<void> {
  const { daemon } = patient
  assert.equal(daemon.child.exitCode ?? daemon.child.signalCode, null, 'it lives')
  for (let looks = 0; ; looks++) {
    assert.equal(await get(daemon, '/healthz'), '')
    const { files, connections } = openOf(daemon)
    const left = files.filter((file) => !before.files.includes(file))
    const memoryMib = vitalsOf(daemon).memory()
    const isFit =
      left.length === 0 &&
      connections <= before.connections &&
      memoryMib <= before.memoryMib + MAX_GROWTH_MIB
    if (isFit) break
    const found = `${left.join()} and ${connections} connections open, ${memoryMib} MiB`
    const expected = `${before.connections} connections, ${before.memoryMib} MiB`
    assert.equal(looks < MAX_LOOKS, true, `${found}; before: ${expected}`)
  }
  const { document, bytes } = await examine(patient)
  assert.equal(document, before.document)
  assert.equal(bytes, before.bytes)
}

/** Over a connection of its own, which ends with the answer. */
async function get({ ready }: DaemonProcess, path: string, device?: PairedDevice): Promise<string> {
  const { hostname, port } = new URL(ready.gateway)
  const client = await RawClient.connect(Number(port), hostname)
  const login = device === undefined ? '' : authorizationOf(device)
  client.send(`GET ${path} HTTP/1.1\r\nHost: clipgate.example\r\nConnection: close\r\n${login}\r\n`)
  const { status, body } = await client.read()
  await client.readToEnd()
  assert.equal(status, path === '/healthz' ? 204 : 200, path)
  return body
}

/** Files that it has open, and connections but those that this process holds. */
function openOf({ ready }: DaemonProcess): Pick<Fitness, 'files' | 'connections'> {
  const folder = `/proc/${ready.pid}/fd`
  const targets = readdirSync(folder).map((name) => {
    try {
      return readlinkSync(`${folder}/${name}`)
    } catch {
      // Closed meanwhile.
      return ''
    }
  })
  const ports = [ready.gateway, ready.control].map((url) => Number(new URL(url).port))
  const sockets = targets.filter((target) => target.startsWith('socket:')).length
  return {
    // The root folder is how libuv keeps a descriptor in reserve, once it had none left.
    files: targets.filter((target) => target.startsWith('/') && target !== '/'),
    connections: sockets - ownSockets(ports),
  }
}

function ownSockets(ports: readonly number[]): number {
  const handles: unknown = Reflect.apply(Reflect.get(process, '_getActiveHandles'), process, [])
  assert.ok(Array.isArray(handles), 'Node tells what is open')
  const isOurs = (handle: unknown): boolean =>
    handle instanceof Socket && handle.remotePort !== undefined && ports.includes(handle.remotePort)
  return handles.filter(isOurs).length
}
