import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { SITE } from '../proxies/support/certificate.ts'
import { composeWithNginx, readCompose } from './support/compose.ts'
import { readRecipe, ROOT, settingsOf, variablesOf } from './support/recipes.ts'

const compose = readCompose()
const { clipgate, proxy } = compose.services

/** The surroundings of the daemon: those of the image, and those of the compose file on top. */
const environment = { ...variablesOf(readRecipe('Dockerfile')), ...clipgate.environment }
const settings = settingsOf([], environment)

it('the compose file gives the daemon no port outside, and a network that leads nowhere else', () => {
  const { ports, network_mode, networks } = clipgate
  assert.deepEqual([ports, network_mode, Object.keys(networks)], [undefined, undefined, ['inside']])
  assert.equal(compose.networks['inside']?.internal, true)
  const members = Object.values(compose.services).filter((service) => 'inside' in service.networks)
  assert.deepEqual(members, [clipgate, proxy])
  assert.deepEqual(proxy.ports, ['80:80', '443:443'], 'those of a web server')
})

it('the compose file gives the daemon a name that outlives its container, which its lock may hold', () => {
  assert.match(readRecipe('compose.yaml'), /^ {2}clipgate:\n(?: {4}.*\n)*? {4}hostname: clipgate$/m)
})

it('the compose file sets the daemon up for its proxy, which reads all that it is told', () => {
  const { headless, publicUrl, trustedProxies, listen } = settings
  const address = proxy.networks['inside']?.ipv4_address
  assert.deepEqual([headless, publicUrl, trustedProxies], [true, `https://${SITE}`, [address]])
  const { CLIPGATE_UPSTREAM, CLIPGATE_SITE } = proxy.environment
  assert.deepEqual([CLIPGATE_UPSTREAM, CLIPGATE_SITE], [`clipgate:${listen?.[0]?.port}`, SITE])
  const site = readRecipe('caddy/Caddyfile').replace(/^\s*#.*$/gm, '')
  const names = new Set([...site.matchAll(/\{\$([A-Z_]+):/g)].map(([, name]) => name))
  assert.deepEqual(new Set(Object.keys(proxy.environment)), names)
})

it('the compose file keeps in a volume what the daemon keeps, and the certificates', () => {
  assert.deepEqual(clipgate.volumes, [`data:${settings.dataDir}`])
  assert.ok(proxy.volumes.includes('certificates:/data'), 'Caddy keeps its own')
  assert.deepEqual(Object.keys(compose.volumes), ['data', 'certificates'])
})

it('the compose file mounts and builds what there is', () => {
  const files = proxy.volumes.filter((volume) => volume.startsWith('./'))
  assert.deepEqual(files, ['./caddy/Caddyfile:/etc/caddy/Caddyfile:ro'])
  const context = join('deploy', clipgate.build?.context ?? '', 'package.json')
  for (const path of [context, clipgate.build?.dockerfile ?? '', 'deploy/caddy/Caddyfile']) {
    assert.ok(existsSync(join(ROOT, path)), path)
  }
})

it('the compose file checks the daemon as the image says, and waits for uploads when it stops', () => {
  assert.ok(clipgate.healthcheck, 'there is one')
  assert.equal(clipgate.healthcheck.test, undefined)
  assert.match(readRecipe('Dockerfile'), /^HEALTHCHECK /m)
  const seconds = Number(/^(\d+)s$/.exec(clipgate.stop_grace_period ?? '')?.[1])
  assert.ok(seconds * 1000 > 2 * settings.grace, `${seconds} s are enough`)
})

const nginx = composeWithNginx().services.proxy
for (const [name, service, rights] of [
  ['clipgate', clipgate, undefined],
  ['proxy', proxy, ['NET_BIND_SERVICE']],
  // nginx starts as root, and gives its workers to somebody else.
  ['nginx', nginx, ['CHOWN', 'NET_BIND_SERVICE', 'SETGID', 'SETUID']],
] as const) {
  it(`the compose file gives no rights and no disk to ${name} but what it needs`, () => {
    const { read_only, privileged, cap_drop, cap_add, security_opt } = service
    assert.deepEqual([read_only, privileged, cap_drop], [true, undefined, ['ALL']])
    assert.deepEqual([cap_add, security_opt], [rights, ['no-new-privileges:true']])
  })
}

it('the compose file has nginx at the same place, for those who want that', () => {
  assert.deepEqual(nginx.networks, proxy.networks)
  assert.deepEqual(nginx.ports, ['443:443'])
  const upstream = `${clipgate.networks['inside']?.ipv4_address}:${settings.listen?.[0]?.port}`
  const said = `${upstream} in place of 127.0.0.1:42720`
  assert.ok(readRecipe('compose.yaml').includes(said), said)
})
