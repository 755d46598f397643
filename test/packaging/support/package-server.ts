/** Serves the packages that clipgate depends on, as npm asks for them. @module */

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { compress, formatTar } from '../../../build/archive.ts'
import { readParts } from '../../../build/parts.ts'
import { PROJECT } from './make-release.ts'

/** Makes a server that has each package in the version that is installed here, and no other. */
export function createPackageServer(): Server {
  const archives = new Map(readParts(PROJECT).map(({ name }) => [name, pack(name)]))
  return createServer((request, response) => {
    const [, name = '', file] = (request.url ?? '').split('/')
    const archive = archives.get(name)
    if (archive === undefined) response.writeHead(404).end()
    else if (file !== undefined) response.end(archive)
    else response.end(JSON.stringify(describe(name, archive, request.headers.host ?? '')))
  })
}

/** What a registry knows of a package. */
function describe(name: string, archive: Buffer, host: string): object {
  const folder = join(PROJECT, 'node_modules', name)
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const integrity = `sha512-${createHash('sha512').update(archive).digest('base64')}`
  const dist = { tarball: `http://${host}/${name}/${name}.tgz`, integrity }
  const { version } = manifest
  return { name, 'dist-tags': { latest: version }, versions: { [version]: { ...manifest, dist } } }
}

function pack(name: string): Buffer {
  const folder = join(PROJECT, 'node_modules', name)
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name)
      return { path: path.slice(folder.length + 1), content: readFileSync(path) }
    })
  return compress(formatTar(files, 'package/'))
}
