/**
 * Members in processes of their own, joined in some topology, each link behind a proxy that counts.
 * @module
 */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import { PNG } from 'pngjs'
import { KIB } from '../../../src/core/limits.ts'
import { startProxy, type CountingProxy } from './counting-proxy.ts'
import { MemberProcess } from './member-process.ts'

/** Documents and events of a link, beside the bytes of an item. */
export const TALK_BYTES: number = 200 * KIB

/** Who joins whom, by index. */
export type Pairs = readonly (readonly [number, number])[]

/** Some members, and the links between them in the order of the pairs. */
export interface Topology {
  readonly members: readonly MemberProcess[]
  readonly links: readonly CountingProxy[]
}

/** Starts as many members as the pairs name, and joins them. */
export async function startTopology(t: TestContext, pairs: Pairs): Promise<Topology> {
  const count = 1 + Math.max(...pairs.flat())
  const members = await Promise.all(
    Array.from({ length: count }, (_, index) => MemberProcess.start(t, `member ${index}`)),
  )
  const links: CountingProxy[] = []
  for (const [from, to] of pairs) links.push(await joinByProxy(t, members[from], members[to]))
  return { members, links }
}

/** Joins `to` through a proxy that counts. */
export async function joinByProxy(
  t: TestContext,
  from: MemberProcess | undefined,
  to: MemberProcess | undefined,
): Promise<CountingProxy> {
  assert.ok(from !== undefined && to !== undefined, 'both are there')
  const proxy = await startProxy(t, to.gateway)
  await from.join(to, { url: proxy.url })
  return proxy
}

/** Rows of random pixels, as no other picture has them. */
export function makePng(width: number, height: number): Buffer {
  const png = new PNG({ width, height })
  randomBytes(png.data.length).copy(png.data)
  return PNG.sync.write(png)
}
