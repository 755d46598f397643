/**
 * `clipgate`: the daemon, and the gateway for a server of one's own.
 *
 * @module
 */

export { DomainError, type DomainErrorCode } from './core/domain-error.ts'
export type { ContentId } from './core/content-id.ts'
export type { Item } from './core/item.ts'
export type { ItemType } from './core/item-type.ts'
export {
  openClipboard,
  type Clipboard,
  type OpenClipboardOptions,
} from './daemon/open-clipboard.ts'
export { loadSettings, SettingsError, type SettingSources } from './daemon/load-settings.ts'
export type { Settings } from './daemon/settings.ts'
export {
  startDaemon,
  type Daemon,
  type Ready,
  type StartDaemonOptions,
} from './daemon/start-daemon.ts'
export { createGateway, type Gateway } from './gateway/create-gateway.ts'
export type { GatewayOptions, GatewayPorts } from './gateway/gateway-ports.ts'
