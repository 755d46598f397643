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
  assert.deepEqual([clipgate.ports, clipgate.network_mode], [undefined, undefined])
  assert.deepEqual(Object.keys(clipgate.networks), ['inside'])
  assert.equal(compose.networks['inside']?.internal, true)
  const members = Object.values(compose.services).filter(({ networks }) => 'inside' in networks)
  assert.deepEqual(members, [clipgate, proxy])
})

it('the compose file gives the daemon a name that outlives its container, which its lock may hold', () => {
  assert.match(readRecipe('compose.yaml'), /^ {2}clipgate:\n(?: {4}.*\n)*? {4}hostname: clipgate$/m)
})

it('the compose file sets the daemon up for its proxy', () => {
  assert.equal(settings.headless, true)
  assert.equal(settings.publicUrl, `https://${SITE}`)
  assert.deepEqual(settings.trustedProxies, [proxy.networks['inside']?.ipv4_address])
  const [listen] = settings.listen ?? []
  assert.equal(proxy.environment['CLIPGATE_UPSTREAM'], `clipgate:${listen?.port}`)
  assert.equal(proxy.environment['CLIPGATE_SITE'], SITE)
})

it('the compose file sets nothing that the Caddyfile does not read', () => {
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
  const context = join(ROOT, 'deploy', clipgate.build?.context ?? '')
  assert.ok(existsSync(join(context, 'package.json')), 'context')
  assert.ok(existsSync(join(ROOT, clipgate.build?.dockerfile ?? '')), 'Dockerfile')
  const files = proxy.volumes.filter((volume) => volume.startsWith('./'))
  assert.deepEqual(files, ['./caddy/Caddyfile:/etc/caddy/Caddyfile:ro'])
  assert.ok(existsSync(join(ROOT, 'deploy/caddy/Caddyfile')), 'Caddyfile')
})

it('the compose file opens the two ports of a web server, and no others', () => {
  assert.deepEqual(proxy.ports, ['80:80', '443:443'])
})

it('the compose file checks whether the daemon is well as the image says, which is tested there', () => {
  assert.ok(clipgate.healthcheck, 'there is one')
  assert.equal(clipgate.healthcheck.test, undefined)
  assert.match(readRecipe('Dockerfile'), /^HEALTHCHECK /m)
})

it('the compose file waits for uploads when it stops', () => {
  const seconds = Number(/^(\d+)s$/.exec(clipgate.stop_grace_period ?? '')?.[1])
  assert.ok(seconds * 1000 > 2 * settings.grace, `${seconds} s are enough`)
})

const nginx = composeWithNginx().services.proxy
for (const [name, service] of [
  ['clipgate', clipgate],
  ['proxy', proxy],
  ['nginx', nginx],
] as const) {
  it(`the compose file gives no rights and no disk to ${name} but what it needs`, () => {
    assert.equal(service.read_only, true)
    assert.equal(service.privileged, undefined)
    assert.deepEqual(service.cap_drop, ['ALL'])
    assert.deepEqual(service.security_opt, ['no-new-privileges:true'])
    // nginx starts as root, and gives its workers to somebody else.
    const rights = {
      clipgate: undefined,
      proxy: ['NET_BIND_SERVICE'],
      nginx: ['CHOWN', 'NET_BIND_SERVICE', 'SETGID', 'SETUID'],
    }
    assert.deepEqual(service.cap_add, rights[name])
  })
}

it('the compose file has nginx at the same place, for those who want that', () => {
  assert.deepEqual(nginx.networks, proxy.networks)
  assert.deepEqual(nginx.ports, ['443:443'])
  const upstream = `${clipgate.networks['inside']?.ipv4_address}:${settings.listen?.[0]?.port}`
  const said = `${upstream} in place of 127.0.0.1:42720`
  assert.ok(readRecipe('compose.yaml').includes(said), said)
})
