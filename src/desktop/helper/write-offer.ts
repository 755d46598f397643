/**
 * Puts something on the clipboard through its helper.
 *
 * @module
 */

import { formatBytes } from '../../lib/format-bytes.ts'
import type { Blob } from '../../ports/blob.ts'
import type { OfferedContent } from '../../ports/system-clipboard.ts'
import { decodeChangeReply, type ChangeReply } from './clipboard-messages.ts'
import { fillPrivateFile, withPrivateFile } from './private-file.ts'
import type { HelperCopyDeps } from './read-helper-copy.ts'

/**
 * Resolves when other programs can paste it. The system keeps a copy: the bytes of an image are not
 * read again.
 *
 * @throws {Error} When the image is too long, or the helper does not do it.
 */
export async function writeOffer(
  content: OfferedContent,
  { ask, dialect, limits }: HelperCopyDeps,
): Promise<ChangeReply> {
  // Systems hold it in memory, and so do the programs that paste it.
  if (content.kind === 'image' && content.blob.size > limits.maxImageBytes) {
    throw new Error(`The image is larger than ${formatBytes(limits.maxImageBytes)}`)
  }
  const type = dialect.typeOf(content)
  return withPrivateFile(async (file) => {
    await fillPrivateFile(file, bytesOf(content))
    return decodeChangeReply(await ask('write', { kind: content.kind, type, file }))
  })
}

function bytesOf(content: OfferedContent): Uint8Array | Blob {
  switch (content.kind) {
    case 'text':
      return Buffer.from(content.text)
    case 'files':
      return Buffer.from(JSON.stringify(content.paths))
    case 'image':
      return content.blob
  }
}
