/**
 * Puts what devices push on the system clipboard.
 *
 * @module
 */

import type { Origin } from '../ports/inbound-pipeline.ts'
import type { StoredItem } from '../ports/latest-item.ts'
import type { OfferedContent, SystemClipboard } from '../ports/system-clipboard.ts'
import type { ReceivedFolder } from './received-folder.ts'

export interface ClipboardWriterDeps {
  readonly clipboard: Pick<SystemClipboard, 'offer'>
  readonly received: Pick<ReceivedFolder, 'save'>
}

/**
 * Makes a function to be told of every item. It offers those that did not come from the clipboard
 * itself. Files land in the received folder and are offered as a file list; writing one takes its
 * time, and what became current meanwhile, also by a copy on the desktop, is not overwritten.
 */
export function createClipboardWriter({
  clipboard,
  received,
}: ClipboardWriterDeps): (stored: StoredItem, origin: Origin) => Promise<void> {
  let newest: StoredItem | undefined

  return async (stored, origin) => {
    newest = stored
    if (origin.kind === 'clipboard') return
    const content = await contentOf(stored)
    if (newest === stored) await clipboard.offer(content)
  }

  async function contentOf({ item, blob }: StoredItem): Promise<OfferedContent> {
    if (blob === undefined) return { kind: 'text', text: item.text }
    if (item.type === 'Image') return { kind: 'image', mediaType: item.mediaType, blob }
    const path = await received.save(blob, item.dataName, { sha256: item.contentHash })
    return { kind: 'files', paths: [path] }
  }
}
