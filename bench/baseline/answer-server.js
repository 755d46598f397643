/**
 * What Node itself needs to send an answer: `node:http`, the same bytes each time, nothing else.
 *
 * Takes the answer as JSON, `{ status, headers, body }`; prints its port once it listens.
 * @module
 */

import { createServer } from 'node:http'

const answer = process.argv[2] ?? '{"status":204,"headers":[],"body":""}'

/** @type {{ status: number, headers: string[], body: string }} */
const { status, headers, body } = JSON.parse(answer)

// The timeout is a header field of the answer.
const server = createServer({ keepAliveTimeout: 65_000 }, (_, response) => {
  response.writeHead(status, headers)
  // Node joins a string with the header; bytes would be a piece of their own.
  response.end(body)
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  console.log(typeof address === 'object' ? address?.port : address)
})
