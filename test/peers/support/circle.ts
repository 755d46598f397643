/**
 * Members of a group on memory ports, behind real sockets, linked in any way.
 * @module
 */

import type { TestContext } from 'node:test'
import type { Credentials } from '../../../src/client/server.ts'
import { systemTiming } from '../../../src/client/timing.ts'
import { GIB } from '../../../src/core/limits.ts'
import type { InboundItem } from '../../../src/ports/inbound-pipeline.ts'
import { openClient } from '../../../src/peers/open-client.ts'
import { PeerConnection, type PeerConnectionDeps } from '../../../src/peers/peer-connection.ts'
import { serveGateway } from '../../support/gateway.ts'

export interface MemberOptions {
  /** How far its clock is ahead, in milliseconds. */
  readonly aheadMs?: number
}

export type TestMember = Awaited<ReturnType<typeof startMember>>

/** Starts one daemon without a desktop. Counts the items that became current. */
export async function startMember(
  t: TestContext,
  index: number,
  { aheadMs = 0 }: MemberOptions = {},
) {
  const id = `m_${index.toString(16).padStart(16, '0')}`
  let ticks = 1_700_000_000_000 + aheadMs
  const circleTime = { now: () => (ticks += 1), learn: () => undefined, believes: () => true }
  const at = await serveGateway(t, { member: { id, ...circleTime } })
  const changes: string[] = []
  at.changes.subscribe(({ contentId }) => changes.push(contentId))
  const waiting = new Set<() => void>()
  at.changes.subscribe(() => {
    for (const wake of [...waiting]) wake()
  })

  return {
    ...at,
    id,
    circleTime,
    changes: changes as readonly string[],
    feed: at.changes,
    /** Somebody copies a text there. */
    copy: (text: string) => at.inbound.apply({ ...COPY, text }),
    get text() {
      return at.latest.current?.item.text
    },
    /** Resolves once its current item has this text. */
    has: async (text: string): Promise<void> => {
      while (at.latest.current?.item.text !== text) {
        await new Promise<void>((resolve) => {
          const wake = (): void => {
            waiting.delete(wake)
            resolve()
          }
          waiting.add(wake)
        })
      }
    },
  }
}

const COPY = {
  origin: { kind: 'clipboard' },
  type: 'Text',
  dataName: '',
  hash: '',
  bytes: { kind: 'none' },
} as const satisfies Partial<InboundItem>

/** Makes `from` a member beside `to`, and connects. */
export async function join(
  t: TestContext,
  from: TestMember,
  to: TestMember,
): Promise<PeerConnection> {
  const { device, password } = await to.devices.add({ kind: 'peer' })
  return connectTo(t, from, { url: to.url, username: device.username, password })
}

/** Connects a member to what may be another one. The connection is closed when the test ends. */
export function connectTo(
  t: TestContext,
  from: TestMember,
  { url, username = 'peer_1', password = 'password' }: Partial<Credentials> & { url: string },
  options: Partial<PeerConnectionDeps> = {},
): PeerConnection {
  const client = openClient({ url, username, password })
  const link = new PeerConnection(`to ${url}`, {
    ...from,
    client,
    changes: from.feed,
    timing: systemTiming,
    memberId: from.id,
    maxFileBytes: 10 * GIB,
    onChange: () => undefined,
    ...options,
  })
  link.start()
  t.after(async () => {
    await link.close()
    client.close()
  })
  return link
}
