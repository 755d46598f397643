/** The key of a circle in a data directory: made, brought, taken away. @module */

import { join } from 'node:path'
import { DomainError } from '../core/domain-error.ts'
import {
  deriveSecrets,
  formatCircleKey,
  CIRCLE_KEY_FILE,
  mintCircleKey,
  parseCircleKey,
} from '../peers/bus/circle-key.ts'
import { DiskPrivateFile } from '../storage/home/own-files.ts'

/**
 * Puts a key into its place: that of `text`, else a new one. Replaces another one only if told to.
 *
 * @returns Where that is, and the fingerprint of the circle: no secret.
 * @throws {DomainError} `GROUP_KEY_EXISTS`, `GROUP_KEY_INVALID`, `DATA_DIRECTORY_UNUSABLE`.
 */
export async function placeCircleKey({
  dataDir,
  text,
  replace,
}: {
  readonly dataDir: string
  readonly text?: string
  readonly replace: boolean
}): Promise<{ readonly path: string; readonly group: string }> {
  const path = join(dataDir, CIRCLE_KEY_FILE)
  const file = new DiskPrivateFile(path)
  const key = parse(text ?? mintCircleKey())
  if (!replace && (await readKey(file)) !== undefined) {
    throw new DomainError(
      'GROUP_KEY_EXISTS',
      `Cannot replace the group key ${path}; add --force to do so`,
    )
  }
  await file.write(formatCircleKey(key))
  return { path, group: deriveSecrets(key).id }
}

/** Takes the key away. @returns The user name of the credential, if one can be told. */
export async function removeCircleKey(dataDir: string): Promise<string | undefined> {
  const file = new DiskPrivateFile(join(dataDir, CIRCLE_KEY_FILE))
  const text = await readKey(file)
  if (text === undefined) {
    throw new DomainError(
      'GROUP_KEY_INVALID',
      `Cannot leave the group: there is no ${CIRCLE_KEY_FILE} in ${dataDir}`,
    )
  }
  await file.remove()
  try {
    return deriveSecrets(parse(text)).username
  } catch (error) {
    if (error instanceof DomainError) return undefined
    throw error
  }
}

function parse(text: string): Uint8Array {
  try {
    return parseCircleKey(text)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new DomainError('GROUP_KEY_INVALID', `Cannot use the group key: ${error.message}`)
  }
}

/** Reads a damaged file as an empty one: it is there. */
function readKey(file: DiskPrivateFile): Promise<string | undefined> {
  return file.read().catch((error: unknown) => {
    if (error instanceof TypeError) return ''
    throw error
  })
}
