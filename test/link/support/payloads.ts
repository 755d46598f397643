/** Payloads of connect links, and links around anything. @module */

import type { ConnectPayload } from '../../../src/link.ts'
import fc from '../../support/property.ts'

export const PAYLOAD: ConnectPayload = {
  url: 'http://192.168.1.20:42720',
  user: 'phone_1',
  pwd: 'pa"ss\\w€rd',
}

/** The JSON that a link for `payload` carries. */
export function jsonOf({ url, user, pwd }: ConnectPayload): string {
  return JSON.stringify({ v: 1, url, user, pwd })
}

/** A link whose payload is this text, valid or not. */
export function linkAround(json: string): string {
  return `clip://connect?v=1&svc=mobile-sync&p=${Buffer.from(json).toString('base64url')}`
}

const text = { unit: 'binary', maxLength: 24 } as const

/** Payloads that make links of fewer than 800 characters. */
export const payloads: fc.Arbitrary<ConnectPayload> = fc.record(
  {
    url: fc
      .tuple(fc.constantFrom('http', 'https'), fc.domain(), fc.nat({ max: 65535 }))
      .map(([scheme, domain, port]) => `${scheme}://${domain.slice(-60)}:${port}`),
    user: fc.stringMatching(/^[A-Za-z][A-Za-z0-9_]{5,31}$/),
    pwd: fc.string({ ...text, minLength: 1 }),
    o: fc.dictionary(
      fc.oneof(fc.string({ ...text, maxLength: 5 }), fc.nat().map(String)),
      fc.string({ ...text, maxLength: 8 }),
      { maxKeys: 3, noNullPrototype: true },
    ),
  },
  { requiredKeys: ['url', 'user', 'pwd'] },
)
