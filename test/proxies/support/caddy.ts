/**
 * Caddy with the shipped site, and without all that it would do on a server: no authority is
 * asked for certificates, and nothing of the user is read or written.
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

export interface CaddyProcess extends ProxyProcess {
  /** Where it would answer plain HTTP. */
  readonly httpPort: number
}

export async function startCaddy(
  t: TestContext,
  { folder, certificate, upstream }: ProxyOptions,
): Promise<CaddyProcess> {
  const site = await readShipped('caddy/Caddyfile', [
    { marker: '127.0.0.1:42720', times: 1, by: upstream },
    caddyCertificate(certificate),
  ])
  await writeFile(join(folder, 'site'), site)

  const { ports, logs } = await startOnFreePorts(t, 2, ([httpsPort = 0, httpPort = 0]) =>
    prepareCaddy(folder, formatMain(httpsPort, httpPort)),
  )
  const [port = 0, httpPort = 0] = ports
  return { port, httpPort, logs, spooled: () => readdir(join(folder, 'tmp')) }
}

/** A certificate of ours in the shipped site. */
export function caddyCertificate({ certPath, keyPath }: TestCertificate): Substitution {
  const path = '/etc/ssl/clip.example.com'
  return {
    marker: `# tls ${path}/fullchain.pem ${path}/privkey.pem`,
    times: 1,
    by: `tls ${certPath} ${keyPath}`,
  }
}

/** Writes what Caddy reads; all that it writes is in the same folder. */
export async function prepareCaddy(folder: string, configuration: string): Promise<ProxyCommand> {
  const main = join(folder, 'Caddyfile')
  const spool = join(folder, 'tmp')
  await mkdir(spool, { recursive: true })
  await writeFile(main, configuration)
  return {
    command: ['caddy', 'run', '--config', main, '--adapter', 'caddyfile'],
    env: { HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder, TMPDIR: spool },
    ready: /serving initial configuration/,
    // Asked to end, it waits for open event streams.
    stopSignal: 'SIGKILL',
  }
}

function formatMain(httpsPort: number, httpPort: number): string {
  const ports = `  https_port ${httpsPort}\n  http_port ${httpPort}`
  return `{\n  admin off\n  default_bind 127.0.0.1\n${ports}\n}\nimport site\n`
}
