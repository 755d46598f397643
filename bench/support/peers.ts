/**
 * What people would use instead, each started with one user and a folder of its own, and the daemon
 * as one of them.
 * @module
 */

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AsyncCleanup } from '../../src/lib/async-cleanup.ts'
import { setUpDaemon, startDaemon } from './daemon.ts'
import { startNginx } from './nginx.ts'
import { findFreePort, startOnPort } from './ports.ts'
import { findProgram, startProcess } from './processes.ts'

export interface Peer {
  readonly pid: number
  readonly port: number
  /** The value of the header that it wants. */
  readonly authorization: string | undefined
  readonly startMs: number
  stop(): Promise<void>
}

export interface PeerProgram {
  readonly name: string
  /** Whether it takes the forms of `POST /api/history`. */
  readonly takesForms: boolean
  start(): Promise<Peer>
}

const USER = { username: 'user', password: 'correct horse battery staple' } as const
const AUTHORIZATION = `Basic ${btoa(`${USER.username}:${USER.password}`)}`

/** The daemon first. @param folder An empty one. */
export async function listPeers(
  cleanup: AsyncCleanup,
  folder: string,
  options: { readonly hasPackages: boolean },
): Promise<readonly PeerProgram[]> {
  const setup = await setUpDaemon(join(folder, 'daemon'))
  const gateways = ['express', 'fastify'] as const
  return [
    { name: 'clipgate', takesForms: true, start: () => startDaemon(cleanup, setup) },
    ...(options.hasPackages
      ? gateways.map(
          (name): PeerProgram => ({
            name,
            takesForms: true,
            start: () => startGateway(cleanup, name, join(folder, name)),
          }),
        )
      : []),
    ...(findProgram('rclone') === undefined
      ? []
      : [
          {
            name: 'rclone serve webdav',
            takesForms: false,
            start: () => startRclone(cleanup, join(folder, 'rclone')),
          },
        ]),
    ...(findProgram('nginx') === undefined
      ? []
      : [
          { name: 'nginx', isBasic: false },
          { name: 'nginx, Basic', isBasic: true },
        ].map(
          ({ name, isBasic }): PeerProgram => ({
            name,
            takesForms: false,
            start: () => startStatic(cleanup, join(folder, `nginx-${isBasic}`), { isBasic }),
          }),
        )),
  ]
}

/** @param mode `each` to have the password checked for each request. */
export async function startGateway(
  cleanup: AsyncCleanup,
  name: 'express' | 'fastify',
  folder: string,
  mode: 'each' | 'remember' = 'remember',
): Promise<Peer> {
  await mkdir(folder, { recursive: true })
  const path = fileURLToPath(new URL(`../peers/${name}-server.js`, import.meta.url))
  const { username, password } = USER
  const command = [process.execPath, path, folder, username, password, mode] as const
  // What their authors say makes them fast.
  const env = { PATH: process.env['PATH'], NODE_ENV: 'production' }
  const started = await startProcess(cleanup, command, env)
  return { ...started, port: Number(started.firstLine), authorization: AUTHORIZATION }
}

async function startStatic(
  cleanup: AsyncCleanup,
  folder: string,
  { isBasic }: { readonly isBasic: boolean },
): Promise<Peer> {
  await mkdir(join(folder, 'files', 'file'), { recursive: true })
  const nginx = await startNginx(cleanup, folder, USER)
  if (nginx === undefined) throw new Error('nginx has gone')
  const { pid, startMs, stop } = nginx
  return isBasic
    ? { pid, startMs, stop, port: nginx.basicPort, authorization: AUTHORIZATION }
    : { pid, startMs, stop, port: nginx.port, authorization: undefined }
}

/** As it is, without a cache on disk; it does not look for changes that others make. */
async function startRclone(cleanup: AsyncCleanup, folder: string): Promise<Peer> {
  await mkdir(join(folder, 'file'), { recursive: true })
  const program = findProgram('rclone')
  if (program === undefined) throw new Error('rclone has gone')
  const port = await findFreePort()
  const options = ['--config', '', '--vfs-cache-mode', 'off', '--poll-interval', '0']
  const command = ['serve', 'webdav', folder, '--addr', `127.0.0.1:${port}`, ...options]
  const started = await startOnPort(cleanup, port, [program, ...command], {
    PATH: process.env['PATH'],
    HOME: folder,
    RCLONE_USER: USER.username,
    RCLONE_PASS: USER.password,
  })
  return { ...started, port, authorization: AUTHORIZATION }
}
