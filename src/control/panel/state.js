// @ts-check
/**
 * What the daemon tells about itself, as `GET /state` and the event stream say it. Absent members
 * are `null` or left out.
 *
 * @module
 */

/**
 * @typedef {object} Item
 * @property {'Text' | 'Image' | 'File' | 'Group'} type
 * @property {string} dataName
 * @property {string} mediaType
 * @property {number} size
 * @property {string} contentId
 * @property {number} activatedAtMs
 * @property {'text' | 'image' | null} preview
 */

/**
 * @typedef {object} Device
 * @property {string} id
 * @property {string} label
 * @property {string} username
 * @property {'phone' | 'peer'} kind
 * @property {string} createdAt
 * @property {string | null} [lastSeenAt]
 * @property {string | null} [lastSeenAddress]
 * @property {string | null} [lastClient]
 * @property {number} streams
 * @property {boolean} active
 */

/**
 * @typedef {object} Listener
 * @property {'gateway' | 'control'} name
 * @property {string[]} urls
 * @property {string | null} [error]
 */

/**
 * @typedef {object} Peer
 * @property {string} name
 * @property {'stopped' | 'connecting' | 'connected' | 'polling' | 'waiting' | 'refused'} state
 * @property {string | null} [error]
 */

/**
 * @typedef {object} Bus
 * @property {string[]} urls
 * @property {'connecting' | 'connected' | 'waiting'} state
 * @property {string | null} [error]
 * @property {string} group
 * @property {number} members
 * @property {number} refused
 */

/**
 * @typedef {object} Status
 * @property {string} version
 * @property {string | null} [startedAt]
 * @property {'desktop' | 'headless' | null} [mode]
 * @property {string} clipboard
 * @property {string | null} [clipboardError]
 * @property {string | null} [devicesError]
 * @property {{ dataDir: string, stagedUploads: number, stagedBytes: number, freeBytes: number }} storage
 * @property {Listener[]} listeners
 * @property {Peer[]} peers
 * @property {Bus | null} [bus]
 * @property {{ untilMs: number | null } | null} [paused]
 */

/**
 * @typedef {object} Address
 * @property {string} url
 * @property {string} via
 * @property {'lan' | 'overlay' | 'public' | 'loopback'} kind
 */

/**
 * @typedef {object} PanelState
 * @property {number} serverTimeMs
 * @property {Status} status
 * @property {Item | null} item
 * @property {Device[]} devices
 * @property {Address[]} addresses
 */

/**
 * @typedef {object} Pairing
 * @property {string} id
 * @property {string} label
 * @property {string} username
 * @property {string} password
 * @property {string} url
 * @property {string} link
 * @property {string | null} [warning]
 * @property {string[]} qr
 */

/**
 * Reads a state. The daemon that serves this page made it, so only its outline is checked.
 *
 * @param {string} text
 * @returns {PanelState}
 * @throws {TypeError} when it is something else.
 */
export function parseState(text) {
  const value = JSON.parse(text)
  const isState = Array.isArray(value?.devices) && Array.isArray(value.status?.listeners)
  if (!isState) throw new TypeError('Cannot read the state of the daemon')
  const item = value.item == null ? null : { ...value.item, preview: value.item.preview ?? null }
  return { ...value, item }
}
