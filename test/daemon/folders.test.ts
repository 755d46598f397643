import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { downloadFolder, nameFolder, type Surroundings } from '../../src/daemon/folders.ts'
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
    const [mac, windows] = ['/Users/a/Library/Application Support', '/home/a/AppData']
    for (const [platform, environment, data, config] of [
      ['darwin', { XDG_STATE_HOME: '/x' }, `${mac}/clipgate/data`, `${mac}/clipgate`],
      ['win32', { LOCALAPPDATA: '/l', APPDATA: '/r' }, '/l/clipgate', '/r/clipgate'],
      ['win32', {}, `${windows}/Local/clipgate`, `${windows}/Roaming/clipgate`],
    ] as const) {
      const where = { platform, home: platform === 'darwin' ? '/Users/a' : '/home/a', environment }
      assert.equal(dataDir(where), data)
      assert.equal(defaultConfigFile(where), `${config}/config.json`)
    }
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

  it('are named to phones without their user', () => {
    for (const [folder, expected] of [
      [join(HOME, 'Downloads', 'clipgate'), 'Downloads/clipgate'],
      [HOME, 'home'],
      [join(HOME, '..', 'other', 'files'), 'files'],
      ['/srv/down', 'down'],
    ] as const) {
      assert.equal(nameFolder(folder, HOME), expected)
    }
  })
})
