/**
 * Types for the part of the `x11` package that this room uses, which has none of its own; and the
 * loading of it.
 *
 * The package is CommonJS: it is loaded when a clipboard is opened, and not before.
 * A module with types and not a `.d.ts`, because those are not published with the build.
 * @module
 */

import { createRequire } from 'node:module'
import type { Duplex } from 'node:stream'
import { packageFile } from '../../lib/program-files.ts'

/** Gets an error or a result; true says that the error was dealt with. */
export type X11Callback<T> = (error: Error | null | undefined, result: T) => boolean

interface X11Library {
  createClient(
    options: {
      readonly display: string
      /** Without it the library opens one, and tries TCP when there is no local server. */
      readonly stream: Duplex
      /** Present but undefined: reads `XAUTHORITY`, which it would not for a stream. */
      readonly auth: undefined
      readonly shm: false
      readonly disableBigRequests: true
    },
    onReady: (error: Error | undefined, display: X11Display) => void,
  ): X11Client
}

/** The display that the package hands over. */
export interface X11Display {
  readonly screen: readonly { readonly root: number }[]
  /** In units of four bytes. */
  readonly max_request_length: number
}

/** An event. Which fields it has depends on its type; the other ones are not there. */
export interface X11Event {
  readonly type: number
  readonly wid: number
  readonly atom: number
  readonly state: number
  readonly owner: number
  readonly requestor: number
  readonly selection: number
  readonly target: number
  readonly property: number
  readonly time: number
  /** `time` is called so in events of XFIXES. */
  readonly timestamp: number
}

/** The value of a property. */
export interface X11Property {
  /** 0 when there is no such property. */
  readonly type: number
  readonly bytesAfter: number
  readonly data: Buffer
}

/** The extension XFIXES, version 2 and later. */
export interface XFixes {
  readonly firstEvent: number
  SelectSelectionInput(window: number, selection: number, eventMask: number): void
}

/** A connection of the package. */
export interface X11Client {
  /** Known atoms. One object for all connections: to be replaced, see `openClient`. */
  atoms: Record<string, number>
  atom_names: Record<number, string>
  on(event: 'event', listener: (event: X11Event) => void): this
  on(event: 'error', listener: (error: Error) => void): this
  require(extension: 'fixes', callback: (error: Error | null, fixes: XFixes) => void): void
  AllocID(): number
  InternAtom(onlyIfExists: boolean, name: string, callback: X11Callback<number>): void
  /** The numbers: id, parent, x, y, width, height, border width, depth, class, visual. */
  CreateWindow(...args: readonly [...number[], { readonly eventMask: number }]): void
  ChangeWindowAttributes(
    window: number,
    values: { readonly eventMask: number },
    callback: X11Callback<void>,
  ): void
  ChangeProperty(
    mode: number,
    window: number,
    property: number,
    type: number,
    format: number,
    data: Buffer | readonly number[],
    callback: X11Callback<void>,
  ): void
  DeleteProperty(window: number, property: number): void
  GetProperty(
    isDelete: number,
    window: number,
    property: number,
    type: number,
    longOffset: number,
    longLength: number,
    callback: X11Callback<X11Property>,
  ): void
  SetSelectionOwner(owner: number, selection: number, time: number): void
  GetSelectionOwner(selection: number, callback: X11Callback<number>): void
  ConvertSelection(
    requestor: number,
    selection: number,
    target: number,
    property: number,
    time: number,
  ): void
  SendEvent(
    destination: number,
    propagate: number,
    eventMask: number,
    event: X11SelectionNotify & { readonly name: 'SelectionNotify' },
    callback: X11Callback<void>,
  ): void
}

/** The one event that is sent by us. */
export type X11SelectionNotify = Pick<
  X11Event,
  'time' | 'requestor' | 'selection' | 'target' | 'property'
>

/** Loads the package. */
export function loadX11(): X11Library {
  const path = packageFile('x11', 'x11.cjs')
  return createRequire(path)(path)
}
