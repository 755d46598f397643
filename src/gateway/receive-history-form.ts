/**
 * Reads `POST /api/history`: the description of an item, and its bytes if they come with it.
 *
 * What the bytes are called, and even what they are, may stand behind them in the form. So they
 * are received first, and named when the form has ended.
 * @module
 */

import { isDataName } from '../core/data-name.ts'
import { classifyMediaType, SNIFF_LENGTH } from '../core/media-type.ts'
import type { Call } from '../http/call.ts'
import { HttpError } from '../http/http-error.ts'
import type { Part } from '../http/multipart.ts'
import { declaredLength, readBytes } from '../http/read-body.ts'
import { readUrlencoded } from '../http/urlencoded.ts'
import { readStart } from '../lib/read-bytes.ts'
import type { Device, Login } from '../ports/device-registry.ts'
import type { ReceivedUpload } from '../ports/staging-area.ts'
import type { HandlerDeps } from './gateway-ports.ts'
import { checkTransferHash, readTransferHash } from './transfer-hash.ts'
import { isDataPart, isMultipart, readMultipartForm } from './read-form.ts'
import { FieldPicker } from './wire/field-picker.ts'
import { decodeHistoryForm, HISTORY_FORM_FIELDS, type HistoryForm } from './wire/history-form.ts'

/** Bytes that came with a form. The upload must be ended. */
export interface ReceivedFile {
  readonly upload: ReceivedUpload
  readonly dataName: string
  readonly mediaType: string
}

/** A form that was read, with its file if it had one. */
export interface ReceivedForm {
  readonly form: HistoryForm
  readonly file: ReceivedFile | undefined
}

/** The name of bytes that nobody has named. */
const DEFAULT_NAME = 'clipboard.bin'

/** The file of a form, before anything but its own header is known. */
interface FilePart {
  readonly upload: ReceivedUpload
  /** The one that is meant; another one may have to give way to it. */
  readonly isData: boolean
  readonly fileName: string
  readonly contentType: string | undefined
}

/**
 * Reads a form to its end.
 *
 * @throws {HttpError} `BAD_BODY`, `BAD_NAME`, `history_data_invalid`, and as the readers of bodies;
 *   {DomainError} as `StagingArea.receive`. Nothing is left of its bytes then.
 */
export async function receiveHistoryForm(
  call: Call<Device>,
  deps: HandlerDeps,
): Promise<ReceivedForm> {
  const fields = new FieldPicker<string>(HISTORY_FORM_FIELDS)
  if (!isMultipart(call.request)) {
    readUrlencoded(await readBytes(call, deps.maxMetadataBytes), fields)
    return { form: decodeHistoryForm(fields.fields), file: undefined }
  }

  const { staging, maxFileBytes } = deps
  const promised = readTransferHash(call.request)
  const { id: deviceId, passwordHash } = call.principal
  const login = { deviceId, passwordHash }
  const length = declaredLength(call.request)
  // The fields around the file count too; how much that is shows only behind it.
  const declaredSize = length === undefined ? undefined : Math.min(length, maxFileBytes)
  await staging.admit({ ...login, declaredSize })

  let file: FilePart | undefined
  const discardFile = async (): Promise<void> => {
    const unwanted = file
    file = undefined
    await unwanted?.upload.discard()
  }
  try {
    await readMultipartForm(call, fields, deps, async (part) => {
      if (file !== undefined && (file.isData || !isDataPart(part))) return
      checkFileName(part)
      await discardFile()
      file = await receivePart(part, login, deps)
    })
    if (file !== undefined) checkTransferHash(promised, file.upload.blob)
    file?.upload.keep()
    const form = decodeHistoryForm(fields.fields)
    // Some clients add an empty file to every text; it must not take the text's place.
    if (form.type === 'Text' && file?.upload.blob.size === 0) await discardFile()
    return { form, file: file === undefined ? undefined : await nameFile(file, form) }
  } catch (error) {
    await discardFile()
    throw error
  }
}

async function receivePart(
  part: Part,
  login: Login,
  { staging, transfers }: Pick<HandlerDeps, 'staging' | 'transfers'>,
): Promise<FilePart> {
  const { fileName = '', contentType } = part
  let bytes = 0
  const { deviceId } = login
  const name = fileName === '' ? DEFAULT_NAME : fileName
  // The length of the form is not that of the file.
  const transfer = {
    direction: 'in',
    deviceId,
    name,
    total: undefined,
    bytes: () => bytes,
  } as const
  const end = transfers?.begin(transfer)
  try {
    const source = { ...login, declaredSize: undefined }
    const upload = await staging.receive(
      source,
      counted(part.bytes, (count) => (bytes += count)),
    )
    return { upload, isData: isDataPart(part), fileName, contentType }
  } finally {
    end?.()
  }
}

async function* counted(
  chunks: AsyncIterable<Uint8Array>,
  count: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    count(chunk.length)
    yield chunk
  }
}

async function nameFile(
  { upload, fileName, contentType }: FilePart,
  { dataName, text }: HistoryForm,
): Promise<ReceivedFile> {
  // A text may be anything; that it is no name is no reason to refuse the bytes.
  const names = [fileName, dataName, isDataName(text) ? text : '']
  const name = names.find((candidate) => candidate !== '') ?? DEFAULT_NAME
  const head = await readStart(upload.blob, SNIFF_LENGTH)
  return { upload, dataName: name, mediaType: classifyMediaType(contentType, head, name) }
}

function checkFileName({ fileName = '' }: Part): void {
  if (fileName === '' || isDataName(fileName)) return
  throw new HttpError('BAD_NAME', { detail: 'the file name is not a plain one' })
}
