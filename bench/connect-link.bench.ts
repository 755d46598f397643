/**
 * What does a connect link cost beside the JSON inside it? (B15)
 *
 * Not a hot path: this guards against an accidental quadratic. The hostile payload is as long as
 * links may be and has something to escape or to check at every character.
 * @module
 */

import { formatConnectLink, parseConnectLink, type ConnectPayload } from '../src/link.ts'
import { bench } from './support/bench.ts'
import { operations } from './support/operations.ts'
import { alternate, isQuick } from './support/rounds.ts'
import { explain, judge, type Sides } from './support/row.ts'

const FRIENDLY: ConnectPayload = {
  url: 'http://192.168.1.20:42720',
  user: 'mobile_0a1b2c3d',
  pwd: 'q83vASNFZ4kBI0VniavN7w',
  o: { did: 'did_0123456789abcdef0123456789abcdef', label: 'Pixel 9', proto: 'syncclipboard' },
}

const HOSTILE: ConnectPayload = {
  url: 'http://[2001:db8:85a3::8a2e:370:7334]:42720',
  user: 'mobile_0a1b2c3d',
  pwd: '"\\\u{1f511}'.repeat(28),
  o: Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`${9 - index}\n`, '\t€'])),
}

const ROUNDS = isQuick ? 31 : 201

void bench(async () => {
  const friendly = await measure(FRIENDLY)
  const hostile = await measure(HOSTILE)
  return [
    judge('B15 decode', friendly.decode),
    judge('B15 encode', friendly.encode),
    explain('B15 decode', { what: 'the same, hostile', unit: 'op/s', ...hostile.decode }),
    explain('B15 encode', { what: 'the same, hostile', unit: 'op/s', ...hostile.encode }),
  ]
})

async function measure(
  payload: ConnectPayload,
): Promise<{ readonly decode: Sides; readonly encode: Sides }> {
  const link = formatConnectLink(payload)
  const document = { v: 1, ...payload }
  const json = JSON.stringify(document)
  const decode = operations(() => parseConnectLink(link))
  const parse = operations(() => JSON.parse(json))
  const encode = operations(() => formatConnectLink(payload))
  const stringify = operations(() => JSON.stringify(document))
  await alternate([decode, parse, encode, stringify], { rounds: ROUNDS })
  return {
    decode: { measured: decode.values, baseline: parse.values },
    encode: { measured: encode.values, baseline: stringify.values },
  }
}
