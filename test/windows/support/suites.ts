/**
 * Runs tests of other rooms with `node.exe`, as they are.
 * @module
 */

import assert from 'node:assert/strict'
import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { writePages } from '../../../src/web/make-page.js'
import { bundleTests } from '../../support/bundle-tests.js'
import { byNight, isNight } from '../../support/night.ts'
import { BUILT } from '../../support/program.ts'
import { Xvfb } from '../../support/xvfb.ts'
import { NOT_THERE } from './not-there.js'
import { needsWine, WindowsMachine } from './wine.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const COPIED = ['bench', 'build', 'deploy', 'docs', 'fixtures', 'package.json']
/** The project as the tests find it. */
const COPY = 'file:///C:/clipgate/'
const PRELOAD = `${COPY}test/windows/support/suite-preload.js`

/** Names the file that hangs, before the file that waits for it is ended itself. */
const PATIENCE = ['--test-timeout', `${byNight(1_800_000, { byDay: 240_000 })}`]

/**
 * What by day runs there of a room: what has files of its own, processes or a console. Below Wine
 * each file takes seconds to start, and what is only sent is the same everywhere. Each format of a
 * clipboard is read by day as well, by `desktop.test.ts`.
 */
const BY_DAY: Readonly<Record<string, RegExp>> = {
  'desktop/windows': /^windows-(?:contract|offering)\./,
  devices: /^(?:json-device-registry|registry-faults)\./,
  storage:
    /^(?:copied-tree|data-directory|disk-blob-store|disk-groups|disk-latest-item|lock|partial-uploads)\./,
}

/** Tests of rooms that fail or are missing below a version of `node.exe` fail here. */
export function runSuites(version: string, rooms: readonly string[], { skip } = needsWine()): void {
  describe(`the tests under node.exe ${version}`, { skip, concurrency: 1 }, () => {
    let machine: WindowsMachine
    let desktop: Xvfb | undefined
    before(async () => {
      if (rooms.some((room) => room.startsWith('desktop/'))) desktop = await Xvfb.start()
      machine = await WindowsMachine.start(version, desktop?.display)
      await copySources(join(machine.drive, 'clipgate'))
    })
    after(async () => {
      await machine.stop()
      await desktop?.stop()
    })

    for (const room of rooms) {
      it(`pass in ${room}`, async () => {
        const names = (await readdir(join(ROOT, 'test', room))).filter(
          (name) =>
            name.endsWith('.test.ts') &&
            leftOutOf(room, name).every((titles) => titles.length > 0) &&
            (isNight || BY_DAY[room]?.test(name) !== false),
        )
        const sources = names.map((name) => join(ROOT, 'test', room, name))
        await bundleTests(sources, join(machine.drive, 'clipgate'), COPY)
        const files = names.map(
          (name) => `C:\\clipgate\\test\\${room}\\${name.replace(/ts$/, 'mjs')}`,
        )
        const options = ['--import', PRELOAD, '--test', '--test-reporter', 'spec', ...PATIENCE]
        // There is one clipboard.
        const atOnce = room.startsWith('desktop/') ? '1' : '2'
        const program = machine.node(...options, '--test-concurrency', atOnce, ...files)
        const code = await program.ended()
        const output = await program.stdout()
        const failed = output.slice(output.indexOf('failing tests:'))
        assert.equal(code, 0, failed.slice(0, 20_000))
        for (const title of names.flatMap((name) => leftOutOf(room, name).flat())) {
          assert.ok(output.includes(`﹣ ${title}`), `not found in ${room}: ${title}`)
        }
      })
    }
  })
}

/** The sources as JavaScript, with their names: Node 20 reads no types, and `tsx` is a program. */
async function copySources(to: string): Promise<void> {
  await mkdir(to)
  for (const name of ['src', 'test', ...COPIED]) {
    await cp(join(ROOT, name), join(to, name), { recursive: true })
  }
  await symlink(join(ROOT, 'node_modules'), join(to, 'node_modules'))
  const sources: string[] = []
  for (const folder of ['src', 'test', 'bench']) {
    const entries = await readdir(join(ROOT, folder), { recursive: true })
    for (const name of entries) {
      if (name.endsWith('.ts') && !name.endsWith('.d.ts')) sources.push(join(ROOT, folder, name))
    }
  }
  // esbuild cannot run there, and pages that are made already are found beside who serves them.
  await rm(join(to, 'src/web/make-page.js'))
  await writePages(join(to, 'src/http'))
  const names = { outdir: to, outbase: ROOT, outExtension: { '.js': '.ts' } }
  const options = { format: 'esm', platform: 'node', target: 'node20' } as const
  await build({ entryPoints: sources, ...names, ...options })
  // Dozens of tests start it, and none waits for long.
  const helper = 'src/desktop/windows/windows-helper.ts'
  const one = { bundle: true, packages: 'external', outfile: join(to, helper) } as const
  await build({ entryPoints: [join(ROOT, helper)], ...one, ...options })
  if (BUILT === undefined) return
  await cp(join(ROOT, 'dist'), join(to, 'dist'), { recursive: true })
  const copy = join(to, 'dist/cli/main.js')
  // What Wine lacks is missing in the programs that tests start, too.
  await writeFile(
    copy,
    (await readFile(copy, 'utf8')).replace(/^(?!#)/m, "import 'file:///C:/test/preload.cjs'\n"),
  )
}

/** What each reason leaves out of a file: sentences of tests, or, without any, the whole of it. */
function leftOutOf(room: string, name: string): readonly (readonly string[])[] {
  const file = `${room}/${basename(name, '.test.ts')}`
  return Object.values(NOT_THERE)
    .map((files) => files[file])
    .filter((titles) => titles !== undefined)
}
