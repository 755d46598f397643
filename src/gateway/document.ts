/** `/Sync.json` and `/SyncClipboard.json`: the latest item, read and pushed. @module */

import type { Item } from '../core/item.ts'
import type { Stamp } from '../core/stamp.ts'
import type { Call, Handler } from '../http/call.ts'
import { readJson } from '../http/read-body.ts'
import { json, type Reply } from '../http/reply.ts'
import { constantReply } from '../http/reply-headers.ts'
import type { Device, Dialect } from '../ports/device-registry.ts'
import type { Origin } from '../ports/inbound-pipeline.ts'
import { readsOldKeys } from './dialect.ts'
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
 * Phones poll this: the reply is made once for each item and then only sent.
 */
export function getDocument(
  { latest, devices, circleTime }: HandlerDeps,
  dialect: Dialect,
): Handler<Device> {
  const present = remember((item) => makeReply(encodeDocument(item, dialect), tagOf(item)))
  if (dialect === 'sync') {
    const believes = circleTime?.believes ?? (() => true)
    const forPeers = remember((item) =>
      makeReply(encodePeerDocument(item, believes), peerTagOf(item)),
    )
    return ({ principal }) => (principal.kind === 'peer' ? forPeers : present)(latest.current?.item)
  }
  const old = remember((item) => makeReply(encodeOldDocument(item, dialect), `${tagOf(item)}-old`))
  return (call) => (readsOldKeys(call, devices) ? old : present)(latest.current?.item)
}

function remember(make: (item: Item | undefined) => Reply): (item: Item | undefined) => Reply {
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
  const { inbound, records, maxMetadataBytes } = deps
  return async (call) => {
    const { hasData, usesOldKeys, stamp, ...document } = decodeDocument(
      await readJson(call, maxMetadataBytes),
    )
    const { type, dataName, hash } = document
    noteKeys(call, usesOldKeys, deps)
    const isInline = type === 'Text' && !hasData
    // An item that came through the history may have come under another name.
    const kept = records.find(call.principal.id, { type, hash })
    const { contentId } = await inbound.apply({
      ...document,
      origin: originOf(call.principal, stamp),
      dataName: isInline ? '' : dataName,
      bytes: isInline ? { kind: 'none' } : { kind: 'staged', elseUnder: kept?.dataName },
    })
    return json({ contentId })
  }
}

/** Phones have no say in the order of things: what they push happens now. */
function originOf({ id: deviceId, passwordHash, kind }: Device, stamp: Stamp | undefined): Origin {
  const login = { deviceId, passwordHash }
  const isPeer = kind === 'peer' && stamp !== undefined
  return isPeer ? { kind: 'peer', stamp, ...login } : { kind: 'device', ...login }
}

/** Who writes the old keys reads no others. */
function noteKeys(
  { request, principal, address }: Call<Device>,
  usesOldKeys: boolean,
  { devices, clock }: HandlerDeps,
): void {
  if ((devices.find(principal.id)?.usesOldKeys ?? false) === usesOldKeys) return
  const client = request.headers['user-agent']
  devices.noteSighting(principal.id, { at: clock.now(), address, client, usesOldKeys })
}
