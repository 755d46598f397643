/**
 * Pulls an item that was announced at a name, which leads to a program of this machine, and prints
 * what that program was asked and why nothing came of it.
 *
 * Takes the name, and the URL of the own gateway. Which names lead where is up to the machine.
 * @module
 */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { systemClock } from '../../../src/lib/clock.ts'
import { Offer, pullOffer } from '../../../src/peers/bus/pull-offer.ts'

const [name = '', ownUrl = ''] = process.argv.slice(2)
const asked: (string | undefined)[] = []
const server = createServer(({ headers }, response) => {
  asked.push(headers.authorization)
  response.writeHead(404, { Connection: 'close' }).end()
})
// At all addresses, of both families.
await once(server.listen(0), 'listening')
const { port } = server.address() as AddressInfo
const offer = new Offer({
  stamp: { at: 1, member: 'm_0000000000000001' },
  contentId: `blake3v1:${'00'.repeat(32)}`,
})
offer.add(`http://${name}:${port}`)

const unused = (): never => {
  throw new Error('There is nothing to be received')
}
const pulling = pullOffer(offer, {
  latest: { current: undefined, binary: undefined },
  inbound: { apply: unused },
  blobs: { receive: unused },
  clock: systemClock,
  maxFileBytes: 1000,
  signal: new AbortController().signal,
  secrets: { username: 'group_0123456789abcdef', password: 'a password of the group' },
  circleTime: { now: () => 0, learn: () => undefined, believes: () => true },
  ownUrl: () => ownUrl,
  onPlace: () => undefined,
  onTrouble: () => undefined,
})
const failure = await pulling.then(
  () => '',
  (error: Error) => error.message,
)
console.log(JSON.stringify({ asked, failure }))
server.close()
