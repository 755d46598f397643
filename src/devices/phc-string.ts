/**
 * Argon2id hashes as PHC strings: `$argon2id$v=19$m=65536,t=3,p=4$<salt>$<tag>`.
 *
 * Strict: one spelling for each hash, and parameters within bounds, so that a doctored file
 * cannot make a login cost gigabytes or minutes.
 * @module
 */

/** The cost of one run. */
export interface Argon2Parameters {
  /** Memory in KiB. */
  readonly memoryKib: number
  readonly passes: number
  readonly parallelism: number
}

/** One run. */
export interface Argon2Job extends Argon2Parameters {
  readonly password: Uint8Array
  readonly salt: Uint8Array
  readonly tagLength: number
}

/** A stored hash. */
export interface PhcHash extends Argon2Parameters {
  readonly salt: Uint8Array
  readonly tag: Uint8Array
}

// Four times what this version writes.
const MAX_MEMORY_KIB = 262_144
const MAX_PASSES = 12
const MAX_PARALLELISM = 16
// RFC 9106 section 3.1 has no smaller lane.
const MIN_KIB_PER_LANE = 8
const MIN_SALT_BYTES = 8
const MIN_TAG_BYTES = 16
const MAX_BYTES = 64

const NUMBER = '([1-9][0-9]{0,6})'
const BASE64 = '([A-Za-z0-9+/]{1,86})'
const PHC_STRING = new RegExp(
  `^\\$argon2id\\$v=19\\$m=${NUMBER},t=${NUMBER},p=${NUMBER}\\$${BASE64}\\$${BASE64}$`,
)

/** The hash that `text` spells; `undefined` when it spells none within bounds. */
export function parsePhcString(text: string): PhcHash | undefined {
  const [, memoryKib, passes, parallelism, salt, tag] = PHC_STRING.exec(text) ?? []
  if (salt === undefined || tag === undefined) return undefined
  const hash = {
    memoryKib: Number(memoryKib),
    passes: Number(passes),
    parallelism: Number(parallelism),
    salt: fromBase64(salt),
    tag: fromBase64(tag),
  }
  // Formatting it again finds base64 that is not canonical.
  return isWithinBounds(hash) && formatPhcString(hash) === text ? hash : undefined
}

/** Spells a hash. */
export function formatPhcString(hash: PhcHash): string {
  const { memoryKib, passes, parallelism, salt, tag } = hash
  const parameters = `m=${memoryKib},t=${passes},p=${parallelism}`
  return `$argon2id$v=19$${parameters}$${toBase64(salt)}$${toBase64(tag)}`
}

function isWithinBounds({ memoryKib, passes, parallelism, salt, tag }: PhcHash): boolean {
  if (parallelism > MAX_PARALLELISM || passes > MAX_PASSES) return false
  if (memoryKib > MAX_MEMORY_KIB || memoryKib < MIN_KIB_PER_LANE * parallelism) return false
  if (salt.length < MIN_SALT_BYTES || salt.length > MAX_BYTES) return false
  return tag.length >= MIN_TAG_BYTES && tag.length <= MAX_BYTES
}

/** Bytes of their own: a view of Node's shared pool would be posted to a worker with all of it. */
function fromBase64(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'base64'))
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replaceAll('=', '')
}
