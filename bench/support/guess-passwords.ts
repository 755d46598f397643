/**
 * A program of its own that guesses passwords: many connections, each with the next guess as soon
 * as the last one was answered, whatever the answer asked for.
 * @module
 */

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { AsyncCleanup } from '../../src/lib/async-cleanup.ts'
import { RawClient } from '../../test/support/raw-http.ts'

export interface Guessing {
  readonly port: number
  readonly clients: number
  readonly seconds: number
  /** Every other guess is for this user, the rest is for users that there are not. */
  readonly username: string
}

/** How many answers there were of each status. */
export type Answers = Readonly<Record<string, number>>

/** Guesses from a process of its own. */
export async function guessPasswords(cleanup: AsyncCleanup, guessing: Guessing): Promise<Answers> {
  const child = fork(fileURLToPath(import.meta.url), [JSON.stringify(guessing)])
  cleanup.add(() => void child.kill())
  // `main` below is on the other side.
  const [answers] = (await once(child, 'message')) as [Answers]
  return answers
}

if (process.argv[1] === fileURLToPath(import.meta.url)) void main(JSON.parse(process.argv[2] ?? ''))

async function main({ port, clients, seconds, username }: Guessing): Promise<void> {
  const answers: Record<string, number> = {}
  const end = performance.now() + 1000 * seconds
  let guesses = 0
  const guess = async (): Promise<void> => {
    const client = await RawClient.connect(port)
    while (performance.now() < end) {
      const user = guesses % 2 === 0 ? username : `nobody_${guesses}`
      client.send(formatRequest(`${user}:guess ${process.pid} ${guesses++}`))
      const { status } = await client.read()
      answers[status] = (answers[status] ?? 0) + 1
    }
    client.close()
  }
  await Promise.all(Array.from({ length: clients }, guess))
  process.send?.(answers, () => process.disconnect())
}

function formatRequest(credentials: string): string {
  const authorization = `Authorization: Basic ${Buffer.from(credentials).toString('base64')}`
  return `GET /Sync.json HTTP/1.1\r\nHost: a\r\n${authorization}\r\n\r\n`
}
