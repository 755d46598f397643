import assert from 'node:assert/strict'
import {
  chmod,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { it } from 'node:test'
import { loadSettings } from '../../src/daemon/load-settings.ts'
import { startDaemon } from '../../src/daemon/start-daemon.ts'
import { CaptureLogger } from '../support/capture-logger.ts'
import { startDaemonProcess } from '../support/daemon-process.ts'
import { createPhone } from '../support/phone.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const HEADLESS = { args: ['--headless'] }

it('a data directory is private whatever the umask says', async (t) => {
  const dataDir = await temporaryFolder(t)
  const options = { dataDir, headless: true, listen: ['127.0.0.1:0'], control: '127.0.0.1:0' }
  const where = { platform: 'linux', home: dataDir, environment: {} } as const
  const earlier = process.umask(0)
  t.after(() => process.umask(earlier))
  const logger = new CaptureLogger()
  const daemon = await startDaemon(loadSettings({ options, where, cwd: '/' }), { logger })
  t.after(() => daemon.stop())
  const unset = { label: undefined, username: undefined, password: undefined, url: undefined }
  const device = await daemon.admin.pair({ kind: 'phone', ...unset })
  const phone = createPhone(device, daemon.ready.gateway)
  await phone.pushFile('File', 'a', Buffer.from('bytes'))
  await phone.fetch('/file/b', { method: 'PUT', body: 'waits' })

  const paths = await readdir(dataDir, { recursive: true })
  // Two folders, two blobs, a record, and the four files beside the folders.
  assert.equal(paths.length, 9)
  for (const path of paths) {
    const stats = await lstat(join(dataDir, path))
    assert.equal((stats.mode & 0o777).toString(8), stats.isDirectory() ? '700' : '600', path)
  }
})

it('a data directory may hold what others planted: nothing is followed, changed or removed', async (t) => {
  const folder = await temporaryFolder(t)
  const data = join(folder, 'data')
  const first = await startDaemonProcess(t, { ...HEADLESS, folder })
  const device = await first.pair('Phone')
  await createPhone(device, first.ready.gateway).pushFile('File', 'a', Buffer.from('mine'))
  await first.stop()

  const victim = join(folder, 'victim')
  await writeFile(victim, 'not ours')
  await chmod(victim, 0o644)
  const [name, folderName] = ['b'.repeat(32), 'd'.repeat(32)]
  const links = [`blobs/${name}`, `staging/${name}.json`, 'x.0123456789ab.tmp']
  for (const link of links) await symlink(victim, join(data, link))
  const files = ['blobs/notes.txt', 'staging/notes.txt', 'notes.txt']
  for (const file of files) await writeFile(join(data, file), 'not ours either')
  await mkdir(join(data, 'blobs', folderName))

  const second = await startDaemonProcess(t, { ...HEADLESS, folder })
  const phone = createPhone(device, second.ready.gateway)
  await phone.pushFile('File', 'b', Buffer.from('mine again'))
  assert.equal(await second.stop(), 0)
  for (const link of links) assert.equal(await readlink(join(data, link)), victim)
  for (const file of files) {
    assert.equal(await readFile(join(data, file), 'utf8'), 'not ours either')
  }
  assert.ok((await lstat(join(data, 'blobs', folderName))).isDirectory())
  assert.equal(await readFile(victim, 'utf8'), 'not ours')
  assert.equal(((await lstat(victim)).mode & 0o777).toString(8), '644')
})
