import assert from 'node:assert/strict'
import { chmod, mkdir, realpath, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { it } from 'node:test'
import { findProgram } from '../../src/lib/find-program.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

it('findProgram finds the first one on the path that can be run', async (t) => {
  const folder = await realpath(await temporaryFolder(t))
  const [one, two, three] = [join(folder, 'one'), join(folder, 'two'), join(folder, 'three')]
  for (const path of [one, two, three]) await mkdir(path)
  await writeFile(join(one, 'tool'), '', { mode: 0o644 })
  await mkdir(join(two, 'tool'))
  await writeFile(join(three, 'real'), '')
  await chmod(join(three, 'real'), 0o755)
  await symlink('real', join(three, 'tool'))
  const PATH = [one, two, three, '/nonexistent'].join(':')
  // Whoever may do everything may still not run what nobody may run.
  assert.equal(await findProgram('tool', { PATH }), join(three, 'real'))
  assert.equal(await findProgram('other', { PATH }), undefined)
})

it('findProgram does not look in the working directory', async () => {
  const there = 'node_modules/.bin/tsc'
  assert.ok(await findProgram(there, { PATH: process.cwd() }), 'it is there')
  assert.equal(await findProgram(there, { PATH: ':.' }), undefined)
  assert.equal(await findProgram('tool', {}), undefined)
})
