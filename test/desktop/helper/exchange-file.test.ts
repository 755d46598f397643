import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { appendFile, mkdir, readFile, rm, stat, symlink, unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import {
  fillExchangeFile,
  readExchangeFile,
  sweepExchangeFiles,
  withExchangeFile,
} from '../../../src/desktop/helper/exchange-file.ts'
import { blobOf } from '../../support/memory-blob.ts'

const INCOMPLETE = /^Error: The clipboard helper did not hand over what was copied$/

describe('The file for one request to a clipboard helper', () => {
  it('is for nobody else, in a folder for nobody else, and gone afterwards', async () => {
    const path = await withExchangeFile(async (file) => {
      assert.equal((await stat(file)).mode & 0o777, 0o600)
      assert.equal((await stat(dirname(file))).mode & 0o777, 0o700)
      assert.equal((await stat(file)).size, 0)
      return file
    })
    assert.equal(existsSync(dirname(path)), false)
  })

  it('is gone when the request fails, and when the helper left more behind', async () => {
    let path = ''
    const failing = withExchangeFile(async (file) => {
      path = file
      await writeFile(`${file}-2`, 'more')
      throw new Error('refused')
    })
    await assert.rejects(failing, /refused/)
    assert.equal(existsSync(dirname(path)), false)
  })

  it('is swept when its process was killed, and left alone while that lives', async (t) => {
    const dead = spawn(process.execPath, ['--version'], { stdio: 'ignore' })
    await once(dead, 'exit')
    const left = join(tmpdir(), `clipgate-exchange-${dead.pid}-AbCd12`)
    const other = join(tmpdir(), `clipgate-exchange-${dead.pid}-AbCd12.txt`)
    t.after(() => rm(other, { recursive: true }))
    for (const folder of [left, other]) {
      await mkdir(folder)
      await writeFile(join(folder, 'content'), 'copied')
    }
    await withExchangeFile(async (file) => {
      await sweepExchangeFiles()
      assert.deepEqual([left, other, file].map(existsSync), [false, true, true])
    })
  })

  it('is read when it has just as many bytes as the helper says', async () => {
    await withExchangeFile(async (file) => {
      await appendFile(file, 'copied')
      assert.equal(String(await readExchangeFile(file, 6)), 'copied')
      await assert.rejects(readExchangeFile(file, 5), INCOMPLETE)
      await assert.rejects(readExchangeFile(file, 7), INCOMPLETE)
      await assert.rejects(readExchangeFile(dirname(file), 6), INCOMPLETE)
    })
  })

  it('is not read through a link', async () => {
    await withExchangeFile(async (file) => {
      await unlink(file)
      await symlink(fileURLToPath(import.meta.url), file)
      const { size } = await stat(file)
      await assert.rejects(readExchangeFile(file, size), { code: 'ELOOP' })
    })
  })

  it('takes bytes, and a blob in pieces', async () => {
    const long = Buffer.alloc(3_000_000, 'abc')
    for (const content of [Buffer.from('text'), Buffer.alloc(0), long]) {
      for (const source of [content, await blobOf(content)]) {
        await withExchangeFile(async (file) => {
          await fillExchangeFile(file, source)
          assert.equal(Buffer.compare(await readFile(file), content), 0)
        })
      }
    }
  })

  it('is not given up half full when the blob is shorter than it says', async () => {
    const blob = {
      size: 10,
      open: async () => ({ read: async () => 0, close: async () => undefined }),
    }
    await withExchangeFile(async (file) => {
      await assert.rejects(fillExchangeFile(file, blob), /bytes are missing/)
    })
  })
})
