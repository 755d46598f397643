/**
 * Sends one request with credentials as a link to another daemon would, and says how it went.
 * Authorities that a process trusts are known when it starts, so that this is a process.
 * @module
 */

import { createNodeFetch } from '../../../src/fetch/node-fetch.ts'

const [url = '', fingerprint] = process.argv.slice(2)
const { fetch, close } = createNodeFetch(fingerprint)
const headers = { authorization: 'Basic c2VjcmV0OnNlY3JldA==' }
try {
  const answer = await fetch(url, { method: 'GET', headers, signal: new AbortController().signal })
  console.log(answer.status)
  await answer.body?.cancel()
} catch (error) {
  const { cause } = error as { readonly cause?: { readonly code?: string } }
  console.log(cause?.code)
}
close()
