/** `/Sync.json` and `/SyncClipboard.json`: the latest item, read and pushed. @module */

import type { Item } from '../core/item.ts'
import type { Stamp } from '../core/stamp.ts'
import type { Handler } from '../http/call.ts'
import { readJson } from '../http/read-body.ts'
import { json, type Reply } from '../http/reply.ts'
import { constantReply } from '../http/reply-headers.ts'
import type { Device, Dialect } from '../ports/device-registry.ts'
import type { Origin } from '../ports/inbound-pipeline.ts'
import type { HandlerDeps } from './gateway-ports.ts'
import {
  decodeDocument,
  encodeDocument,
  encodeOldDocument,
  encodePeerDocument,
} from './wire/clipboard-document.ts'

/**
 * Answers with the document of the current item. Its entity tag changes with each activation.
 *
 * Phones poll this: the replies to an item are made once and then only sent.
 */
export function getDocument(deps: HandlerDeps, path: Dialect): Handler<Device> {
  const { latest, circleTime } = deps
  if (path === 'syncclipboard') return getReferenceDocument(deps)
  const present = remember((item) => makeReply(encodeDocument(item, path), tagOf(item)))
  const believes = circleTime?.believes ?? (() => true)
  const forPeers = remember((item) =>
    makeReply(encodePeerDocument(item, believes), peerTagOf(item)),
  )
  return ({ principal }) => (principal.kind === 'peer' ? forPeers : present)(latest.current?.item)
}

/** As each client of the reference protocol reads it: there are a few kinds of them. */
function getReferenceDocument({ latest, dialects }: HandlerDeps): Handler<Device> {
  const replies = remember(() => new Map<string, Reply>())
  return (call) => {
    const item = latest.current?.item
    const hash = item === undefined ? '' : dialects.hashFor(item, call)
    const isOld = dialects.readsOldKeys(call)
    const isZip = item?.type === 'Group' && !dialects.knowsGroups(call)
    const kind = `${hash}${isOld ? '-old' : ''}${isZip ? '-zip' : ''}`
    const made = replies(item)
    let reply = made.get(kind)
    if (reply === undefined) {
      const encode = isOld ? encodeOldDocument : encodeDocument
      const document = encode(item, 'syncclipboard', isZip ? { hash, type: 'File' } : { hash })
      reply = makeReply(document, item === undefined ? `none${kind}` : `${tagOf(item)}-${kind}`)
      made.set(kind, reply)
    }
    return reply
  }
}

function remember<Made>(make: (item: Item | undefined) => Made): (item: Item | undefined) => Made {
  let made = make(undefined)
  let madeFor: Item | undefined
  return (item) => {
    if (item !== madeFor) {
      made = make(item)
      madeFor = item
    }
    return made
  }
}

/**
 * Node sends headers and a string in one piece, and a buffer in two, which takes half as long
 * again; but it encodes the string each time.
 */
const LONGEST_STRING = 4096

function makeReply(document: string, tag: string): Reply {
  return constantReply({
    status: 200,
    headers: ['Content-Type', 'application/json'],
    body: document.length > LONGEST_STRING ? Buffer.from(document) : document,
    etag: `"${tag}"`,
  })
}

function tagOf(item: Item | undefined): string {
  return item === undefined ? 'none' : `${item.activatedAt.toString(36)}-${item.contentHash}`
}

/** A later stamp of the same activation is another document. */
function peerTagOf(item: Item | undefined): string {
  const at = item?.stamp?.at ?? item?.activatedAt
  return at === undefined ? tagOf(item) : `${tagOf(item)}-${at.toString(36)}`
}

/** Applies a pushed document as if it had come from a peer desktop. */
export function putDocument(deps: HandlerDeps): Handler<Device> {
  const { inbound, records, dialects, maxMetadataBytes } = deps
  return async (call) => {
    const { hasData, usesOldKeys, stamp, ...document } = decodeDocument(
      await readJson(call, maxMetadataBytes),
    )
    const { type, dataName, hash } = document
    dialects.noteKeys(call, usesOldKeys)
    const isInline = type === 'Text' && !hasData
    // An item that came through the history may have come under another name.
    const kept = records.find(call.principal.id, { type, hash })
    const { contentId, item } = await inbound.apply({
      ...document,
      origin: originOf(call.principal, stamp),
      dataName: isInline ? '' : dataName,
      bytes: isInline ? { kind: 'none' } : { kind: 'staged', elseUnder: kept?.dataName },
    })
    dialects.notePush(call, hash, item)
    return json({ contentId })
  }
}

/** Phones have no say in the order of things: what they push happens now. */
function originOf({ id: deviceId, passwordHash, kind }: Device, stamp: Stamp | undefined): Origin {
  const login = { deviceId, passwordHash }
  const isPeer = kind === 'peer' && stamp !== undefined
  return isPeer ? { kind: 'peer', stamp, ...login } : { kind: 'device', ...login }
}
