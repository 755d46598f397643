/** The client of another daemon: it sees stamps, and sends documents as they are. @module */

import type { ContentId } from '../core/content-id.ts'
import type { ClipboardDocument } from './decode-document.ts'
import { download, type Download, type DownloadOptions } from './download.ts'
import { getLatest, type LatestStamped } from './latest.ts'
import { putDocument, type OutgoingDocument, type PushOptions } from './push.ts'
import {
  openServer,
  type ByteSource,
  type Credentials,
  type Send,
  type ServerOptions,
} from './server.ts'
import { sendFile, type Upload } from './upload.ts'
import { watch, type WatchOptions } from './watch.ts'

/** A client of one daemon. Its methods fail as those of `Client` do. */
export interface DaemonClient {
  latest(options?: PushOptions): Promise<LatestStamped>
  download(
    document: Pick<ClipboardDocument, 'dataName' | 'hasData'>,
    options?: DownloadOptions,
  ): Promise<Download>
  watch(options?: WatchOptions): AsyncIterableIterator<LatestStamped, undefined>
  /** Sends bytes, for a document that names them. */
  upload(bytes: ByteSource, options: Upload): Promise<void>
  /** Sends a document as it is. */
  apply(document: OutgoingDocument, options?: PushOptions): Promise<ContentId>
}

/** Makes a client. Nothing is sent yet. @throws {ClientError} `SERVER_INVALID`. */
export function connectDaemon(
  credentials: Credentials,
  options: ServerOptions & { readonly send: Send },
): DaemonClient {
  const server = openServer(credentials, options)
  return {
    latest: ({ signal } = {}) => getLatest(server, { signal }),
    download: (document, given = {}) => download(server, document, given),
    watch: (given = {}) => watch(server, given),
    upload: (bytes, given) => sendFile(server, bytes, given),
    apply: (document, given = {}) => putDocument(server, document, given),
  }
}
