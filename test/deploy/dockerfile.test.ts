import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { it } from 'node:test'
import { startDaemonProcess } from '../support/daemon-process.ts'
import { readRecipe, ROOT, variablesOf } from './support/recipes.ts'

interface Instruction {
  readonly name: string
  readonly text: string
}

/** The instructions, each on one line and without comments. */
function parse(dockerfile: string): readonly Instruction[] {
  const lines = dockerfile
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n\s*/g, '')
    .split('\n')
  return lines
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name = '', text = ''] = /^([A-Z]+) +(.*)$/.exec(line) ?? []
      return { name, text }
    })
}

const instructions = parse(readRecipe('Dockerfile'))
const finalStage = instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM'))

function textsOf(name: string, among = instructions): readonly string[] {
  return among.filter((instruction) => instruction.name === name).map(({ text }) => text)
}

it('the Dockerfile has only instructions, from images of one major version', () => {
  assert.ok(
    instructions.every(({ name }) => name !== ''),
    'each line is understood',
  )
  const images = textsOf('FROM')
  assert.equal(images.length, 2)
  for (const image of images) assert.match(image, /^node:\d+-[a-z]+( AS build)?$/)
  assert.equal(new Set(images.map((image) => /\d+/.exec(image)?.[0])).size, 1)
})

it('the Dockerfile runs as a user without a name and without rights', () => {
  const [user = ''] = textsOf('USER', finalStage)
  assert.match(user, /^[1-9]\d{3,}:[1-9]\d{3,}$/)
  const before = finalStage.findIndex(({ name }) => name === 'USER')
  assert.ok(before > 0 && before < finalStage.findIndex(({ name }) => name === 'CMD'), 'in time')
  const runs = textsOf('RUN', finalStage).join('\n')
  assert.ok(runs.includes(`chown ${user} /data`), 'it owns its folder')
})

it('the Dockerfile keeps what the daemon keeps, exposes its port, and lets uploads finish', () => {
  const { CLIPGATE_DATA_DIR, CLIPGATE_LISTEN = '' } = variablesOf(
    textsOf('ENV', finalStage).join(' '),
  )
  assert.deepEqual(textsOf('VOLUME', finalStage), [CLIPGATE_DATA_DIR])
  assert.deepEqual(textsOf('EXPOSE', finalStage), [CLIPGATE_LISTEN.split(':').at(-1)])
  assert.deepEqual(textsOf('STOPSIGNAL', finalStage), ['SIGTERM'])
  // As a list: a shell between would keep the signal to itself.
  assert.deepEqual(textsOf('CMD', finalStage), ['["clipgate", "serve"]'])
})

it('the Dockerfile copies what there is and what .dockerignore lets through, and nothing else', () => {
  const sources = textsOf('COPY')
    .filter((text) => !text.startsWith('--from'))
    .flatMap((text) => text.split(' ').slice(0, -1))
  const ignore = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n')
  const rules = ignore.filter((line) => line !== '' && !line.startsWith('#'))
  assert.deepEqual(rules, ['*', ...sources.map((source) => `!${source}`)])
  assert.deepEqual(
    sources.filter((source) => !existsSync(join(ROOT, source))),
    [],
  )
})

it('the Dockerfile copies what the build reads', () => {
  const copied = textsOf('COPY').map((text) => text.split(' ')[0])
  const [, program = ''] = / node (\S+)$/.exec(textsOf('RUN')[1] ?? '') ?? []
  const modules = readFileSync(join(ROOT, program), 'utf8').matchAll(/ from '(\.[^']+)'/g)
  const read = [...modules].map(([, name = '']) => join(dirname(program), name).split('/')[0])
  assert.ok(read.length > 0, 'it has parts')
  for (const folder of [...read, 'src']) assert.ok(copied.includes(folder), folder)
})

it('the Dockerfile finds out whether the daemon is well', async (t) => {
  const [check = ''] = textsOf('HEALTHCHECK', finalStage)
  const [, command = ''] = /^--.* CMD (\[.*\])$/.exec(check) ?? []
  const [program, ...args]: readonly string[] = JSON.parse(command)
  assert.equal(program, 'node')
  const daemon = await startDaemonProcess(t, { args: ['--headless'] })
  const listen = new URL(daemon.ready.gateway).host.replace('127.0.0.1', '0.0.0.0')
  const ask = async (): Promise<unknown> => {
    const env = { ...process.env, CLIPGATE_LISTEN: listen }
    const asking = spawn(process.execPath, args, { env, stdio: 'ignore' })
    const [code] = await once(asking, 'exit')
    return code
  }
  assert.equal(await ask(), 0)
  await daemon.stop()
  assert.equal(await ask(), 1)
})
