/** The ports that the protocol needs, and the options it takes. @module */

import type { IncomingHttpHeaders } from 'node:http'
import type { ChangeFeed } from '../ports/change-feed.ts'
import type { Clock } from '../lib/clock.ts'
import type { CredentialVerifier } from '../ports/credential-verifier.ts'
import type { DeviceRegistry } from '../ports/device-registry.ts'
import type { CircleTime } from '../ports/circle-time.ts'
import type { InboundPipeline } from '../ports/inbound-pipeline.ts'
import type { LatestItem } from '../ports/latest-item.ts'
import type { Logger } from '../ports/logger.ts'
import type { RecentItems } from '../ports/panel.ts'
import type { StagingArea } from '../ports/staging-area.ts'
import type { Transfers } from '../ports/transfers.ts'
import type { FindTrustFile, TrustFile } from '../ports/trust-file.ts'
import type { FormLimits } from './read-form.ts'
import type { Dialects } from './dialect.ts'
import type { RememberedRecords } from './remembered-records.ts'

/** The ports that the protocol needs. */
export interface GatewayPorts {
  readonly devices: DeviceRegistry
  readonly verifier: CredentialVerifier
  readonly latest: LatestItem
  readonly staging: StagingArea
  readonly inbound: InboundPipeline
  readonly changes: ChangeFeed
  readonly clock: Clock
  readonly logger: Logger
  /**
   * Hears of each login with a wrong password, whether there is a device of that name or not.
   *
   * @returns The id of the device, if there is one.
   */
  readonly onLoginRefused?:
    | ((username: string, address: string | undefined) => string | undefined)
    | undefined
  /** Whether what is behind these ports is closed: requests are refused with 503. */
  readonly isClosed?: (() => boolean) | undefined
  /** Needed where there is a circle. */
  readonly circleTime?: CircleTime | undefined
  /** Where pushed files land, as it is now; `undefined` where they land nowhere. */
  readonly received?: (() => ReceivedPlace | undefined) | undefined
  /** The machine, where the phone page may show something of it. */
  readonly computer?: Computer | undefined
  /** Hears of files that come and go. */
  readonly transfers?: Pick<Transfers, 'begin'> | undefined
}

/** Where pushed files land. */
export interface ReceivedPlace {
  /** The name of the folder, for people who see the machine. */
  readonly folder: string
  /** Whether pushes come onto the clipboard of the system, and are not held back. */
  readonly isShared: boolean
}

/** The machine, for the people who have its phone page open. */
export interface Computer {
  /**
   * By what phones know it again where they are refused: {@link GatewayOptions.trust} gives the
   * second half to whoever has the first.
   */
  readonly id?: string | undefined
  readonly name: string
  readonly recent: Pick<RecentItems, 'list'>
  /** Whether phones get the recent items. */
  readonly showsRecent: boolean
  /** How it is reached with HTTPS, as it is now; `undefined` where it is not. */
  readonly https?: (() => SecureWay | undefined) | undefined
  /** Whether nothing is shared with its clipboard right now. */
  isPaused(): boolean
  /** Calls `listener` whenever that may have changed. @returns Ends the subscription. */
  onChange(listener: () => void): () => void
}

/** The way to a gateway with HTTPS. */
export interface SecureWay {
  /** Base URLs, the likeliest first. */
  readonly urls: readonly string[]
  /** Whether phones have to be told at `/phone/trust` to trust it. */
  readonly needsTrust: boolean
}

/** The ports and limits that every handler of devices gets. */
export interface HandlerDeps extends GatewayPorts, FormLimits {
  readonly records: RememberedRecords
  readonly dialects: Dialects
}

/** Finds a page for a request by its method and header fields. */
export type FindWelcome = (method: string, headers: IncomingHttpHeaders) => TrustFile | undefined

/** The options of a gateway. */
export interface GatewayOptions {
  /** Version of the program, as `/api/version` tells it. */
  readonly version: string
  /** Base URL under which clients reach the gateway, when it is not the one they connect to. */
  readonly publicUrl?: string | undefined
  /** Addresses of proxies whose `X-Forwarded-For` counts. */
  readonly trustedProxies?: readonly string[]
  readonly maxFileBytes?: number
  readonly maxMetadataBytes?: number
  /** Whether `/phone` is served; it is unless `false`. */
  readonly phonePage?: boolean | undefined
  /** Finds what stands at a path below `/phone/trust`, `''` for the page itself; else 404. */
  readonly trust?: FindTrustFile | undefined
  /** Finds what is shown at `/` to whoever is refused there, if not the problem. */
  readonly welcome?: FindWelcome | undefined
  /** Pause between the pings of an event stream. */
  readonly heartbeatMs?: number | undefined
  /** While true, requests are refused with 503. */
  readonly isDraining?: () => boolean
}
