/**
 * Another program that changes the clipboard by itself: it appends a line end to every text that
 * somebody else copies, at once.
 * @module
 */

import type { TestContext } from 'node:test'
import { XClient } from './x-client.ts'

/** Starts it; it ends with the test. */
export async function startAppendingWriter(t: TestContext, display: string): Promise<void> {
  const client = await XClient.open(t, display)
  // Ends with an error when the connection is closed, which is how every test ends.
  append(client).catch(() => undefined)
}

async function append(client: XClient): Promise<void> {
  for (;;) {
    const { owner } = await client.next('ownerChanged')
    if (owner === 0 || owner === client.window) continue
    const text = await client.paste('UTF8_STRING')
    if (text !== undefined) await client.copy({ UTF8_STRING: `${text}\n` })
  }
}
