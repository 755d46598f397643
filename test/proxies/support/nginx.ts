/**
 * nginx with the shipped site, among settings for other sites that a server may have.
 * @module
 */

import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { TestCertificate } from '../../support/certificates.ts'
import {
  startOnFreePorts,
  type ProxyCommand,
  type ProxyOptions,
  type ProxyProcess,
} from './proxy-process.ts'
import { readShipped, type Substitution } from './shipped-configuration.ts'

/** Bodies in files are kept in folders of this depth, which stay when the files are gone. */
const LEVELS = '1 2'

const SPOOLS: readonly string[] = ['client_body', 'proxy']

export async function startNginx(
  t: TestContext,
  { folder, certificate, upstream }: ProxyOptions,
): Promise<ProxyProcess> {
  const spools = SPOOLS.map((name) => join(folder, name))
  const { ports, logs } = await startOnFreePorts(t, 1, async ([port = 0]) => {
    const site = await readShipped('nginx/clipgate.conf', [
      { marker: 'listen 443 ', times: 1, by: `listen 127.0.0.1:${port} ` },
      // The machine need not have IPv6.
      { marker: 'listen [::]:443 ', times: 1, by: `listen unix:${join(folder, 'ipv6')} ` },
      { marker: '127.0.0.1:42720', times: 1, by: upstream },
      ...nginxCertificate(certificate),
    ])
    return prepareNginx(folder, site)
  })
  const [port = 0] = ports
  return {
    port,
    logs,
    spooled: async () => {
      const names = await Promise.all(spools.map((path) => readdir(path, { recursive: true })))
      return names.flat()
    },
  }
}

/** A certificate of ours in the shipped site. */
export function nginxCertificate({ certPath, keyPath }: TestCertificate): readonly Substitution[] {
  const live = '/etc/letsencrypt/live/clip.example.com'
  return [
    { marker: `${live}/fullchain.pem`, times: 1, by: certPath },
    { marker: `${live}/privkey.pem`, times: 1, by: keyPath },
  ]
}

/** Writes what nginx reads, for a site; all that it writes is in the same folder. */
export async function prepareNginx(folder: string, site: string): Promise<ProxyCommand> {
  const main = join(folder, 'nginx.conf')
  const folders = [...SPOOLS, 'cache'].map((name) => join(folder, name))
  await Promise.all(folders.map((path) => mkdir(path, { recursive: true })))
  await writeFile(join(folder, 'clipgate.conf'), site)
  await writeFile(main, formatMain(folder))
  return {
    command: ['nginx', '-p', folder, '-c', main, '-e', 'stderr'],
    ready: /start worker process /,
    stopSignal: 'SIGTERM',
  }
}

/** Like Debian's `nginx.conf`, on a server that also compresses and caches for others. */
function formatMain(folder: string): string {
  // The worker of a root's nginx would be somebody who may not look into our folder.
  return `${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
pid ${folder}/nginx.pid;
error_log stderr notice;
events {}
http {
  sendfile on;
  tcp_nopush on;
  ssl_protocols TLSv1 TLSv1.1 TLSv1.2 TLSv1.3;
  access_log ${folder}/access.log;
  gzip on;
  gzip_types *;
  gzip_proxied any;
  gzip_min_length 1;
  proxy_cache_path ${folder}/cache keys_zone=others:1m;
  proxy_cache others;
  proxy_cache_valid any 10m;
  proxy_ignore_headers Cache-Control Expires;
  client_body_temp_path ${folder}/client_body ${LEVELS};
  proxy_temp_path ${folder}/proxy ${LEVELS};
${['fastcgi', 'uwsgi', 'scgi'].map((name) => `  ${name}_temp_path ${folder}/${name};`).join('\n')}
  include ${folder}/clipgate.conf;
}
`
}
