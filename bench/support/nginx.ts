/**
 * A private nginx: WebDAV uploads with its default buffers, downloads with `sendfile`.
 *
 * @module
 */

import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { spawn } from 'node:child_process'
import type { AsyncCleanup } from '../../src/lib/async-cleanup.ts'
import { readChildren } from './process-usage.ts'
import { findProgram } from './processes.ts'

export interface Nginx {
  /** Of the worker, which does the work. */
  readonly pid: number
  readonly port: number
  /** What it serves, and where uploads land. */
  readonly files: string
}

/** Starts it in `folder`; `undefined` when it is not installed. */
export async function startNginx(
  cleanup: AsyncCleanup,
  folder: string,
): Promise<Nginx | undefined> {
  const program = findProgram('nginx')
  if (program === undefined) return undefined
  const files = join(folder, 'files')
  await mkdir(files, { recursive: true })
  const port = await findFreePort()
  const config = join(folder, 'nginx.conf')
  await writeFile(config, formatConfig(folder, files, port))

  const child = spawn(program, ['-p', folder, '-c', config], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const exited = once(child, 'exit')
  cleanup.add(async () => {
    child.kill('SIGTERM')
    await exited
  })
  while (!(await answers(port))) {
    if (child.exitCode !== null) throw new Error(`nginx ended: ${stderr}`)
    await sleep(20)
  }
  const [pid = Number.NaN] = readChildren(child.pid)
  return { pid, port, files }
}

function formatConfig(folder: string, files: string, port: number): string {
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
    '  server {',
    `    listen 127.0.0.1:${port};`,
    `    root ${files};`,
    '    client_max_body_size 0;',
    '    location / { dav_methods PUT; }',
    '  }',
    '}',
    '',
  ].join('\n')
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  if (address === null || typeof address === 'string') throw new Error('Cannot find a free port')
  return address.port
}

async function answers(port: number): Promise<boolean> {
  try {
    await fetch(`http://127.0.0.1:${port}/`)
    return true
  } catch {
    // Not yet listening.
    return false
  }
}
