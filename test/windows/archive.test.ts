import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { readManifest } from '../../build/parts.ts'
import { pasteUntil } from '../desktop/x11/support/xclip.ts'
import { makeOlderRelease, makeRelease, OLDER, PROJECT } from '../packaging/support/make-release.ts'
import { execute } from '../support/execute.ts'
import { onlyAtNight } from '../support/night.ts'
import { createPhone } from '../support/phone.ts'
import { needs } from '../support/requirements.ts'
import { Xvfb } from '../support/xvfb.ts'
import { needsWine, WindowsMachine } from './support/wine.ts'

const TARGET = 'win32-x64'
const { version } = readManifest(PROJECT)
const PLACE = 'a b'
const DATA = ['--data-dir', 'C:\\data']
const PORTS = ['--listen', '127.0.0.1:0', '--control', '127.0.0.1:0']

const skip =
  onlyAtNight().skip || needsWine().skip || needs('make', 'npm', 'python3', 'Xvfb', 'xclip').skip

describe('the archive for Windows, where there is no Node,', { skip }, () => {
  let [folder, older, newer] = ['', '', '']
  let desktop: Xvfb
  let machine: WindowsMachine
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'clipgate-test-'))
    newer = await makeRelease(folder, undefined, TARGET)
    older = await makeOlderRelease(folder, TARGET)
    desktop = await Xvfb.start()
    machine = await WindowsMachine.start(undefined, desktop.display)
  })
  after(async () => {
    await machine.stop()
    await desktop.stop()
    await rm(folder, { recursive: true, force: true })
  })

  /** Unpacks it over what is there, as one file after the other. */
  async function unpack(from: string, number: string): Promise<void> {
    const name = `clipgate-${number}-${TARGET}`
    const unpacked = await mkdtemp(join(folder, 'unpacked-'))
    await execute('python3', ['-m', 'zipfile', '-e', join(from, `${name}.zip`), unpacked])
    await mkdir(join(machine.drive, PLACE), { recursive: true })
    await execute('cp', ['-R', `${join(unpacked, name)}/.`, join(machine.drive, PLACE)])
  }

  const installed = async () =>
    JSON.parse(await readFile(join(machine.drive, PLACE, 'package.json'), 'utf8'))
  const start = (...args: readonly string[]) =>
    machine.run('cmd', '/c', `C:\\${PLACE}\\clipgate.cmd`, ...args, ...DATA)
  const run = async (...args: readonly string[]) => {
    const command = start(...args)
    assert.equal(await command.ended(), 0, await command.stderr())
    return command.stdout()
  }

  it('starts by its launcher, shares a clipboard, and is replaced by the next one', async () => {
    await unpack(older, OLDER)
    assert.equal((await installed()).version, OLDER)
    const first = start('serve', '--json', ...PORTS)
    const ready = JSON.parse(await first.line())
    assert.equal(ready.clipboard, 'windows')
    // On a busy machine, one hash may take longer than a command waits.
    let pair = start('pair', '--json', '--label', 'Phone')
    while ((await pair.ended()) !== 0) pair = start('pair', '--json', '--label', 'Phone')
    const paired = JSON.parse(await pair.stdout())
    await createPhone(paired, ready.gateway).pushText('from the phone')
    await pasteUntil(desktop.display, 'UTF8_STRING', 'from the phone')
    assert.match(await run('panel', '--print'), /^http:\/\/127\.0\.0\.1:\d+\//)
    await run('stop')
    await first.ended()

    await unpack(newer, version)
    assert.equal((await installed()).version, version)
    assert.equal((await run('--version')).trim(), `clipgate ${version}`)
    const second = start('serve', '--json', '--headless', ...PORTS)
    const phone = createPhone(paired, JSON.parse(await second.line()).gateway)
    assert.equal((await phone.document())['text'], 'from the phone')
    await writeFile(join(machine.drive, 'test', 'sent.txt'), 'from a file')
    await run('push', 'C:\\test\\sent.txt')
    assert.equal((await phone.download()).toString(), 'from a file')
    await run('pull', '--output', 'C:\\test\\back.txt')
    assert.equal(await readFile(join(machine.drive, 'test', 'back.txt'), 'utf8'), 'from a file')
    await run('stop')
    await second.ended()
    await rm(join(machine.drive, PLACE), { recursive: true })
    assert.match(await readFile(join(machine.drive, 'data', 'devices.json'), 'utf8'), /Phone/)
  })
})
