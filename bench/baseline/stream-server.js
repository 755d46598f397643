/**
 * What Node itself needs to tell many clients the same: `node:http`, one chunk for each, nothing
 * else.
 *
 * Takes what it sends with each `PUT`; prints its port once it listens.
 * @module
 */

import { createServer } from 'node:http'

const frame = process.argv[2] ?? 'event: update\ndata: {}\n\n'

/** @type {Set<import('node:http').ServerResponse>} */
const streams = new Set()

const server = createServer((request, response) => {
  if (request.method === 'PUT') {
    for (const stream of streams) stream.write(frame)
    response.writeHead(204)
    response.end()
    return
  }
  streams.add(response)
  request.on('close', () => streams.delete(response))
  response.writeHead(200, { 'Content-Type': 'text/event-stream' })
  response.write('event: hello\n\n')
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  console.log(typeof address === 'object' ? address?.port : address)
})
