/**
 * What the plain gateways share: the document in memory, the files in a folder, and one password,
 * checked as most would: by a native package, `@node-rs/argon2`, with the parameters of the daemon.
 *
 * The header that was right last is remembered for five minutes, since nobody would live with ten
 * requests a second; with `each` as the mode it is checked on each request.
 * @module
 */

import { timingSafeEqual } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { hash as hashPassword, verify } from '@node-rs/argon2'

const PARAMETERS = { memoryCost: 65536, timeCost: 3, parallelism: 4 }

const REMEMBERED_MS = 5 * 60_000

const [, , folder = '.', user = 'user', password = '', mode = 'remember'] = process.argv

/** Made at the first login: a real gateway would have it in a file. */
let hash

export const USER = user
export const state = { document: { type: 'Text', text: '', hasData: false } }

let remembered = { header: '', until: 0 }

/**
 * @param {string | undefined} header The value of `Authorization`.
 * @returns {Promise<boolean>}
 */
export async function isAllowed(header = '') {
  if (mode === 'remember' && Date.now() < remembered.until && isSame(header, remembered.header)) {
    return true
  }
  const [, encoded = ''] = /^Basic (.+)$/.exec(header) ?? []
  const [name = '', ...rest] = Buffer.from(encoded, 'base64').toString().split(':')
  hash ??= await hashPassword(password, PARAMETERS)
  if (name !== user || !(await verify(hash, rest.join(':')))) return false
  remembered = { header, until: Date.now() + REMEMBERED_MS }
  return true
}

/**
 * @param {string} name
 * @returns {string}
 */
export function pathOf(name) {
  return join(folder, basename(name))
}

/**
 * @param {string} name
 * @param {import('node:stream').Readable} body
 * @returns {Promise<void>}
 */
export async function store(name, body) {
  await pipeline(body, createWriteStream(pathOf(name)))
}

/**
 * @param {string} name
 * @returns {Promise<{ size: number, open: () => import('node:stream').Readable }>}
 */
export async function find(name) {
  const { size } = await stat(pathOf(name))
  return { size, open: () => createReadStream(pathOf(name)) }
}

/**
 * @param {string} a
 * @param {string} b
 * @returns {boolean}
 */
function isSame(a, b) {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}
