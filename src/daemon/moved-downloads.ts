/** Where a user of Windows has moved the download folder. @module */

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, win32 } from 'node:path'

const KEY = 'HKCU\\Software\\Microsoft\\Windows\\CurrentVersion\\Explorer\\User Shell Folders'

/** `FOLDERID_Downloads` */
const DOWNLOADS = '{374DE290-123F-4565-9164-39C4925E467B}'

const TIMEOUT_MS = 5000

type Environment = Readonly<Record<string, string | undefined>>

/** The folder that the registry names; `undefined` when it names none, or cannot be asked. */
export function movedDownloads(environment: Environment): string | undefined {
  const root = environment['SystemRoot']
  if (root === undefined) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'clipgate-registry-'))
  try {
    // A query prints what the code page of the console has, and loses other letters.
    const file = join(folder, 'folders.reg')
    const limit = { timeout: TIMEOUT_MS, killSignal: 'SIGKILL' } as const
    const options = { stdio: 'ignore', ...limit, windowsHide: true } as const
    execFileSync(join(root, 'System32', 'reg.exe'), ['export', KEY, file, '/y'], options)
    return findDownloads(readFileSync(file, 'utf16le'), environment)
  } catch {
    // A policy may keep people away from the registry; the usual folder is there as well.
    return undefined
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The download folder that an exported key names: absolute, with its variables replaced. */
export function findDownloads(exported: string, environment: Environment): string | undefined {
  const value = exported
    .replace(/\\\r?\n\s*/g, '')
    .split(/\r?\n/)
    .find((line) => line.toUpperCase().startsWith(`"${DOWNLOADS}"=`))
    ?.slice(DOWNLOADS.length + 3)
  if (value === undefined) return undefined
  const path = textOf(value).replace(/%([^%]+)%/g, (whole, name: string) => {
    const known = Object.keys(environment).find((one) => one.toUpperCase() === name.toUpperCase())
    return (known === undefined ? undefined : environment[known]) ?? whole
  })
  return /^(?:[A-Za-z]:\\|\\\\)/.test(path) ? win32.normalize(path) : undefined
}

/** A text of the registry: as it is, or the bytes of one with variables. */
function textOf(value: string): string {
  const [, hex] = /^hex\(2\):([\da-f,]*)$/i.exec(value) ?? []
  if (hex !== undefined) {
    return Buffer.from(hex.replaceAll(',', ''), 'hex').toString('utf16le').replace(/\0.*$/s, '')
  }
  return /^"(.*)"$/.exec(value)?.[1]?.replace(/\\(.)/g, '$1') ?? ''
}
