/**
 * The protocol from the other side: a client of one server, on `fetch` alone.
 *
 * Runs wherever there is `fetch`. It stores and logs nothing, sends the password to its server
 * only, and nothing of the metadata of a connect link.
 * @module
 */

import type { ContentId } from '../core/content-id.ts'
import { parseConnectLink } from '../link/connect-link.ts'
import { download, type Download, type DownloadOptions } from './download.ts'
import type { ClipboardDocument } from './decode-document.ts'
import { getLatest, type LatestDocument, type LatestOptions } from './latest.ts'
import {
  pushFile,
  pushFiles,
  pushText,
  type FileToPush,
  type PushFileOptions,
  type PushOptions,
} from './push.ts'
import { openServer, sendWith, type Credentials, type Fetch, type Server } from './server.ts'
import { watch, type WatchOptions } from './watch.ts'

/** Options of {@link connect}. */
export interface ConnectOptions {
  /**
   * How long to wait while nothing moves, in milliseconds; 30 s unless said. Bodies that are sent
   * get a second for each 16 KiB besides.
   */
  readonly timeoutMs?: number
  /** Sends the requests, in place of the `fetch` of the runtime. */
  readonly fetch?: Fetch
}

/**
 * A client of one server. Every method rejects with a {@link ClientError}, or, when the caller's
 * signal aborts, with the reason of that signal.
 */
export interface Client {
  /** The document of the current item; `undefined` when it still is the one with the `etag`. */
  latest(options: LatestOptions & { readonly etag: string }): Promise<LatestDocument | undefined>
  latest(options?: Omit<LatestOptions, 'etag'>): Promise<LatestDocument>
  /** The bytes of a document that `hasData`. */
  download(
    document: Pick<ClipboardDocument, 'dataName' | 'hasData'>,
    options?: DownloadOptions,
  ): Promise<Download>
  /** Makes `text` the current item. An empty text changes nothing. */
  pushText(text: string, options?: PushOptions): Promise<ContentId>
  /**
   * Makes a file the current item, an image when its bytes are one. The blob is streamed: one of
   * `fs.openAsBlob()` is never whole in memory. One of 8 MiB or more goes on after a break, where
   * the server can do that.
   */
  pushFile(blob: Blob, options: PushFileOptions): Promise<ContentId>
  /**
   * Makes 1 to 500 files one item, a Group unless there is one. Each is sent as `pushFile` does;
   * but programs that do so at the same time need not choose other names. Several are for clipgate
   * only.
   */
  pushFiles(files: readonly FileToPush[], options?: PushOptions): Promise<ContentId>
  /**
   * The current item, and each one that becomes current from then on, also when it is the same one
   * again. It stays connected, reconnects for ever, and polls servers that cannot tell changes.
   * A slow reader gets the newest document, and not those in between.
   *
   * Nothing is sent before the first one is asked for. Leaving the loop ends everything.
   *
   * @throws {ClientError} `UNAUTHORIZED`: the device was revoked, or has another password. All
   *   other failures are only told to `onState`, and may pass.
   *
   * @example
   * ```ts
   * for await (const document of client.watch()) console.log(document.type, document.size)
   * ```
   */
  watch(options?: WatchOptions): AsyncIterableIterator<LatestDocument, undefined>
  /** Resolves when the server is there and accepts the password. */
  probe(options?: PushOptions): Promise<void>
}

/**
 * Makes a client. Nothing is sent yet.
 *
 * @param server A connect link, or the credentials in one.
 * @throws {LinkError} when the link cannot be parsed.
 * @throws {ClientError} `SERVER_INVALID`.
 *
 * @example
 * ```ts
 * const client = connect(link)
 * await client.pushText('hello')
 * const document = await client.latest()
 * ```
 */
export function connect(
  server: string | Credentials,
  { timeoutMs, fetch: given }: ConnectOptions = {},
): Client {
  const credentials = typeof server === 'string' ? readLink(server) : server
  return connectTo(openServer(credentials, { timeoutMs, send: sendWith(given) }))
}

/** Makes a client of a server that was opened. */
export function connectTo(opened: Server): Client {
  return {
    // Without an `etag` there always is a document.
    latest: ((options: LatestOptions = {}) => getLatest(opened, options)) as Client['latest'],
    download: (document, options = {}) => download(opened, document, options),
    pushText: (text, options = {}) => pushText(opened, text, options),
    pushFile: (blob, options) => pushFile(opened, blob, options),
    pushFiles: (files, options = {}) => pushFiles(opened, files, options),
    watch: (options = {}) => watch(opened, options),
    probe: async (options = {}) => {
      await getLatest(opened, options)
    },
  }
}

function readLink(link: string): Credentials {
  const { url, user: username, pwd: password } = parseConnectLink(link)
  return { url, username, password }
}
