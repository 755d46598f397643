/** `clipgate/link`: connect links, for any JavaScript runtime. @module */

export {
  formatConnectLink,
  MAX_LINK_LENGTH,
  parseConnectLink,
  type ConnectPayload,
  type ParsedLink,
} from './link/connect-link.ts'
export {
  LinkError,
  type LinkDecodeCode,
  type LinkEncodeCode,
  type LinkErrorCode,
} from './link/link-error.ts'
export { redactLink, REDACTED, type RedactedLink } from './link/connect-link.ts'
