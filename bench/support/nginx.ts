/**
 * A private nginx: WebDAV uploads with its default buffers, downloads with `sendfile`; on a second
 * port the same for those who know a password. That is kept as a salted SHA-1, the cheapest that
 * nginx can check, since it does so for each request.
 * @module
 */

import { createHash, randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AsyncCleanup } from '../../src/lib/async-cleanup.ts'
import { findFreePort, startOnPort } from './ports.ts'
import { readChildren } from './process-usage.ts'
import { findProgram } from './processes.ts'

export interface Nginx {
  /** The process id of the worker, which does the work. */
  readonly pid: number
  readonly port: number
  /** Where it asks for the password. */
  readonly basicPort: number
  /** From asking the system for the process until it answers. */
  readonly startMs: number
  stop(): Promise<void>
  /** What it serves, and where uploads land. */
  readonly files: string
}

export interface NginxUser {
  readonly username: string
  readonly password: string
}

/** Starts it in `folder`; `undefined` when it is not installed. */
export async function startNginx(
  cleanup: AsyncCleanup,
  folder: string,
  user: NginxUser = { username: 'user', password: randomBytes(16).toString('hex') },
): Promise<Nginx | undefined> {
  const program = findProgram('nginx')
  if (program === undefined) return undefined
  const files = join(folder, 'files')
  await mkdir(files, { recursive: true })
  const [port, basicPort] = [await findFreePort(), await findFreePort()]
  const config = join(folder, 'nginx.conf')
  await writeFile(config, formatConfig(folder, files, port, basicPort))
  await writeFile(join(folder, 'users'), formatUser(user))

  const start = performance.now()
  const parent = await startOnPort(cleanup, port, [program, '-p', folder, '-c', config])
  // Its port is open before its worker is there to answer.
  await (await fetch(`http://127.0.0.1:${port}/`)).arrayBuffer()
  const startMs = performance.now() - start
  const [pid = Number.NaN] = readChildren(parent.pid)
  return { pid, port, basicPort, startMs, stop: parent.stop, files }
}

/** As `htpasswd` of OpenLDAP would. */
function formatUser({ username, password }: NginxUser): string {
  const salt = randomBytes(8)
  const digest = createHash('sha1').update(password).update(salt).digest()
  return `${username}:{SSHA}${Buffer.concat([digest, salt]).toString('base64')}\n`
}

function formatConfig(folder: string, files: string, port: number, basicPort: number): string {
  const server = (listen: number, ...rules: readonly string[]): readonly string[] => [
    '  server {',
    `    listen 127.0.0.1:${listen};`,
    `    root ${files};`,
    '    client_max_body_size 0;',
    `    location / { dav_methods PUT; ${rules.join(' ')} }`,
    '  }',
  ]
  return [
    // The worker of a root's nginx would be somebody who may not look into our folder.
    ...(process.getuid?.() === 0 ? ['user root;'] : []),
    'daemon off;',
    `pid ${folder}/nginx.pid;`,
    `error_log ${folder}/error.log;`,
    'events {}',
    'http {',
    '  access_log off;',
    '  sendfile on;',
    ...['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `  ${name}_temp_path ${folder}/${name};`,
    ),
    ...server(port),
    ...server(basicPort, 'auth_basic "bench";', `auth_basic_user_file ${folder}/users;`),
    '}',
    '',
  ].join('\n')
}
