import assert from 'node:assert/strict'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { keepOthersOut } from '../../src/storage/home/data-directory.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** Keeps a folder private with a program in place of `icacls`. @returns The calls of it. */
async function callsFor(t: TestContext, path: string, answer: string, code = 0): Promise<string[]> {
  const root = await temporaryFolder(t)
  const program = join(root, 'System32', 'icacls.exe')
  const calls = join(root, 'calls')
  await mkdir(dirname(program))
  await writeFile(calls, '')
  const script = `#!/bin/sh\nprintf '%s|' "$@" >> '${calls}'; echo >> '${calls}'\n`
  await writeFile(program, `${script}cat <<'X'\n${answer}\nX\nexit ${code}\n`)
  await chmod(program, 0o755)
  const environment = { SystemRoot: root, USERDOMAIN: 'PC', USERNAME: 'Zoë R' }
  await keepOthersOut(path, { environment, home: 'C:\\Users\\Zoë R' })
  return (await readFile(calls, 'utf8')).split('\n').slice(0, -1)
}

const INHERITED = 'D:\\x BUILTIN\\Users:(I)(OI)(CI)(RX)'
const OWN = 'D:\\x PC\\me:(OI)(CI)(F)\n     NT AUTHORITY\\SYSTEM:(OI)(CI)(F)'

describe('a data directory on Windows', needs('sh'), () => {
  it('is closed to other users when it is open as the folder above', async (t) => {
    assert.deepEqual(await callsFor(t, 'D:\\x', INHERITED), [
      'D:\\x|',
      'D:\\x|/inheritance:r|/grant:r|PC\\Zoë R:(OI)(CI)F|*S-1-5-18:(OI)(CI)F|',
    ])
  })

  it('keeps rights that somebody gave it', async (t) => {
    assert.deepEqual(await callsFor(t, 'D:\\x', OWN), ['D:\\x|'])
  })

  it('is private in the profile of its user, and only there', async (t) => {
    assert.deepEqual(await callsFor(t, 'c:\\users\\zoë r\\AppData\\Local\\clipgate', INHERITED), [])
    for (const path of ['C:\\Users\\Zoë R2\\x', 'C:\\Users', '\\\\server\\share\\x']) {
      assert.equal((await callsFor(t, path, INHERITED)).length, 2, path)
    }
  })

  it('is refused when the rights cannot be changed', async (t) => {
    await assert.rejects(callsFor(t, 'D:\\x', INHERITED, 5))
  })
})
