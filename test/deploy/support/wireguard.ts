/**
 * WireGuard between two machines, as a program: the kernel need not know it.
 * @module
 */

import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { needsMachines, type Machine } from '../../support/machines.ts'
import { startProgram } from '../../support/start-program.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** Options for `it()`. */
export const needsWireGuard: { readonly skip: string | false } = existsSync('/dev/net/tun')
  ? needsMachines('wg', 'wireguard-go')
  : { skip: 'skipped: needs /dev/net/tun' }

export interface TunnelEnd {
  readonly machine: Machine
  /** Where the other end finds it. */
  readonly endpoint: string
  /** Its own inside the tunnel, as `10.9.0.1`. */
  readonly addresses: readonly string[]
}

interface OpenEnd extends TunnelEnd {
  readonly device: string
  readonly publicKey: string
}

/** Digs the tunnel. @returns How many bytes the first end has received through it. */
export async function digTunnel(
  t: TestContext,
  first: TunnelEnd,
  second: TunnelEnd,
): Promise<() => Promise<number>> {
  const [a, b] = [await openEnd(t, first), await openEnd(t, second)]
  await meet(a, b)
  await meet(b, a)
  return async () => {
    const counted = await a.machine.run('wg', 'show', a.device, 'transfer')
    return Number(counted.split('\t')[1])
  }
}

async function openEnd(t: TestContext, end: TunnelEnd): Promise<OpenEnd> {
  const { machine, addresses } = end
  // Its socket is a file, which is not in the machine but here: the name is nobody else's.
  const device = `wg${randomBytes(4).toString('hex')}`
  t.after(() => rm(`/var/run/wireguard/${device}.sock`, { force: true }))
  const tunnel = await startProgram([...machine.inside, 'wireguard-go', '-f', device], {
    env: { ...process.env, LOG_LEVEL: 'verbose' },
    ready: /UAPI listener started/,
  })
  t.after(() => tunnel.kill())

  const key = join(await temporaryFolder(t), 'key')
  await writeFile(key, await machine.run('wg', 'genkey'), { mode: 0o600 })
  await machine.run('wg', 'set', device, 'listen-port', '51820', 'private-key', key)
  for (const address of addresses) {
    await machine.ip('address', 'add', `${address}/24`, 'dev', device)
  }
  await machine.ip('link', 'set', device, 'up')
  const publicKey = (await machine.run('wg', 'show', device, 'public-key')).trim()
  return { ...end, device, publicKey }
}

async function meet({ machine, device }: OpenEnd, other: OpenEnd): Promise<void> {
  const allowed = other.addresses.map((address) => `${address}/32`).join()
  const endpoint = `${other.endpoint}:51820`
  const peer = ['peer', other.publicKey, 'endpoint', endpoint, 'allowed-ips', allowed]
  await machine.run('wg', 'set', device, ...peer)
}
