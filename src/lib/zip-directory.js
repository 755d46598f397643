/**
 * Reads the directory of a zip archive (APPNOTE.TXT of PKWARE), without its files. Plain
 * JavaScript, for the worker that looks into archives, too.
 *
 * @module
 */

/**
 * @typedef {import('./zip-directory.d.ts').Packed} Packed
 * @typedef {import('./zip-directory.d.ts').Entry} Entry
 */

/** The end of the archive, an entry of the directory, the local header: without their names. */
const END_SIGNATURE = Buffer.from('PK\x05\x06')
const END_BYTES = 22
const ENTRY_SIGNATURE = 0x02014b50
const ENTRY_BYTES = 46
const LOCAL_SIGNATURE = 0x04034b50

/** Longer names cannot be unpacked everywhere. */
export const MAX_NAME_LENGTH = 1024

/** The local header of a file, without its name. */
export const LOCAL_BYTES = 30

/** Where the end of an archive begins at the earliest: it may have a comment. */
const LONGEST_END_BYTES = END_BYTES + 0xffff

/** Ten thousand entries of usual names take half of it. */
const MAX_DIRECTORY_BYTES = 2 * 1024 * 1024

const ENCRYPTED = 1
const STORED = 0

/** Programs read all names so, whatever the archive says; what is no UTF-8 is replaced. */
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

/** How many bytes at the end of an archive {@link findDirectory} needs. @param {number} size */
export function endLength(size) {
  return Math.min(size, LONGEST_END_BYTES)
}

/**
 * Finds the directory.
 *
 * @param {Buffer} tail The last bytes of the archive.
 * @param {number} maxEntries
 * @throws {Error} `UNFIT` when there is none, or when it is larger.
 */
export function findDirectory(tail, maxEntries) {
  const end = tail.subarray(Math.max(0, tail.lastIndexOf(END_SIGNATURE)))
  if (end.length < END_BYTES || !end.subarray(0, 4).equals(END_SIGNATURE)) throw unfit()
  const [count, length] = [end.readUInt16LE(10), end.readUInt32LE(12)]
  // Zip64 has marks in their place that are beyond these limits, too.
  if (count > maxEntries || length > MAX_DIRECTORY_BYTES) throw unfit()
  return { count, length, start: end.readUInt32LE(16) }
}

/**
 * Reads the entries. Nothing of what they say is checked against the archive.
 *
 * @param {Buffer} directory
 * @param {number} count
 * @returns {Entry[]}
 * @throws {Error} `UNFIT` when it is damaged.
 */
export function readEntries(directory, count) {
  const entries = []
  for (let at = 0; entries.length < count; ) {
    const header = directory.subarray(at, at + ENTRY_BYTES)
    if (header.length < ENTRY_BYTES || header.readUInt32LE(0) !== ENTRY_SIGNATURE) throw unfit()
    const nameEnd = at + ENTRY_BYTES + header.readUInt16LE(28)
    const name = utf8.decode(directory.subarray(at + ENTRY_BYTES, nameEnd))
    entries.push({
      name: name.endsWith('/') ? name.slice(0, -1) : name,
      isFolder: name.endsWith('/'),
      flags: header.readUInt16LE(8),
      method: header.readUInt16LE(10),
      packed: header.readUInt32LE(20),
      size: header.readUInt32LE(24),
      offset: header.readUInt32LE(42),
    })
    at = nameEnd + header.readUInt16LE(30) + header.readUInt16LE(32)
  }
  return entries
}

/** Whether its bytes stand in the archive as they are. @param {Packed} entry */
export function isStored({ flags, method, packed, size }) {
  return method === STORED && !isEncrypted({ flags }) && packed === size
}

/** @param {Pick<Packed, 'flags'>} entry */
export function isEncrypted({ flags }) {
  return (flags & ENCRYPTED) !== 0
}

/**
 * Where the bytes of a file begin in the archive.
 *
 * @param {Buffer} header The {@link LOCAL_BYTES} bytes at its `offset`.
 * @param {Pick<Packed, 'offset'>} entry
 * @throws {Error} `UNFIT` when there is no file.
 */
export function startOf(header, { offset }) {
  if (header.length < LOCAL_BYTES || header.readUInt32LE(0) !== LOCAL_SIGNATURE) throw unfit()
  return offset + LOCAL_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28)
}

/** An error that says that an archive cannot be read, with the code `UNFIT`. */
export function unfit() {
  return Object.assign(new Error('Cannot tell what is in the archive'), { code: 'UNFIT' })
}
