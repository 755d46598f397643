/**
 * A node on a server, a desktop at home and a phone elsewhere, each a machine of its own: what is
 * between them is the proxy, and nothing else.
 * @module
 */

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { caddyCertificate, prepareCaddy } from '../../proxies/support/caddy.ts'
import { makeSiteCertificate, SITE } from '../../proxies/support/certificate.ts'
import { nginxCertificate, prepareNginx } from '../../proxies/support/nginx.ts'
import { startProxyProcess, type ProxyCommand } from '../../proxies/support/proxy-process.ts'
import { readShipped } from '../../proxies/support/shipped-configuration.ts'
import type { TestCertificate } from '../../support/certificates.ts'
import { startDaemonProcess, type DaemonProcess } from '../../support/daemon-process.ts'
import { makeMachine, plug, type Machine } from '../../support/machines.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { readCompose } from './compose.ts'
import { readRecipe, variablesOf } from './recipes.ts'

export interface FarAway {
  readonly node: DaemonProcess
  /** Where the node runs, and where its gateway is there. */
  readonly inside: { readonly machine: Machine; readonly gateway: string }
  readonly phone: Machine
  readonly home: Machine
  readonly certificate: TestCertificate
  /** Addresses at which a phone might look for the node itself. */
  readonly elsewhere: readonly string[]
}

/** @param main The program of the node. */
export type StartFarAway = (t: TestContext, main: string) => Promise<FarAway>

/** Addresses of the server that the world sees: the phone's cable, and that of the home. */
const FRONT = { phone: '10.213.20.1', home: '10.213.21.1' }

export const PHONE_ADDRESS = '10.213.20.2'

/** Pings are not what pushes events out of a buffer; `doctor` waits for one. */
const HEARTBEAT = ['--heartbeat', '1s']

/** What `deploy/compose.yaml` makes, with Caddy: the node is alone with it in a network. */
export async function startComposed(t: TestContext, main: string): Promise<FarAway> {
  const { clipgate, proxy } = readCompose().services
  const nodeAddress = clipgate.networks['inside']?.ipv4_address ?? ''
  const server = await makeServer(t, { clipgate: nodeAddress })
  const machine = await makeMachine(t, 'node')
  const proxyAddress = proxy.networks['inside']?.ipv4_address
  await plug('inside', [server.front, `${proxyAddress}/24`], [machine, `${nodeAddress}/24`])

  const env = { ...variablesOf(readRecipe('Dockerfile')), ...clipgate.environment }
  const folder = await temporaryFolder(t)
  const dataDir = join(folder, 'data')
  await mkdir(dataDir)
  const node = await startDaemonProcess(t, {
    folder,
    main,
    env: { ...env, CLIPGATE_DATA_DIR: dataDir, HOME: dataDir },
    wrapper: [...machine.inside, ...locked(dataDir)],
    args: HEARTBEAT,
  })
  const site = join(server.folder, 'site')
  const certificate = caddyCertificate(server.certificate)
  await writeFile(site, await readShipped('caddy/Caddyfile', [certificate]))
  const caddy = await prepareCaddy(server.folder, '{\n  admin off\n}\nimport site\n')
  await startThere(t, server.front, { ...caddy, env: { ...caddy.env, ...proxy.environment } })
  const gateway = `http://${nodeAddress}:42720`
  const elsewhere = [gateway, ...Object.values(FRONT).map((host) => `http://${host}:42720`)]
  return { ...server, node, inside: { machine, gateway }, elsewhere }
}

/** What `docs/guides/server.md` makes, with nginx: the node is on the same machine, on loopback. */
export async function startBesideNginx(t: TestContext, main: string): Promise<FarAway> {
  const server = await makeServer(t, {})
  const node = await startDaemonProcess(t, {
    main,
    // As it is without any setting.
    env: { CLIPGATE_LISTEN: '127.0.0.1:42720', CLIPGATE_CONTROL: '127.0.0.1:42721' },
    wrapper: server.front.inside,
    args: [
      '--headless',
      '--public-url',
      `https://${SITE}`,
      '--trusted-proxies',
      '127.0.0.1',
      ...HEARTBEAT,
    ],
  })
  const site = await readShipped('nginx/clipgate.conf', [
    ...nginxCertificate(server.certificate),
    // The machine need not have IPv6.
    { marker: 'listen [::]:443 ', times: 1, by: `listen unix:${join(server.folder, 'ipv6')} ` },
  ])
  await startThere(t, server.front, await prepareNginx(server.folder, site))
  const gateway = 'http://127.0.0.1:42720'
  const elsewhere = Object.values(FRONT).flatMap((host) =>
    [42720, 42721].map((port) => `http://${host}:${port}`),
  )
  return { ...server, node, inside: { machine: server.front, gateway }, elsewhere }
}

async function makeServer(t: TestContext, hosts: Readonly<Record<string, string>>) {
  const front = await makeMachine(t, 'front', hosts)
  const phone = await makeMachine(t, 'phone', { [SITE]: FRONT.phone })
  const home = await makeMachine(t, 'home', { [SITE]: FRONT.home })
  await plug('phone', [front, `${FRONT.phone}/24`], [phone, `${PHONE_ADDRESS}/24`])
  await plug('home', [front, `${FRONT.home}/24`], [home, '10.213.21.2/24'])
  // What the phone does not know a way to, it sends there, as into the internet.
  for (const [machine, via] of [
    [phone, FRONT.phone],
    [home, FRONT.home],
  ] as const) {
    await machine.ip('route', 'add', 'default', 'via', via)
  }
  const folder = join(await temporaryFolder(t), 'proxy')
  await mkdir(folder)
  return { front, phone, home, folder, certificate: await makeSiteCertificate(folder) }
}

async function startThere(t: TestContext, machine: Machine, proxy: ProxyCommand): Promise<void> {
  const [program = '', ...args] = [...machine.inside, ...proxy.command]
  await startProxyProcess(t, { ...proxy, command: [program, ...args] })
}

/** A root that cannot be written to but for the data directory, and no rights: as a container. */
export function locked(dataDir: string): readonly string[] {
  const mounts = 'mount --bind "$0" "$0" && mount -o remount,bind,ro / && exec "$@"'
  const rights = ['setpriv', '--bounding-set=-all', '--inh-caps=-all', '--no-new-privs']
  return ['sh', '-c', mounts, dataDir, ...rights]
}
