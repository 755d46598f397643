/** `POST /api/history/query`: a list of one record, or of none. @module */

import type { Call, Handler } from '../http/call.ts'
import { parseJson } from '../http/json-body.ts'
import { readBytes } from '../http/read-body.ts'
import { encodedJson, json } from '../http/reply.ts'
import { readUrlencoded } from '../http/urlencoded.ts'
import { encodeWithText } from '../lib/long-text.ts'
import type { Device } from '../ports/device-registry.ts'
import type { HandlerDeps } from './gateway-ports.ts'
import { isMultipart, readMultipartForm } from './read-form.ts'
import { FieldPicker, type Fields } from './wire/field-picker.ts'
import { decodeHistoryFilter, HISTORY_FILTER_FIELDS, isWanted } from './wire/history-filter.ts'
import { encodeRecord } from './wire/history-record.ts'
import { pickFields } from './wire/json-fields.ts'

const JSON_TYPE = /^[^;]*\bjson\b/i

/** JSON, whatever it is called: `curl -d` calls it a form. */
const JSON_OBJECT = /^\s*\{/

/** Answers with the record of the current item, if that is one of those asked for. */
export function queryHistory(deps: HandlerDeps): Handler<Device> {
  const { latest, dialects, maxMetadataBytes } = deps
  return async (call) => {
    const filter = decodeHistoryFilter(await readFields(call, maxMetadataBytes))
    const item = latest.current?.item
    if (item === undefined || !isWanted(item, filter)) return json([])
    const hash = dialects.hashFor(item, call)
    return encodedJson(encodeWithText(item, (item) => JSON.stringify([encodeRecord(item, hash)])))
  }
}

async function readFields(call: Call, maxMetadataBytes: number): Promise<Fields> {
  const picker = new FieldPicker<string>(HISTORY_FILTER_FIELDS)
  if (isMultipart(call.request)) {
    // Files mean nothing here.
    const limits = { maxBody: maxMetadataBytes, maxFileBytes: maxMetadataBytes, maxMetadataBytes }
    await readMultipartForm(call, picker, limits, async () => undefined)
    return picker.fields
  }
  const body = await readBytes(call, maxMetadataBytes)
  if (isJson(call, body)) return pickFields(parseJson(body), HISTORY_FILTER_FIELDS)
  readUrlencoded(body, picker)
  return picker.fields
}

function isJson({ request }: Call, body: Uint8Array): boolean {
  if (body.length === 0) return false
  if (JSON_TYPE.test(request.headers['content-type'] ?? '')) return true
  return JSON_OBJECT.test(Buffer.from(body.subarray(0, 16)).toString('latin1'))
}
