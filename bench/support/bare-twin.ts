/**
 * A bare server that gives the same answer as another one, byte for byte: what Node alone costs.
 * @module
 */

import { connect } from 'node:net'
import type { AsyncCleanup } from '../../src/lib/async-cleanup.ts'
import { startBaseline } from './processes.ts'

/** A request that both get. */
export interface Question {
  readonly pid: number
  readonly port: number
  readonly path: string
  /** `Name: value`. */
  readonly header: string | undefined
}

export interface BareTwin extends Question {
  stop(): Promise<void>
}

/**
 * Starts one for this question.
 *
 * @param node The program that runs it; the one that runs this unless told.
 * @throws {Error} when it sends other bytes, but for the date.
 */
export async function startTwin(
  cleanup: AsyncCleanup,
  question: Question,
  node?: string,
): Promise<BareTwin> {
  const answer = await readAnswer(question)
  const argument = JSON.stringify(parseAnswer(answer))
  const { pid, port, stop } = await startBaseline(cleanup, 'answer-server', argument, node)
  const twin = { ...question, pid, port, stop }
  const bareAnswer = await readAnswer(twin)
  if (withoutDate(bareAnswer) !== withoutDate(answer)) {
    throw new Error(`The bare server sends other bytes:\n${bareAnswer}\nbeside\n${answer}`)
  }
  return twin
}

/** The bytes of one answer. */
function readAnswer({ port, path, header }: Question): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    const headers = header === undefined ? '' : `${header}\r\n`
    // The second request ends the connection, and its answer shows where the first one ends.
    const request = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}`
    let text = ''
    socket.setEncoding('utf8').on('data', (more: string) => (text += more))
    socket.on('error', reject).on('end', () => {
      const second = text.indexOf('HTTP/1.1 ', 1)
      resolve(text.slice(0, second === -1 ? undefined : second))
    })
    socket.write(`${request}\r\n${request}Connection: close\r\n\r\n`)
  })
}

/** What Node adds to every answer of its own accord. */
const OWN_FIELDS = /^(?:date|connection|keep-alive)$/i

function parseAnswer(answer: string): { status: number; headers: string[]; body: string } {
  const end = answer.indexOf('\r\n\r\n')
  const [first = '', ...fields] = answer.slice(0, end).split('\r\n')
  const headers = fields.flatMap((field) => {
    const colon = field.indexOf(':')
    const name = field.slice(0, colon)
    return OWN_FIELDS.test(name) ? [] : [name, field.slice(colon + 1).trim()]
  })
  return { status: Number(first.split(' ')[1]), headers, body: answer.slice(end + 4) }
}

function withoutDate(answer: string): string {
  return answer.replace(/^Date: .*$/m, 'Date:')
}
