/**
 * Makes a PNG of a photo, for programs that paste nothing else: browsers, what is made of them, and
 * most of what writes documents.
 *
 * The decoders are packages, and are loaded in a worker that is ended behind each picture:
 * nothing of them is in memory while nobody pastes. See decision 061.
 * @module
 */

import { Worker } from 'node:worker_threads'
import { essenceOf } from '../core/media-type.ts'
import { MIB } from '../core/limits.ts'
import { systemClock } from '../lib/clock.ts'
import { ownFile, packageFile } from '../lib/program-files.ts'
import { readWhole } from '../lib/read-bytes.ts'
import { Semaphore } from '../lib/semaphore.ts'
import type { Blob } from '../ports/blob.ts'
import { readImageSize } from './image-size.ts'
import type { OfferedContent } from '../ports/system-clipboard.ts'
import {
  bytesInMemory,
  sameType,
  type OfferedBytes,
  type OfferedFormat,
} from './offered-formats.ts'
import type { PhotoTask } from './photo-task.ts'

/** The packages by what they decode. */
const DECODERS: Readonly<Record<string, () => Pick<PhotoTask, 'script' | 'wasm'>>> = {
  'image/jpeg': () => ({
    script: packageFile('@jsquash/jpeg/decode.js', 'jpeg.js'),
    wasm: packageFile('@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm', 'jpeg.wasm'),
  }),
  'image/webp': () => ({
    script: packageFile('@jsquash/webp/decode.js', 'webp.js'),
    wasm: packageFile('@jsquash/webp/codec/dec/webp_dec.wasm', 'webp.wasm'),
  }),
}

/** Phones make photos of up to 50 million; each takes nine bytes while it is converted. */
const MAX_PIXELS = 50_000_000

const MAX_PHOTO_BYTES: number = 64 * MIB

/**
 * The memory that a decoder takes at most, measured with progressive JPEGs of all colours that have
 * to be turned: for each pixel, for each byte of the photo, and for itself.
 */
const DECODER_BYTES = { pixel: 16, photo: 2, base: 32 * MIB }

/** A large photo takes about two seconds. */
const PATIENCE_MS = 30_000

/** One picture at a time: each may take hundreds of megabytes. */
const queue = new Semaphore(1)

/** The format besides its own in which a photo is pasted: it is made once a program asks for it. */
export function pngFormats(content: OfferedContent): readonly OfferedFormat[] {
  if (content.kind !== 'image' || !canBePng(content.mediaType)) return []
  const { blob, mediaType } = content
  let made: Promise<OfferedBytes> | undefined
  const bytes = async (): Promise<OfferedBytes> => {
    made ??= photoAsPng(blob, mediaType)
    try {
      return await made
    } catch (error) {
      made = undefined
      throw error
    }
  }
  return [sameType('image/png', bytes)]
}

/** Whether photos of a type can be converted: there is a decoder for it. */
export function canBePng(mediaType: string): boolean {
  return DECODERS[essenceOf(mediaType)] !== undefined
}

/**
 * Converts a photo, as it stands upright.
 *
 * @throws {Error} When it is too large, or damaged; what reading it throws.
 * @throws `signal.reason` when aborted.
 */
export async function photoAsPng(
  blob: Blob,
  mediaType: string,
  signal?: AbortSignal,
): Promise<OfferedBytes> {
  const decoder = DECODERS[essenceOf(mediaType)]
  if (decoder === undefined) throw new Error('Cannot convert the photo: there is no decoder')
  const size = await readImageSize(blob)
  const pixels = size === undefined ? Infinity : size.width * size.height
  if (pixels > MAX_PIXELS || blob.size > MAX_PHOTO_BYTES) {
    throw new Error('Cannot convert a photo of this size')
  }
  const { pixel, photo: byte, base } = DECODER_BYTES
  const maxBytes = pixel * pixels + byte * blob.size + base
  return queue.run(async () => {
    const photo = await readWhole(blob)
    signal?.throwIfAborted()
    return bytesInMemory(await convert({ photo, pixels, maxBytes, ...decoder() }, signal))
  })
}

function convert(task: PhotoTask, signal: AbortSignal | undefined): Promise<Uint8Array> {
  const worker = new Worker(ownFile('./photo-worker.js', import.meta.url), {
    workerData: task,
    // Decoders complain of damaged pictures, which is for nobody.
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: 64 },
  })
  const ended = new Promise<Uint8Array>((resolve, reject) => {
    const late = new Error('Converting the photo takes too long')
    const cancelTimeout = systemClock.after(PATIENCE_MS, () => reject(late))
    signal?.addEventListener('abort', () => reject(signal.reason))
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', () => {
      cancelTimeout()
      reject(new Error('Cannot convert the photo'))
    })
  })
  return ended.finally(() => worker.terminate())
}
