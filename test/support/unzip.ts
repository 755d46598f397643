/** Reads an archive with a program that is not ours. @module */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sha256 } from './hashes.ts'
import { execute } from './execute.ts'

/** Fails when a checksum is wrong, or a name is there twice. */
const SCRIPT = `
import json, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive:
    assert archive.testzip() is None, 'a checksum is wrong'
    names = archive.namelist()
    assert len(names) == len(set(names)), 'a name is there twice'
    print(json.dumps([
        [name, 'a folder' if name.endswith('/') else archive.read(name).decode('latin-1')]
        for name in names
    ]))
`

/** By name, as it is in the archive: the content of a file in latin1, or `a folder`. */
export async function unzip(bytes: Uint8Array): Promise<Readonly<Record<string, string>>> {
  const folder = await mkdtemp(join(tmpdir(), 'clipgate-unzip-'))
  try {
    const path = join(folder, 'archive.zip')
    await writeFile(path, bytes)
    const { stdout } = await execute('python3', ['-c', SCRIPT, path], {
      maxBuffer: 64 * 1024 * 1024,
    })
    return Object.fromEntries(JSON.parse(stdout))
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** What programs of the reference protocol compute of an archive that they have unpacked. */
export function groupHashOf(archive: Readonly<Record<string, string>>): string {
  const lines = Object.entries(archive).map(([name, content]) => {
    const bytes = Buffer.from(content, 'latin1')
    const line = `F|${name}|${bytes.length}|${sha256(bytes).toUpperCase()}\0`
    return { key: Buffer.from(name), line: name.endsWith('/') ? `D|${name}\0` : line }
  })
  lines.sort((a, b) => Buffer.compare(a.key, b.key))
  return sha256(Buffer.from(lines.map(({ line }) => line).join('')))
}
