/**
 * What commands ask of a running daemon, and of nobody else.
 *
 * @module
 */

import { decodeString, objectOf } from '../lib/decoder.ts'
import type { Panel } from '../ports/panel.ts'
import { decodePause } from './admin-wire.ts'
import { callControl, type ControlAddress } from './call-control.ts'

export interface PanelClient extends Pick<Panel, 'pause' | 'resume'> {
  /** The URL that opens the panel in a browser, for as long as this daemon runs. */
  panelUrl(): Promise<string>
}

const decodeAddress = objectOf({ url: decodeString })
const decodeNothing = objectOf({})

/** Every method throws `ControlUnreachableError`, or what the daemon says went wrong. */
export function createPanelClient(address: ControlAddress): PanelClient {
  return {
    panelUrl: async () => {
      const question = { method: 'GET', path: '/panel', decode: decodeAddress }
      return (await callControl(address, question)).url
    },
    pause: (durationMs) => {
      const body = { durationMs: durationMs ?? null }
      return callControl(address, { method: 'POST', path: '/pause', decode: decodePause, body })
    },
    resume: async () => {
      await callControl(address, { method: 'DELETE', path: '/pause', decode: decodeNothing })
    },
  }
}
