import { spawn } from 'node:child_process'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import assert from 'node:assert/strict'
import { isolatedEnvironment, startDaemonProcess } from '../support/daemon-process.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { Xvfb } from '../support/xvfb.ts'
import { execute } from '../support/execute.ts'

const TOOLS = ['Xvfb', 'pcmanfm', 'xdotool', 'dbus-run-session'] as const

const PHOTO = new URL('../../fixtures/photos/lying.jpg', import.meta.url)

/** Before it is pasted once more. */
const PATIENCE_MS = 1000

describe('what a phone pushed', needs(...TOOLS), () => {
  it('is pasted into a folder, with Ctrl+V in a file manager', async (t) => {
    const { display } = await Xvfb.start(t)
    const daemon = await startDaemonProcess(t, { devices: ['Phone'], env: { DISPLAY: display } })
    const phone = await daemon.phone()
    const home = await temporaryFolder(t)
    const folder = join(home, 'holiday')
    await mkdir(folder)
    const env = isolatedEnvironment(home, { DISPLAY: display })
    const manager = spawn('dbus-run-session', ['pcmanfm', folder], { env, stdio: 'ignore' })
    // What it has started ends with the display.
    t.after(() => manager.kill('SIGKILL'))
    const xdotool = (...args: readonly string[]) => execute('xdotool', args, { env })
    /** The windows of the file manager, as soon as it has some. */
    const findWindows = async (): Promise<readonly string[]> => {
      const found = await xdotool('search', '--onlyvisible', '--class', 'pcmanfm').catch(
        () => undefined,
      )
      return found?.stdout.split('\n').filter((id) => id !== '') ?? []
    }

    const photo = await readFile(PHOTO)
    const files = { 'photo.jpg': photo, 'notes.txt': Buffer.from('a few words') }
    for (const [name, bytes] of Object.entries(files)) {
      await phone.pushFile(name === 'photo.jpg' ? 'Image' : 'File', name, bytes)
      // It is offered a moment after the answer to the push, and the window has to be ready.
      while (!(await readdir(folder)).includes(name)) {
        // Where it was pasted twice, it asks what to do with the second one.
        await xdotool('key', 'Escape')
        for (const id of await findWindows()) {
          // It may be closed by now.
          await xdotool('windowfocus', id).catch(() => undefined)
        }
        await xdotool('key', 'ctrl+v')
        await sleep(PATIENCE_MS)
      }
      while (!(await readFile(join(folder, name))).equals(bytes));
    }
    assert.deepEqual((await readdir(folder)).sort(), ['notes.txt', 'photo.jpg'])
  })
})
