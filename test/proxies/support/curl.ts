/**
 * curl, as a person has it, on the way through a proxy.
 * @module
 */

import { SITE } from './certificate.ts'
import { PUBLIC_URL, type ProxiedDaemon } from './proxied-daemon.ts'
import { execute } from '../../support/execute.ts'

export interface CurlAnswer {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

/** Runs curl for a path of the public URL. */
export async function curl(
  { proxy, certificate }: ProxiedDaemon,
  path: string,
  ...args: readonly string[]
): Promise<CurlAnswer> {
  const trusting = ['--cacert', certificate.certPath]
  const there = ['--connect-to', `${SITE}:443:127.0.0.1:${proxy.port}`, `${PUBLIC_URL}${path}`]
  const telling = ['--silent', '--show-error', '--write-out', '\n%{http_code} %{content_type}']
  const all = [...telling, ...trusting, ...args, ...there]
  const { stdout } = await execute('curl', all)
  const at = stdout.lastIndexOf('\n')
  const [status, contentType = ''] = stdout.slice(at + 1).split(' ')
  return { status: Number(status), contentType, body: stdout.slice(0, at) }
}

/** The option that logs a device in. */
export function loginOf({ device }: ProxiedDaemon): readonly string[] {
  return ['--user', `${device.username}:${device.password}`]
}
