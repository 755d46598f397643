import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { it } from 'node:test'
import { PRIVATE } from '../control/support/private-routes.ts'
import { forgeries, listenInstead, replay } from '../support/foreign-listener.ts'
import { startHeadless } from './support/subject.ts'

const COMMANDS = [
  ['status'],
  ['devices'],
  ['panel', '--print'],
  ['pause'],
  ['peers'],
  ['revoke', 'nobody'],
]

it('a program that takes the control port of a daemon that was killed hears nothing from commands, and what it could have heard opens nothing later', async (t) => {
  const daemon = await startHeadless(t)
  const { control } = daemon.ready
  const { folder } = daemon
  const token = await readFile(join(folder, 'data', 'control.token'), 'utf8')
  const { url } = JSON.parse((await daemon.run('panel', '--json')).stdout)
  await daemon.kill()

  const foreign = await listenInstead(t, control, (_request, response) => response.end('{}'))
  for (const command of COMMANDS) {
    // Some of them need a daemon, and say so.
    await daemon.run(...command).catch(() => undefined)
  }
  assert.deepEqual(foreign.heard, [])
  await foreign.close()

  const env = { CLIPGATE_CONTROL: new URL(control).host }
  await startHeadless(t, { folder, env })
  const secrets = { method: 'POST', path: '/', headers: {}, body: `${token} ${new URL(url).hash}` }
  for (const attempt of forgeries([secrets], PRIVATE)) {
    if (attempt.path === '/') continue
    const status = await replay(control, attempt)
    assert.ok(status === 401 || status === 403, `${status} to ${JSON.stringify(attempt)}`)
  }
})
