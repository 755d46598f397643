/** Records of TLS 1.3 that no client would send, made from the secret of one that has connected. */

import { createCipheriv, createHmac } from 'node:crypto'

/** The cipher that {@link RecordMaker} knows; to be the only one that the client offers. */
export const CIPHER = 'TLS_AES_128_GCM_SHA256'

const APPLICATION_DATA = 23
const HANDSHAKE = 22
const KEY_UPDATE: Buffer = Buffer.from('1800000100', 'hex')
/** Has the other side change its key too, and say so. */
const KEY_UPDATE_REQUEST: Buffer = Buffer.from('1800000101', 'hex')

/** Says what the client could say next, in its place: RFC 8446 sections 5.2, 5.3, 7.1 and 7.2. */
export class RecordMaker {
  #secret: Buffer
  #sequence = 0

  /** @param keyLog Lines of the events `keylog` of the client, which has sent nothing yet. */
  constructor(keyLog: string) {
    const [, secret = ''] = /CLIENT_TRAFFIC_SECRET_0 \w+ (\w+)/.exec(keyLog) ?? []
    this.#secret = Buffer.from(secret, 'hex')
  }

  /** Each text in a record of its own. */
  texts(...texts: readonly string[]): Buffer {
    return Buffer.concat(texts.map((text) => this.#record(Buffer.from(text), APPLICATION_DATA)))
  }

  /** Changes of the key, which carry nothing. */
  keyUpdates(count: number, message: Buffer = KEY_UPDATE): Buffer {
    const records = Array.from({ length: count }, () => {
      const record = this.#record(message, HANDSHAKE)
      this.#secret = this.#expand('traffic upd', 32)
      this.#sequence = 0
      return record
    })
    return Buffer.concat(records)
  }

  /** Changes of the key that are each answered with another one. */
  keyUpdateRequests(count: number): Buffer {
    return this.keyUpdates(count, KEY_UPDATE_REQUEST)
  }

  #record(content: Buffer, type: number): Buffer {
    const inner = Buffer.concat([content, Buffer.of(type)])
    const header = Buffer.from([APPLICATION_DATA, 3, 3, 0, 0])
    header.writeUInt16BE(inner.length + 16, 3)
    const nonce = this.#expand('iv', 12)
    nonce.writeUInt32BE((nonce.readUInt32BE(8) ^ this.#sequence++) >>> 0, 8)
    const cipher = createCipheriv('aes-128-gcm', this.#expand('key', 16), nonce)
    cipher.setAAD(header)
    return Buffer.concat([header, cipher.update(inner), cipher.final(), cipher.getAuthTag()])
  }

  #expand(label: string, length: number): Buffer {
    const name = `tls13 ${label}`
    const info = Buffer.from(`\0${String.fromCharCode(length, name.length)}${name}\0\x01`, 'latin1')
    return createHmac('sha256', this.#secret).update(info).digest().subarray(0, length)
  }
}
