import assert from 'node:assert/strict'
import { chmod, readFile, watch, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { MIB } from '../../../src/core/limits.ts'
import { COPY_LIMITS } from '../../../src/desktop/read-copy.ts'
import { runTool } from '../../../src/desktop/wayland/run-tool.ts'
import { pasteCopy } from '../../../src/desktop/wayland/wl-paste.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { WatchedClock } from '../x11/support/watched-clock.ts'

const HINT = 'x-kde-passwordManagerHint'
const TEXT = 'text/plain;charset=utf-8'
const LIMITS = { maxTextBytes: 100, maxImageBytes: 100 }

/** `wl-paste` is this shell script, which finds what was copied beside it: a stand-in. */
async function standIn(t: TestContext, script: string) {
  const folder = await temporaryFolder(t)
  const path = join(folder, 'wl-paste')
  await writeFile(path, `#!/bin/sh\ncd '${folder}'\necho "$*" >> calls\n${script}\n`)
  await chmod(path, 0o755)
  const clock = new WatchedClock()
  const env = { PATH: `${folder}:${process.env['PATH']}` }
  return {
    folder,
    clock,
    env,
    calls: async () => (await readFile(join(folder, 'calls'), 'utf8')).trim().split('\n'),
    paste: (signal = new AbortController().signal) =>
      pasteCopy({ env, clock, limits: { ...COPY_LIMITS, ...LIMITS }, signal }),
  }
}

/** Offers `types`, and gives `secret` for the hint and `text` for everything else. */
function offering(types: readonly string[], secret: string, text: string): string {
  return `
    case "$*" in
      --list-types) printf '%s\\n' ${types.map((type) => `'${type}'`).join(' ')} ;;
      *'--type ${HINT}') printf '%s' '${secret}' ;;
      *) printf '%s' '${text}' ;;
    esac`
}

async function untilExists(folder: string, name: string): Promise<void> {
  for await (const { filename } of watch(folder)) if (filename === name) return
}

function kindOf(copied: Awaited<ReturnType<typeof pasteCopy>>): string | undefined {
  return typeof copied === 'object' ? copied.kind : copied
}

describe('pasteCopy', { timeout: 60_000 }, () => {
  it('asks for the formats, and for one of them by its name', async (t) => {
    const { paste, calls } = await standIn(t, offering(['text/html', TEXT], '', 'hello'))
    assert.deepEqual(await paste(), { kind: 'text', text: 'hello' })
    const list = '--list-types'
    assert.deepEqual(await calls(), [list, `--no-newline --type ${TEXT}`, list])
  })

  it('does not read what a password manager marks as secret', async (t) => {
    const { paste, calls } = await standIn(t, offering([TEXT, HINT], 'secret', 'hunter2'))
    assert.deepEqual(await paste(), undefined)
    assert.deepEqual(await calls(), ['--list-types', `--no-newline --type ${HINT}`])
  })

  it('does not take a secret that was copied in between for the copy before it', async (t) => {
    const script = `
      case "$*" in
        --list-types) echo '${TEXT}'; [ ! -e changed ] || echo '${HINT}' ;;
        *) touch changed; printf hunter2 ;;
      esac`
    const { paste } = await standIn(t, script)
    assert.deepEqual(await paste(), 'overtaken')
  })

  it('knows an empty clipboard, and one that was emptied', async (t) => {
    const empty = await standIn(t, 'echo Nothing is copied >&2; exit 1')
    assert.deepEqual(await empty.paste(), 'overtaken')
    const emptied = await standIn(t, `[ "$*" = --list-types ] && echo '${TEXT}' || exit 1`)
    assert.deepEqual(await emptied.paste(), undefined)
  })

  it('reads up to the limit, and kills what gives more', async (t) => {
    const fits = await standIn(t, offering([TEXT], '', 'x'.repeat(100)))
    assert.equal(kindOf(await fits.paste()), 'text')
    const endless = await standIn(t, `[ "$*" = --list-types ] && echo '${TEXT}' || exec yes`)
    await assert.rejects(endless.paste(), /larger than 100 bytes/)
  })

  it('does not wait for ever for a program that does not answer', async (t) => {
    const stuck = `[ "$*" = --list-types ] && echo '${TEXT}' || { touch asked; exec sleep 1000; }`
    const { paste, clock, folder } = await standIn(t, stuck)
    const asked = untilExists(folder, 'asked')
    const rejected = assert.rejects(paste(), /"wl-paste" does not answer/)
    await asked
    await clock.pass(5000)
    await rejected
    assert.equal(clock.pending, 0)
  })

  it('can be told to stop, and ends what the tool has started', async (t) => {
    const stuck = `
      [ "$*" = --list-types ] && echo '${TEXT}' && exit
      sleep 1000 &
      echo $! > unfinished
      mv unfinished child
      wait`
    const { paste, folder } = await standIn(t, stuck)
    const asked = untilExists(folder, 'child')
    const ending = new AbortController()
    const rejected = assert.rejects(paste(ending.signal), /enough/)
    await asked
    ending.abort(new Error('enough'))
    await rejected
    const child = (await readFile(join(folder, 'child'), 'utf8')).trim()
    // It has been killed, and is gone soon, or waits for whoever inherits it.
    const state = () => readFile(`/proc/${child}/stat`, 'utf8').catch(() => ') Z')
    while (!(await state()).includes(') Z'));
    await assert.rejects(paste(ending.signal), /enough/)
  })
})

/** Four seconds pass before each wait for more bytes. */
class HastyClock extends FakeClock {
  override after(delayMs: number, run: () => void): () => void {
    this.advance(4000)
    return super.after(delayMs, run)
  }
}

describe('runTool', () => {
  it('gives a tool up that goes on to print a little, again and again', async () => {
    const clock = new HastyClock()
    const options = { env: process.env, clock, maxBytes: 2 * MIB }
    const printing = runTool('sh', ['-c', 'while :; do printf x; done'], options)
    await assert.rejects(printing, /takes too long/)
    assert.equal(clock.pending, 0)
  })

  it('says that a tool is not installed', async () => {
    const options = { env: { PATH: '/nonexistent' }, clock: new WatchedClock(), maxBytes: 1 }
    await assert.rejects(runTool('wl-paste', [], options), /"wl-paste" is not installed/)
  })
})
