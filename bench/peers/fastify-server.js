/**
 * The four calls, and the form, as a plain Fastify gateway: no events, no hashes, no staging, no
 * limits beyond those of its packages. Prints its port once it listens.
 * @module
 */

import multipart from '@fastify/multipart'
import { fastify } from 'fastify'
import { find, isAllowed, state, store } from './state.js'

// Its own limit is 1 MiB.
const app = fastify({ bodyLimit: Number.MAX_SAFE_INTEGER })
app.register(multipart, { limits: { fileSize: Number.POSITIVE_INFINITY } })

// A file is no JSON, whatever it is called.
app.removeAllContentTypeParsers()
app.addContentTypeParser('*', async (_, body) => body)

app.addHook('onRequest', async (request, reply) => {
  if (await isAllowed(request.headers.authorization)) return
  await reply.header('WWW-Authenticate', 'Basic').code(401).send()
})
app.get('/Sync.json', async () => state.document)
app.put('/Sync.json', async (request) => {
  const chunks = []
  for await (const chunk of request.body) chunks.push(chunk)
  state.document = JSON.parse(Buffer.concat(chunks).toString())
  return ''
})
app.put('/file/:name', async (request) => {
  await store(request.params.name, request.body)
  return ''
})
app.get('/file/:name', async (request, reply) => {
  const { size, open } = await find(request.params.name)
  return reply.type('application/octet-stream').header('Content-Length', size).send(open())
})
app.post('/api/history', async (request) => {
  const part = await request.file()
  await store('form.bin', part.file)
  state.document = { ...state.document, hasData: true }
  return ''
})

await app.listen({ port: 0, host: '127.0.0.1' })
console.log(app.server.address().port)
