/**
 * `/Sync.json` and `/SyncClipboard.json`: the latest item, read and pushed.
 *
 * @module
 */

import type { Item } from '../core/item.ts'
import type { Handler } from '../http/call.ts'
import { readJson } from '../http/read-body.ts'
import { json, type Reply } from '../http/reply.ts'
import type { Device, Dialect } from '../ports/device-registry.ts'
import type { InboundPipeline } from '../ports/inbound-pipeline.ts'
import type { LatestItem } from '../ports/latest-item.ts'
import { decodeDocument, encodeDocument } from './wire/clipboard-document.ts'

export interface GetDocumentDeps {
  readonly latest: Pick<LatestItem, 'current'>
}

/**
 * Answers with the document of the current item. Its entity tag changes with each activation.
 *
 * Phones poll this: the reply is made once for each item and then only sent.
 */
export function getDocument({ latest }: GetDocumentDeps, dialect: Dialect): Handler<Device> {
  let made = makeReply(undefined, dialect)
  let madeFor: Item | undefined

  return () => {
    const item = latest.current?.item
    if (item !== madeFor) {
      made = makeReply(item, dialect)
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

function makeReply(item: Item | undefined, dialect: Dialect): Reply {
  const document = encodeDocument(item, dialect)
  return {
    status: 200,
    headers: ['Content-Type', 'application/json'],
    body: document.length > LONGEST_STRING ? Buffer.from(document) : document,
    etag: item === undefined ? '"none"' : `"${item.activatedAt.toString(36)}-${item.contentHash}"`,
  }
}

export interface PutDocumentDeps {
  readonly inbound: InboundPipeline
  /** The longest body, in bytes. */
  readonly maxMetadataBytes: number
}

/** Applies a pushed document as if it had come from a peer desktop. */
export function putDocument({ inbound, maxMetadataBytes }: PutDocumentDeps): Handler<Device> {
  return async (call) => {
    const { type, text, hasData, dataName, hash } = decodeDocument(
      await readJson(call, maxMetadataBytes),
    )
    const isInline = type === 'Text' && !hasData
    const { contentId } = await inbound.apply({
      origin: { kind: 'device', deviceId: call.principal.id },
      type,
      text,
      dataName: isInline ? '' : dataName,
      hash,
      bytes: { kind: isInline ? 'none' : 'staged' },
    })
    return json({ contentId })
  }
}
