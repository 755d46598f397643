/**
 * What Node itself needs to put an upload on disk: `node:http`, no hashing, no checks, in the
 * fastest way that we know. The chunks of the socket are collected until they are 1 MiB and go to
 * the disk in one call, of which two may be under way.
 *
 * Takes the folder to write to; prints its port once it listens.
 * @module
 */

import { open } from 'node:fs/promises'
import { createServer } from 'node:http'
import { basename, join } from 'node:path'

const BATCH_BYTES = 1024 * 1024
const MAX_WRITES = 2

const folder = process.argv[2] ?? '.'

/**
 * @param {import('node:http').IncomingMessage} request
 * @param {import('node:fs/promises').FileHandle} file
 * @returns {Promise<void>}
 */
function writeBody(request, file) {
  return new Promise((resolve, reject) => {
    /** @type {Buffer[]} */
    let batch = []
    let batched = 0
    let position = 0
    let writes = 0
    let isEnded = false

    function flush() {
      const [chunks, length] = [batch, batched]
      const at = position
      position += length
      batch = []
      batched = 0
      writes += 1
      if (writes === MAX_WRITES) request.pause()
      file.writev(chunks, at).then(({ bytesWritten }) => {
        if (bytesWritten !== length) return reject(new Error('The disk took only a part'))
        writes -= 1
        if (!isEnded) request.resume()
        else if (writes === 0) resolve()
      }, reject)
    }

    request.on('data', (chunk) => {
      batch.push(chunk)
      batched += chunk.length
      if (batched >= BATCH_BYTES) flush()
    })
    request.on('end', () => {
      isEnded = true
      if (batched > 0) flush()
      else if (writes === 0) resolve()
    })
    request.on('error', reject)
  })
}

const server = createServer((request, response) => {
  void (async () => {
    const file = await open(join(folder, basename(request.url ?? '')), 'w', 0o600)
    await writeBody(request, file)
    await file.close()
    response.writeHead(200, ['Content-Length', '0'])
    response.end()
  })()
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  console.log(typeof address === 'object' ? address?.port : address)
})
