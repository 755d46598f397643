/**
 * Asks a server the same question over and over, from a process of its own.
 *
 * wrk where it is installed, because it leaves one of two cores to the server; else autocannon,
 * which takes more time for a request than the server does and so makes all servers look alike.
 * @module
 */

import { createRequire } from 'node:module'
import { execute, findProgram } from './processes.ts'

export interface LoadOptions {
  readonly url: string
  /** `Name: value`. */
  readonly header?: string | undefined
  readonly seconds: number
}

export interface LoadTool {
  readonly name: string
  /** How many requests a second were answered. Refuses answers that are not a success. */
  readonly measure: (options: LoadOptions) => Promise<number>
}

const CONNECTIONS = '32'

/** @param wanted `LOAD_TOOL`, to have autocannon nevertheless. */
export function findLoadTool(wanted: string | undefined = process.env['LOAD_TOOL']): LoadTool {
  const wrk = wanted === 'autocannon' ? undefined : findProgram('wrk')
  if (wrk !== undefined) return { name: 'wrk', measure: (options) => runWrk(wrk, options) }
  return { name: 'autocannon', measure: runAutocannon }
}

async function runWrk(wrk: string, { url, header, seconds }: LoadOptions): Promise<number> {
  const headers = header === undefined ? [] : ['-H', header]
  const args = ['-t', '1', '-c', CONNECTIONS, '-d', `${seconds}s`, ...headers, url]
  const { stdout } = await execute(wrk, args)
  const rate = /^Requests\/sec:\s+([0-9.]+)$/m.exec(stdout)?.[1]
  // wrk speaks of failures only when there were some.
  const hasFailed = /Non-2xx|Socket errors/.test(stdout)
  if (rate === undefined || hasFailed) throw new Error(`wrk says: ${stdout}`)
  return Number(rate)
}

async function runAutocannon({ url, header, seconds }: LoadOptions): Promise<number> {
  const autocannon = createRequire(import.meta.url).resolve('autocannon')
  const headers = header === undefined ? [] : ['-H', header]
  const options = ['-j', '-n', '-c', CONNECTIONS, '-d', String(seconds), ...headers]
  const { stdout } = await execute(process.execPath, [autocannon, ...options, url])
  const { '2xx': successes, non2xx, errors, timeouts, duration } = JSON.parse(stdout)
  if (non2xx + errors + timeouts > 0) throw new Error('autocannon got answers that were no success')
  return successes / duration
}
