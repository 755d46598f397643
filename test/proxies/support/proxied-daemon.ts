/**
 * A headless daemon with a proxy in front, set up as `deploy/README.md` says.
 * @module
 */

import { mkdir, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { MAX_LOOKS } from '../../faults/support/vitals.ts'
import type { TestCertificate } from '../../support/certificates.ts'
import {
  startDaemonProcess,
  type DaemonProcess,
  type PairedDevice,
} from '../../support/daemon-process.ts'
import { createPhone, type Phone } from '../../support/phone.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { makeSiteCertificate, SITE } from './certificate.ts'
import { createClient, type Client, type HttpVersion } from './https-client.ts'
import type { ProxyOptions, ProxyProcess } from './proxy-process.ts'

export const PUBLIC_URL: string = `https://${SITE}`

export interface ProxiedDaemon<Proxy extends ProxyProcess = ProxyProcess> {
  readonly daemon: DaemonProcess
  readonly proxy: Proxy
  readonly device: PairedDevice
  /** The same device, on the daemon's own port. */
  readonly phone: Phone
  readonly certificate: TestCertificate
  /** A client that connects to the proxy. */
  through(t: TestContext, version: HttpVersion, localAddress?: string): Client
  /** A client that connects to the daemon. */
  direct(t: TestContext): Client
}

/** @param args More options of `serve`. */
export async function startProxiedDaemon<Proxy extends ProxyProcess>(
  t: TestContext,
  start: (t: TestContext, options: ProxyOptions) => Promise<Proxy>,
  ...args: readonly string[]
): Promise<ProxiedDaemon<Proxy>> {
  const daemon = await startDaemonProcess(t, {
    devices: ['Phone'],
    args: ['--headless', '--public-url', PUBLIC_URL, '--trusted-proxies', '127.0.0.1', ...args],
  })
  const { host: upstream, port } = new URL(daemon.ready.gateway)
  const device = await daemon.pair('Phone')
  const folder = join(await temporaryFolder(t), 'proxy')
  await mkdir(folder)
  const certificate = await makeSiteCertificate(folder)
  const proxy = await start(t, { folder, certificate, upstream })
  return {
    daemon,
    proxy,
    device,
    phone: createPhone(device, daemon.ready.gateway),
    certificate,
    through: (test, version, localAddress) =>
      createClient(test, {
        port: proxy.port,
        certificate: certificate.cert,
        version,
        localAddress,
      }),
    direct: (test) =>
      createClient(test, { port: Number(port), certificate: undefined, version: 'HTTP/1.1' }),
  }
}

/** Waits until more than `before` bytes lie in the data directory of the daemon. */
export async function untilStored(
  { daemon, phone }: Pick<ProxiedDaemon, 'daemon' | 'phone'>,
  before: number,
): Promise<void> {
  for (let looks = 0; looks < MAX_LOOKS; looks++) {
    if ((await storedBytes(daemon)) > before) return
    await phone.fetch('/healthz')
  }
  throw new Error('Nothing of the upload has reached the daemon')
}

export async function storedBytes({ folder }: DaemonProcess): Promise<number> {
  const blobs = join(folder, 'data', 'blobs')
  const sizes = (await readdir(blobs)).map(async (name) => {
    try {
      return (await stat(join(blobs, name))).size
    } catch {
      // Swept since it was listed.
      return 0
    }
  })
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}
