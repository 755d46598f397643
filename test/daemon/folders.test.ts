import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { downloadFolder, type Surroundings } from '../../src/daemon/folders.ts'
import { defaultConfigFile, loadSettings } from '../../src/daemon/load-settings.ts'

const root = await mkdtemp(join(tmpdir(), 'clipgate-folders-'))
after(() => rm(root, { recursive: true, force: true }))

const HOME = join(root, 'home')

function linux(environment: Readonly<Record<string, string | undefined>> = {}): Surroundings {
  return { platform: 'linux', home: HOME, environment }
}

describe('the folders of a platform', () => {
  const dataDir = (where: Surroundings) => loadSettings({ options: {}, where, cwd: '/' }).dataDir

  it('follow the XDG variables on Linux, unless they are relative', () => {
    assert.equal(dataDir(linux({ XDG_STATE_HOME: '/state' })), '/state/clipgate')
    assert.equal(dataDir(linux({ XDG_STATE_HOME: 'state' })), join(HOME, '.local/state/clipgate'))
  })

  it('are the usual ones on macOS and Windows', () => {
    const mac: Surroundings = {
      platform: 'darwin',
      home: '/Users/a',
      environment: { XDG_STATE_HOME: '/x' },
    }
    assert.equal(dataDir(mac), '/Users/a/Library/Application Support/clipgate/data')
    assert.equal(
      defaultConfigFile(mac),
      '/Users/a/Library/Application Support/clipgate/config.json',
    )
    const windows: Surroundings = {
      platform: 'win32',
      home: '/home/a',
      environment: { LOCALAPPDATA: '/local', APPDATA: '/roaming' },
    }
    assert.equal(dataDir(windows), '/local/clipgate')
    assert.equal(defaultConfigFile(windows), '/roaming/clipgate/config.json')
    const bare: Surroundings = { ...windows, environment: {} }
    assert.equal(dataDir(bare), '/home/a/AppData/Local/clipgate')
    assert.equal(defaultConfigFile(bare), '/home/a/AppData/Roaming/clipgate/config.json')
  })

  it('have the download folder that the desktop translated', () => {
    const config = join(root, 'translated')
    mkdirSync(config)
    const where = linux({ XDG_CONFIG_HOME: config })
    for (const [line, expected] of [
      ['XDG_DOWNLOAD_DIR="$HOME/Téléchargements"', join(HOME, 'Téléchargements/clipgate')],
      ['# x\nXDG_DOWNLOAD_DIR="/srv/down"\n', '/srv/down/clipgate'],
      ['XDG_DOWNLOAD_DIR="relative"', join(HOME, 'Downloads/clipgate')],
      ['XDG_MUSIC_DIR="/x"', join(HOME, 'Downloads/clipgate')],
    ]) {
      writeFileSync(join(config, 'user-dirs.dirs'), line ?? '')
      assert.equal(downloadFolder(where), expected)
    }
  })
})
