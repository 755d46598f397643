import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { needsWine, WindowsMachine } from './support/wine.ts'

const SRC = fileURLToPath(new URL('../../src', import.meta.url))

/** Moves the download folder as Explorer does, and prints where pushed files go then. */
const SCRIPT = `
  import { execFileSync } from 'node:child_process'
  import { downloadFolder, ownSurroundings } from './daemon/folders.ts'
  const key = 'HKCU\\\\Software\\\\Microsoft\\\\Windows\\\\CurrentVersion\\\\Explorer\\\\User Shell Folders'
  const [moved] = process.argv.slice(2)
  const options = ['/v', '{374DE290-123F-4565-9164-39C4925E467B}', '/t', 'REG_EXPAND_SZ', '/f']
  if (moved !== undefined) execFileSync('reg', ['add', key, '/d', moved, ...options])
  console.log(downloadFolder(ownSurroundings()))
`

describe('the download folder under node.exe', needsWine(), () => {
  let machine: WindowsMachine
  before(async () => {
    machine = await WindowsMachine.start('22')
    await build({
      stdin: { contents: SCRIPT, resolveDir: SRC, loader: 'ts' },
      outfile: join(machine.drive, 'test', 'downloads.mjs'),
      bundle: true,
      platform: 'node',
      format: 'esm',
    })
  })
  after(() => machine.stop())

  it('is where its user has moved it', async () => {
    for (const [args, expected] of [
      [[], /^C:\\users\\.+\\Downloads\\clipgate$/],
      [['E:\\Загрузки 📁'], /^E:\\Загрузки 📁\\clipgate$/],
      [['%USERPROFILE%\\Ladeordner ü'], /^C:\\users\\.+\\Ladeordner ü\\clipgate$/],
    ] as const) {
      const program = machine.node('C:\\test\\downloads.mjs', ...args)
      assert.equal(await program.ended(), 0, await program.stderr())
      assert.match((await program.stdout()).trim(), expected)
    }
  })
})
