import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { markOrigin } from '../../src/desktop/mark-origin.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

describe('the mark of a file that came over a network', () => {
  it('is a stream of the file on Windows, as browsers write it', async (t) => {
    const path = join(await temporaryFolder(t), 'setup.exe')
    await markOrigin(path, 'win32')
    // Elsewhere a colon is a part of a name.
    const mark = await readFile(`${path}:Zone.Identifier`, 'utf8')
    assert.equal(mark, '[ZoneTransfer]\r\nZoneId=3\r\n')
  })

  it('is left out where it cannot be written, and on other systems', async (t) => {
    const folder = await temporaryFolder(t)
    await markOrigin(join(folder, 'missing', 'setup.exe'), 'win32')
    await markOrigin(join(folder, 'setup.exe'), 'linux')
    await markOrigin(join(folder, 'setup.exe'), 'darwin')
    assert.deepEqual(await readdir(folder), [])
  })
})
