/** `clipgate/client`: a client of the protocol, for any JavaScript runtime with `fetch`. @module */

export { connect, type Client, type ConnectOptions } from './client/connect.ts'
export {
  ClientError,
  type ClientErrorCode,
  type ClientErrorDetails,
} from './client/client-error.ts'
export type { ClipboardDocument } from './client/decode-document.ts'
export type { Download, DownloadOptions, DownloadRange } from './client/download.ts'
export type { WatchState } from './client/follower.ts'
export type { LatestDocument, LatestOptions } from './client/latest.ts'
export type { FileToPush, PushFileOptions, PushOptions } from './client/push.ts'
export type { Credentials, Fetch, FetchInit } from './client/server.ts'
export type { WatchOptions } from './client/watch.ts'
export type { ContentId } from './core/content-id.ts'
export type { ItemType } from './core/item.ts'
