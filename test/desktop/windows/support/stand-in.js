/**
 * Stands in for the helper of the Windows clipboard: speaks its lines over a {@link ClipboardFile}.
 * Where there is a Windows, `windows-contract.test.ts` has the real one.
 * @module
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { ClipboardFile } from '../../helper/support/clipboard-file.js'

/** @typedef {Readonly<Record<string, any>>} Request */

const CHECK_MS = 5

const [, , folder = ''] = process.argv
const clipboard = new ClipboardFile(folder)
let announced = clipboard.state.change

function look() {
  const { change, types, denied } = clipboard.state
  announced = change
  return { change, types: Object.keys(types), denied }
}

/** @param {Request} request */
function read({ change, type, maxBytes, file }) {
  const now = clipboard.state.change
  if (now !== change) return { outcome: 'overtaken', change: now }
  const bytes = clipboard.bytesOf(type)
  if (bytes === undefined) return { outcome: 'absent', change }
  if (bytes.length > maxBytes) return { outcome: 'tooLong', change, bytes: bytes.length }
  writeFileSync(file, bytes, { flag: 'r+' })
  return { outcome: 'read', change, bytes: bytes.length }
}

/** @param {Request} request */
function write({ type, file }) {
  announced = clipboard.put({ [type]: readFileSync(file) })
  return { outcome: 'written', change: announced }
}

/** @param {Request} request */
function release({ change }) {
  const now = clipboard.state.change
  if (now !== change) return { outcome: 'overtaken', change: now }
  announced = clipboard.put({})
  return { outcome: 'released', change: announced }
}

/** Another program may have it open. @param {Request} request */
function heldBy(request) {
  const { change, isHeld } = clipboard.state
  return isHeld === true && request['do'] !== 'look' ? { outcome: 'held', change } : undefined
}

/** @param {unknown} message */
function tell(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`)
}

function announce() {
  if (clipboard.state.change !== announced) tell({ event: 'changed', ...look() })
}

/** @type {Readonly<Record<string, (request: Request) => object>>} */
const ACTIONS = { look, read, write, release }

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const request = JSON.parse(line)
    const act = ACTIONS[request.do]
    const answer = act === undefined ? { error: 'unknown' } : (heldBy(request) ?? act(request))
    tell({ reply: request.id, ...answer })
    announce()
  })
  .on('close', () => process.exit(0))
setInterval(announce, CHECK_MS)
clipboard.sign()
tell({ event: 'ready' })
