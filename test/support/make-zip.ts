/** Makes zip archives, right and wrong ones, with a program that is not ours. @module */

import { deflateRawSync } from 'node:zlib'

/** A file of an archive. */
export interface ZipEntry {
  readonly name: string
  readonly content?: Uint8Array
  readonly method?: number
  readonly flags?: number
  /** As it is declared. */
  readonly size?: number
  readonly packed?: number
  readonly offset?: number
  /** Bytes before those that are packed, as {@link behind} them. */
  readonly before?: Uint8Array
  /** Bytes behind those that are packed. */
  readonly behind?: Uint8Array
}

/** An archive, right or wrong. */
export function zipOf(...entries: readonly ZipEntry[]): Buffer {
  const [local, directory]: [Buffer[], Buffer[]] = [[], []]
  let at = 0
  for (const { name, content = Buffer.from('x'), method = 0, flags = 0, ...told } of entries) {
    const deflated = method === 8 ? deflateRawSync(content) : content
    const { before = Buffer.alloc(0), behind = Buffer.alloc(0) } = told
    const packed = Buffer.concat([before, deflated, behind])
    const bytes = Buffer.from(name)
    const header = Buffer.alloc(30)
    header.write('PK\x03\x04')
    header.writeUInt16LE(bytes.length, 26)
    const record = Buffer.alloc(46)
    record.write('PK\x01\x02')
    record.writeUInt16LE(flags, 8)
    record.writeUInt16LE(method, 10)
    record.writeUInt32LE(told.packed ?? packed.length, 20)
    record.writeUInt32LE(told.size ?? content.length, 24)
    record.writeUInt16LE(bytes.length, 28)
    record.writeUInt32LE(told.offset ?? at, 42)
    local.push(header, bytes, Buffer.from(packed))
    directory.push(record, bytes)
    at += 30 + bytes.length + packed.length
  }
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06')
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(Buffer.concat(directory).length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...local, ...directory, end])
}
