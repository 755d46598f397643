import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { loadSettings } from '../../src/daemon/load-settings.ts'
import { findDownloads } from '../../src/daemon/moved-downloads.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const NAME = '"{374DE290-123F-4565-9164-39C4925E467B}"'

/** Bytes of a text as `reg export` writes them, in lines of ten. */
function hex(text: string): string {
  const bytes = [...Buffer.from(`${text}\0`, 'utf16le')].map((one) =>
    one.toString(16).padStart(2, '0'),
  )
  const lines = []
  for (let at = 0; at < bytes.length; at += 10) lines.push(bytes.slice(at, at + 10).join(','))
  return `hex(2):${lines.join(',\\\r\n  ')}`
}

describe('the download folder on Windows', () => {
  const environment = { UserProfile: 'C:\\Users\\Zoë', OneDrive: 'D:\\One' }
  for (const [title, value, expected] of [
    ['is the one of the profile', hex('%USERPROFILE%\\Downloads'), 'C:\\Users\\Zoë\\Downloads'],
    ['may be on another drive', '"E:\\\\Загрузки"', 'E:\\Загрузки'],
    ['may be on a server', hex('\\\\nas\\zoë\\下载'), '\\\\nas\\zoë\\下载'],
    [
      'has each of its variables replaced',
      hex('%onedrive%\\%UserProfile%'),
      'D:\\One\\C:\\Users\\Zoë',
    ],
    ['is unknown when its variable is', hex('%NOWHERE%\\Downloads'), undefined],
    ['is unknown when the value is no path', 'dword:00000001', undefined],
    ['is unknown when the value is relative', '"Downloads"', undefined],
  ] as const) {
    it(title, () => {
      const other = '"Personal"="C:\\\\Users\\\\Zoë\\\\Documents"'
      const key = '[HKEY_CURRENT_USER\\Software\\Folders]'
      const file = [
        '\uFEFFWindows Registry Editor Version 5.00',
        '',
        key,
        other,
        `${NAME}=${value}`,
      ]
      const found = findDownloads(`${file.join('\r\n')}\r\n`, environment)
      assert.equal(found, expected)
    })
  }

  it('is asked for only by who needs it', async (t) => {
    const root = await temporaryFolder(t)
    await mkdir(join(root, 'System32'))
    const program = `#!/bin/sh\necho asked > '${root}/asked'\n`
    await writeFile(join(root, 'System32', 'reg.exe'), program, { mode: 0o755 })
    const environment = { SystemRoot: root }
    const settings = loadSettings({ where: { platform: 'win32', home: root, environment } })
    assert.equal(settings.dataDir, join(root, 'AppData', 'Local', 'clipgate'))
    assert.equal(existsSync(join(root, 'asked')), false)
    assert.equal(settings.receivedDir, join(root, 'Downloads', 'clipgate'))
    assert.equal(existsSync(join(root, 'asked')), true)
  })
})
