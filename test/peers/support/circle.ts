/** Members of a group, behind real sockets. @module */

import type { TestContext } from 'node:test'
import type { Credentials } from '../../../src/client/server.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { GIB } from '../../../src/core/limits.ts'
import type { InboundItem } from '../../../src/ports/inbound-pipeline.ts'
import { openClient } from '../../../src/peers/open-client.ts'
import { PeerConnection, type PeerConnectionDeps } from '../../../src/peers/peer-connection.ts'
import { defer } from '../../support/defer.ts'
import { serveGateway } from '../../support/gateway.ts'

export type TestMember = Awaited<ReturnType<typeof startMember>>

/** Starts one daemon without a desktop. */
export async function startMember(t: TestContext, index: number) {
  const id = `m_${index.toString(16).padStart(16, '0')}`
  let ticks = 1_700_000_000_000
  const circleTime = { now: () => (ticks += 1), learn: () => undefined, believes: () => true }
  const at = await serveGateway(t, { member: { id, ...circleTime } })
  let changed = defer<void>()
  at.changes.subscribe(() => {
    changed.resolve()
    changed = defer<void>()
  })

  return {
    ...at,
    id,
    circleTime,
    /** Somebody copies a text there. */
    copy: (text: string) => at.inbound.apply({ ...COPY, text }),
    get text() {
      return at.latest.current?.item.text
    },
    /** Resolves once its current item has this text. */
    has: async (text: string): Promise<void> => {
      while (at.latest.current?.item.text !== text) await changed.promise
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
    clock: systemClock,
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
