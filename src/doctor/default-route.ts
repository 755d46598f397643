/**
 * Which interface leads to everywhere else; Linux only.
 *
 * @module
 */

import { readSystemFile, type Machine } from './machine.ts'

export interface Route {
  readonly name: string
  readonly metric: number
}

/** A whole, or one of the two halves by which VPNs get in front of it. */
const EVERYWHERE: ReadonlySet<string> = new Set(['00000000/00000000', '00000000/00000080'])

/** `undefined` where it cannot be known. */
export async function defaultInterface(machine: Machine): Promise<string | undefined> {
  const routes = parseDefaultRoutes((await readSystemFile(machine, 'proc/net/route')) ?? '')
  return [...routes].sort((a, b) => a.metric - b.metric)[0]?.name
}

/** The IPv4 default routes in `/proc/net/route`; those for half of everything come first. */
export function parseDefaultRoutes(text: string): readonly Route[] {
  return text.split('\n').flatMap((line) => {
    const [name = '', destination, , , , , metric = '', mask] = line.trim().split(/\s+/)
    if (!EVERYWHERE.has(`${destination}/${mask}`) || !/^\d+$/.test(metric)) return []
    return [{ name, metric: mask === '00000080' ? -1 : Number(metric) }]
  })
}
