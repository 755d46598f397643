/** `/Sync.json` and `/SyncClipboard.json`: the latest item, read and pushed. @module */

import { DomainError } from '../core/domain-error.ts'
import { isFileLike, isHash, type Item } from '../core/item.ts'
import { believedStamp, type Stamp } from '../core/stamp.ts'
import type { Handler } from '../http/call.ts'
import { readJson } from '../http/read-body.ts'
import { constantReply, json, type Reply } from '../http/reply.ts'
import { within } from '../lib/clock.ts'
import { encodeWithText } from '../lib/long-text.ts'
import type { Dialect, Principal } from '../ports/device-registry.ts'
import type { AppliedItem, InboundBytes, Origin } from '../ports/inbound-pipeline.ts'
import type { HandlerDeps } from './gateway-ports.ts'
import { isHashOf } from './transfer-hash.ts'
import { decodeDocument, encodeDocument, encodePeerDocument } from './wire/clipboard-document.ts'

/**
 * Answers with the document of the current item. Its entity tag changes with each activation.
 *
 * Phones poll this: the replies to an item are made once and then only sent.
 */
export function getDocument(deps: HandlerDeps, path: Dialect): Handler<Principal> {
  const { latest, circleTime } = deps
  if (path === 'syncclipboard') return getReferenceDocument(deps)
  const present = remember((item) =>
    makeReply(item, (item) => encodeDocument(item, path), tagOf(item)),
  )
  const believes = circleTime?.believes ?? (() => true)
  // Made each time: whether a stamp is believed changes with the clock.
  const forPeers = (item: Item | undefined): Reply => {
    const stamp = item?.stamp && believedStamp(item.stamp, believes)
    const tag = stamp ? `${tagOf(item)}-${stamp.at}-${stamp.member}` : tagOf(item)
    return makeReply(item, (item) => encodePeerDocument(item, stamp), tag)
  }
  return ({ principal }) => (principal.kind === 'peer' ? forPeers : present)(latest.current?.item)
}

/** As each client of the reference protocol reads it: there are a few kinds of them. */
function getReferenceDocument({ latest, dialects }: HandlerDeps): Handler<Principal> {
  const replies = remember(() => new Map<string, Reply>())
  return (call) => {
    const item = latest.current?.item
    const hash = item ? dialects.hashFor(item, call) : ''
    const isOld = dialects.readsOldKeys(call)
    const isZip = item?.type === 'Group' && !dialects.knowsGroups(call)
    const kind = `${hash}${isOld ? '-old' : ''}${isZip ? '-zip' : ''}`
    const made = replies(item)
    let reply = made.get(kind)
    if (!reply) {
      const instead = { hash, isOld, ...(isZip && ({ type: 'File' } as const)) }
      const tag = item ? `${tagOf(item)}-${kind}` : `none${kind}`
      const encode = (item: Item | undefined, length?: number): string =>
        encodeDocument(item, 'syncclipboard', instead, length)
      reply = makeReply(item, encode, tag)
      made.set(kind, reply)
    }
    return reply
  }
}

/** Remembers what was made for an item as long as the item is there, and not until the next one. */
function remember<Made extends object>(
  make: (item: Item | undefined) => Made,
): (item: Item | undefined) => Made {
  const ofNone = make(undefined)
  const made = new WeakMap<Item, Made>()
  return (item) => {
    if (!item) return ofNone
    let known = made.get(item)
    if (!known) {
      known = make(item)
      made.set(item, known)
    }
    return known
  }
}

/**
 * Node sends headers and a string in one piece, and a buffer in two, which takes half as long
 * again; but it encodes the string each time.
 */
const LONGEST_STRING = 4096

/** Most of what keeps files from being saved shows at once. */
const SAVING_MS = 5000

function makeReply(
  item: Item | undefined,
  encode: (item: Item | undefined, textLength?: number) => string,
  tag: string,
): Reply {
  const document = item ? encodeWithText(item, encode) : encode(item)
  const isLong = typeof document === 'string' && document.length > LONGEST_STRING
  return constantReply({
    status: 200,
    headers: ['Content-Type', 'application/json'],
    body: isLong ? Buffer.from(document) : document,
    etag: `"${tag}"`,
  })
}

function tagOf(item: Item | undefined): string {
  return item ? `${item.activatedAt.toString(36)}-${item.contentHash}` : 'none'
}

/** Applies a pushed document as if it had come from a peer desktop. */
export function putDocument(deps: HandlerDeps, path: Dialect): Handler<Principal> {
  const { inbound, staging, records, dialects, maxMetadataBytes, received, clock } = deps
  return async (call) => {
    const { hasData, usesOldKeys, stamp, batch, utf8, ...document } = decodeDocument(
      await readJson(call, maxMetadataBytes),
      path,
    )
    const { type, dataName, hash } = document
    const { id } = call.principal
    dialects.noteKeys(call, usesOldKeys)
    const isInline = type === 'Text' && !hasData && !batch
    // Those of a Group and its archive differ, whoever hashes.
    const isExact = isFileLike(type) && dialects.hashesAsWe(call)
    let bytes: InboundBytes =
      batch ?? (isInline && utf8 ? { kind: 'utf8', utf8 } : { kind: 'none' })
    let { text } = document
    if (!batch && !isInline) {
      // An item that came through the history may have come under another name.
      const { bytes: kept, record } = records.find(id, { type, hash }) ?? {}
      // Another computer of the account may have the text from a document, and no file to send.
      const isTold = type === 'Text' && !kept && record && isHashOf(hash, record.text)
      if (isTold) text = record.text
      else bytes = { kind: 'staged', kept, isExact }
    }
    // A Group is looked into in a turn of its own.
    if (type !== 'Text') call.endTurn()
    // A Text in a file is read whole.
    else if (!isInline) await call.waitForMemory()
    let applied: AppliedItem
    try {
      applied = await inbound.apply({
        ...document,
        text,
        origin: originOf(call.principal, stamp),
        dataName: isInline ? '' : dataName,
        bytes,
      })
    } catch (error) {
      // It may have left an upload out because it was told that the item is here.
      const isMissing = error instanceof DomainError && error.code === 'NOTHING_STAGED'
      if (isMissing && isHash(hash)) {
        // The same holds for a record that is here without what the document means.
        records.drop(id, { type, hash })
        const name = dataName || document.text
        const waiting = isExact ? staging.staged(id, name) : undefined
        const isForThatAlone = waiting !== undefined && waiting.knownAs === undefined
        dialects.noteMissing(call, isForThatAlone)
        // The same document again does not mean what has waited until now, either.
        if (isForThatAlone) await staging.bind(id, name)
      }
      throw error
    }
    const { contentId, item, saved } = applied
    dialects.notePush(call, hash, item)
    if (!batch) return json({ contentId })
    // Copying takes long for large files: those will be there in a moment.
    const isSaved = saved !== undefined && (await within(clock, SAVING_MS, saved, true))
    const { folder, isShared: clipboard } = (isSaved && received?.()) || {}
    return json({ contentId, files: batch.numbers.length, folder, clipboard })
  }
}

/** Phones have no say in the order of things: what they push happens now. */
function originOf(
  { id: deviceId, passwordHash, kind }: Principal,
  stamp: Stamp | undefined,
): Origin {
  const login = { deviceId, passwordHash }
  const isPeer = kind === 'peer' && stamp !== undefined
  return isPeer ? { kind: 'peer', stamp, ...login } : { kind: 'device', ...login }
}
