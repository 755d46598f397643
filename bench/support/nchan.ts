/**
 * A private nginx with the module `nchan`, which tells the readers of event streams what is posted
 * to it.
 * @module
 */

import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AsyncCleanup } from '../../src/lib/async-cleanup.ts'
import type { Listening } from './event-streams.ts'
import { findFreePort, startOnPort } from './ports.ts'
import { readChildren } from './process-usage.ts'
import { findProgram } from './processes.ts'

export interface Nchan {
  /** The process id of the worker, which does the work. */
  readonly pid: number
  readonly port: number
  /** Tells all readers. */
  publish(text: string): Promise<void>
}

/** Readers ask for no login. */
export const NCHAN_STREAM: Listening = {
  request: () => 'GET /sub HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n',
  welcome: ': hi',
  update: 'data: ',
}

const MODULE: string | undefined = ['/usr/lib/nginx/modules', '/usr/lib64/nginx/modules']
  .map((folder) => join(folder, 'ngx_nchan_module.so'))
  .find((path) => existsSync(path))

/** Starts it in `folder`; `undefined` when it is not installed. */
export async function startNchan(
  cleanup: AsyncCleanup,
  folder: string,
): Promise<Nchan | undefined> {
  const program = findProgram('nginx')
  if (program === undefined || MODULE === undefined) return undefined
  await mkdir(folder, { recursive: true })
  const port = await findFreePort()
  const config = join(folder, 'nginx.conf')
  await writeFile(config, formatConfig(folder, port, MODULE))
  const parent = await startOnPort(cleanup, port, [program, '-p', folder, '-c', config])
  const url = `http://127.0.0.1:${port}/pub`
  // Its port is open before its worker is there to answer.
  await (await fetch(url)).arrayBuffer()
  const [pid = Number.NaN] = readChildren(parent.pid)
  return {
    pid,
    port,
    publish: async (text) => {
      const answer = await fetch(url, { method: 'POST', body: text })
      await answer.arrayBuffer()
      if (!answer.ok) throw new Error(`nchan answered ${answer.status}`)
    },
  }
}

function formatConfig(folder: string, port: number, module: string): string {
  const spools = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return [
    // The worker of a root's nginx would be somebody who may not look into our folder.
    ...(process.getuid?.() === 0 ? ['user root;'] : []),
    `load_module ${module};`,
    'daemon off;',
    `pid ${folder}/nginx.pid;`,
    `error_log ${folder}/error.log;`,
    'worker_rlimit_nofile 16384;',
    'events { worker_connections 8192; }',
    'http {',
    '  access_log off;',
    ...spools.map((name) => `  ${name}_temp_path ${folder}/${name};`),
    `  server { listen 127.0.0.1:${port} backlog=4096;`,
    '    nchan_channel_id bench;',
    '    location = /pub { nchan_publisher; nchan_message_buffer_length 1; }',
    '    location = /sub { nchan_subscriber eventsource; nchan_subscriber_first_message newest; }',
    '  }',
    '}',
    '',
  ].join('\n')
}
