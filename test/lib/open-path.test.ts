import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { runProgram } from '../../src/cli/service/manager.ts'
import { findSandbox } from '../../src/lib/open-path.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** A program that a gentle signal does not end. */
const DEAF = "#!/bin/sh\ntrap '' TERM\nexec sleep 600\n"

const onUnix = { skip: process.platform === 'win32' ? 'skipped: needs a shell' : false } as const

describe('a program that hangs and ignores SIGTERM', onUnix, () => {
  it('is waited for no longer when it is asked for the browser', async (t) => {
    const home = await temporaryFolder(t)
    await mkdir(join(home, 'snap'))
    await writeFile(join(home, 'xdg-mime'), DEAF, { mode: 0o755 })
    const environment = { PATH: `${home}:${process.env['PATH']}` }
    const where = { platform: 'linux', environment, home } as const
    assert.equal(await findSandbox('text/html', where), undefined)
  })

  it('is named when it manages services', async (t) => {
    const folder = await temporaryFolder(t)
    await writeFile(join(folder, 'systemctl'), DEAF, { mode: 0o755 })
    const environment = { PATH: `${folder}:${process.env['PATH']}` }
    await assert.rejects(runProgram(environment, 'systemctl', ['stop'], 50), {
      message: /^Cannot manage the service: systemctl has not ended within 1 s; try again$/,
    })
  })
})
