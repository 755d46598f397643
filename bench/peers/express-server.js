/**
 * The four calls, and the form, as a plain Express gateway: no events, no hashes, no staging, no
 * limits beyond those of its packages. Prints its port once it listens.
 * @module
 */

import express from 'express'
import multer from 'multer'
import { isAllowed, pathOf, state, store } from './state.js'

const app = express()
const storage = multer.diskStorage({
  destination: (_request, _file, done) => done(null, pathOf('.')),
  filename: (_request, _file, done) => done(null, 'form.bin'),
})

app.disable('x-powered-by')
app.use(async (request, response, next) => {
  if (await isAllowed(request.headers.authorization)) return next()
  response.set('WWW-Authenticate', 'Basic').status(401).end()
})
app.get('/Sync.json', (_, response) => {
  response.json(state.document)
})
app.put('/Sync.json', express.json(), (request, response) => {
  state.document = request.body
  response.end()
})
app.put('/file/:name', async (request, response) => {
  await store(request.params.name, request)
  response.end()
})
app.get('/file/:name', (request, response) => {
  response.sendFile(pathOf(request.params.name))
})
app.post('/api/history', multer({ storage }).single('data'), (request, response) => {
  state.document = { ...request.body, hasData: true }
  response.end()
})

const server = app.listen(0, '127.0.0.1', () => console.log(server.address().port))
