import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { openWindowsClipboard } from '../../../src/desktop/windows/windows-clipboard.ts'
import { SILENT } from '../support/open-reconciler.ts'
import { CaptureLogger } from '../../support/capture-logger.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { WatchedClock } from '../x11/support/watched-clock.ts'

const SOURCES = new URL('../../../src/desktop/windows/', import.meta.url)

const OPTIONS = '-NoProfile -NonInteractive -STA -ExecutionPolicy Bypass -InputFormat None -File'

/** A program where Windows has its PowerShell. */
async function open(t: TestContext, script: string) {
  const root = await temporaryFolder(t)
  const path = join(root, 'System32', 'WindowsPowerShell', 'v1.0', 'powershell.exe')
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, `#!${process.execPath}\n${script}`)
  await chmod(path, 0o700)
  const clock = new WatchedClock()
  const events = SILENT
  const env = { ...process.env, SystemRoot: root }
  const options = { events, clock, env, logger: new CaptureLogger(), readAtStart: false }
  return { clock, opening: openWindowsClipboard(options) }
}

describe('The Windows clipboard, when it opens', { timeout: 60_000 }, () => {
  it('runs the PowerShell of Windows, by its whole path, on a script of ours', async (t) => {
    const { opening } = await open(
      t,
      `
      const { existsSync } = require('node:fs')
      const [script, ...options] = process.argv.slice(2).reverse()
      const expected = '${OPTIONS}'
      if (options.reverse().join(' ') !== expected || !existsSync(script)) process.exit(3)
      console.log('{"event":"ready"}')
      require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
        const { id } = JSON.parse(line)
        console.log(JSON.stringify({ reply: id, change: 1, types: [], denied: [] }))
      })
    `,
    )
    const clipboard = await opening
    assert.equal(clipboard.kind, 'windows')
    await clipboard.close()
  })

  it('says why Windows does not run the script', async (t) => {
    const cases = [
      ['FullyQualifiedErrorId : UnauthorizedAccess', /set up to run no PowerShell scripts/],
      ['FullyQualifiedErrorId : CannotDefineNewType,Microsoft…', /set up to restrict PowerShell/],
      ['whatever', /^Error: "powershell" ended with exit code 1$/],
    ] as const
    for (const [complaint, reason] of cases) {
      const script = `console.error(${JSON.stringify(complaint)}); process.exit(1)`
      const { opening } = await open(t, script)
      await assert.rejects(opening, reason)
    }
  })

  it('gives it 30 s, for it compiles first', async (t) => {
    const { clock, opening } = await open(t, 'setInterval(() => undefined, 1 << 30)')
    const refused = assert.rejects(opening, /"powershell" does not become ready/)
    await clock.pass(30_000)
    await refused
  })
})

describe('windows-helper.ps1', () => {
  it('compiles every C# file beside it, and nothing else', () => {
    const script = readFileSync(new URL('windows-helper.ps1', SOURCES), 'utf8')
    const named = [...script.matchAll(/'([a-z0-9-]+\.cs)'/g)].map(([, name = '']) => name)
    const there = readdirSync(SOURCES).filter((name) => name.endsWith('.cs'))
    assert.deepEqual(named.toSorted(), there.toSorted())
  })

  it('is plain ASCII, which every version of PowerShell reads alike without a mark', () => {
    for (const name of readdirSync(SOURCES).filter((file) => /\.(ps1|cs)$/.test(file))) {
      assert.match(readFileSync(new URL(name, SOURCES), 'latin1'), /^[\n -~]+$/, name)
    }
  })
})
