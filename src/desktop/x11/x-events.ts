/**
 * The X events that matter to selections, in plain words.
 * @module
 */

import type { X11Event } from './x11-library.ts'

/** Times are server times: milliseconds that wrap after 49 days. 0 stands for no window. */
export type SelectionEvent =
  /** From XFIXES: somebody took a selection, or (`owner` 0) it has no owner any more. */
  | {
      readonly kind: 'ownerChanged'
      readonly selection: number
      readonly owner: number
      readonly time: number
    }
  /** We lost a selection. */
  | { readonly kind: 'cleared'; readonly selection: number; readonly time: number }
  | SelectionRequest
  | ConversionAnswer
  | {
      readonly kind: 'property'
      readonly window: number
      readonly property: number
      readonly isDeleted: boolean
      readonly time: number
    }
  | { readonly kind: 'destroyed'; readonly window: number }

/** The answer to a conversion that we asked for; `property` 0 when it was refused. */
export interface ConversionAnswer {
  readonly kind: 'converted'
  readonly target: number
  readonly property: number
  readonly time: number
}

/** Somebody wants what we offer. */
export interface SelectionRequest {
  readonly kind: 'requested'
  readonly requestor: number
  readonly selection: number
  readonly target: number
  readonly property: number
  readonly time: number
}

const DESTROY_NOTIFY = 17
const PROPERTY_NOTIFY = 28
const SELECTION_CLEAR = 29
const SELECTION_REQUEST = 30
const SELECTION_NOTIFY = 31

const PROPERTY_DELETED = 1

/**
 * Reads an event by its type: two different events are both named `SelectionNotify`.
 *
 * @param xfixesSelectionNotify Type of the one from XFIXES, which differs between servers.
 */
export function decodeEvent(
  event: X11Event,
  xfixesSelectionNotify: number,
): SelectionEvent | undefined {
  const { selection, target, property, time } = event
  switch (event.type) {
    case xfixesSelectionNotify:
      return { kind: 'ownerChanged', selection, owner: event.owner, time: event.timestamp }
    case SELECTION_CLEAR:
      return { kind: 'cleared', selection, time }
    case SELECTION_REQUEST:
      return { kind: 'requested', requestor: event.requestor, selection, target, property, time }
    case SELECTION_NOTIFY:
      return { kind: 'converted', target, property, time }
    case PROPERTY_NOTIFY: {
      const isDeleted = event.state === PROPERTY_DELETED
      return { kind: 'property', window: event.wid, property: event.atom, isDeleted, time }
    }
    case DESTROY_NOTIFY:
      return { kind: 'destroyed', window: event.wid }
    default:
      return undefined
  }
}
