/**
 * The calls of Windows that its clipboard takes, through koffi, whose package is installed on
 * Windows only. Handles are numbers here, and 0 is none.
 * @module
 */

import { createRequire } from 'node:module'

/** A window, or memory. */
export type Handle = number | bigint

/** Windows calls it for each message to a window. */
type WindowProcedure = (window: Handle, message: number, first: Handle, second: Handle) => Handle

type NativeFunction = (...values: readonly unknown[]) => unknown

/** The part of koffi that is used. */
interface Koffi {
  load(library: string): { func(signature: string): NativeFunction }
  proto(signature: string): unknown
  pointer(type: unknown): unknown
  struct(name: string, members: Readonly<Record<string, unknown>>): unknown
  register(callback: WindowProcedure, type: unknown): unknown
}

const USER = {
  openClipboard: 'bool __stdcall OpenClipboard(intptr_t window)',
  closeClipboard: 'bool __stdcall CloseClipboard()',
  emptyClipboard: 'bool __stdcall EmptyClipboard()',
  enumClipboardFormats: 'uint32_t __stdcall EnumClipboardFormats(uint32_t format)',
  getClipboardData: 'intptr_t __stdcall GetClipboardData(uint32_t format)',
  setClipboardData: 'intptr_t __stdcall SetClipboardData(uint32_t format, intptr_t memory)',
  getClipboardOwner: 'intptr_t __stdcall GetClipboardOwner()',
  getClipboardSequenceNumber: 'uint32_t __stdcall GetClipboardSequenceNumber()',
  getClipboardFormatName:
    'int __stdcall GetClipboardFormatNameW(uint32_t format, void *to, int size)',
  registerClipboardFormat: 'uint32_t __stdcall RegisterClipboardFormatW(str16 name)',
  addClipboardFormatListener: 'bool __stdcall AddClipboardFormatListener(intptr_t window)',
  postMessage:
    'bool __stdcall PostMessageW(intptr_t window, uint32_t message, uintptr_t a, intptr_t b)',
  setTimer: 'uintptr_t __stdcall SetTimer(intptr_t window, uintptr_t id, uint32_t ms, intptr_t f)',
  killTimer: 'bool __stdcall KillTimer(intptr_t window, uintptr_t id)',
  defWindowProc:
    'intptr_t __stdcall DefWindowProcW(intptr_t window, uint32_t message, uintptr_t a, intptr_t b)',
} as const

const KERNEL = {
  globalAlloc: 'intptr_t __stdcall GlobalAlloc(uint32_t flags, uintptr_t bytes)',
  globalFree: 'intptr_t __stdcall GlobalFree(intptr_t memory)',
  globalLock: 'intptr_t __stdcall GlobalLock(intptr_t memory)',
  globalUnlock: 'bool __stdcall GlobalUnlock(intptr_t memory)',
  globalSize: 'uintptr_t __stdcall GlobalSize(intptr_t memory)',
  copyOut: 'void __stdcall RtlMoveMemory(void *to, intptr_t from, uintptr_t bytes)',
  copyIn: 'void __stdcall RtlMoveMemory(intptr_t to, void *from, uintptr_t bytes)',
} as const

const GDI_PLUS = {
  startup: 'int __stdcall GdiplusStartup(void *token, void *input, intptr_t output)',
  createBitmapFromFile: 'int __stdcall GdipCreateBitmapFromFile(str16 path, void *bitmap)',
  disposeImage: 'int __stdcall GdipDisposeImage(intptr_t image)',
  getImageWidth: 'int __stdcall GdipGetImageWidth(intptr_t image, void *width)',
  getImageHeight: 'int __stdcall GdipGetImageHeight(intptr_t image, void *height)',
  imageRotateFlip: 'int __stdcall GdipImageRotateFlip(intptr_t image, int turn)',
  bitmapLockBits: `int __stdcall GdipBitmapLockBits(intptr_t bitmap, void *part, uint32_t flags,
    int format, void *data)`,
  bitmapUnlockBits: 'int __stdcall GdipBitmapUnlockBits(intptr_t bitmap, void *data)',
} as const

/** The calls, under their names. */
export interface Win32 {
  openClipboard(window: Handle): boolean
  closeClipboard(): boolean
  emptyClipboard(): boolean
  enumClipboardFormats(format: number): number
  getClipboardData(format: number): Handle
  setClipboardData(format: number, memory: Handle): Handle
  getClipboardOwner(): Handle
  getClipboardSequenceNumber(): number
  getClipboardFormatName(format: number, to: Uint8Array, size: number): number
  registerClipboardFormat(name: string): number
  addClipboardFormatListener(window: Handle): boolean
  postMessage(window: Handle, message: number, first: Handle, second: Handle): boolean
  setTimer(window: Handle, id: number, ms: number, callback: 0): Handle
  killTimer(window: Handle, id: number): boolean
  defWindowProc: WindowProcedure
  globalAlloc(flags: number, bytes: number): Handle
  globalFree(memory: Handle): Handle
  globalLock(memory: Handle): Handle
  globalUnlock(memory: Handle): boolean
  globalSize(memory: Handle): Handle
  copyOut(to: Uint8Array, from: Handle, bytes: number): void
  copyIn(to: Handle, from: Uint8Array, bytes: number): void
}

/** @throws {Error} MODULE_NOT_FOUND, when the package for this processor is not installed. */
export function loadWin32(): Win32 {
  const koffi = loadKoffi()
  const calls = { ...bind(koffi, 'user32.dll', USER), ...bind(koffi, 'kernel32.dll', KERNEL) }
  // The tables above and the interface say the same.
  return calls as unknown as Win32
}

/** The calls of GDI+, under their names. They return 0 when all is well. */
export interface GdiPlus extends Pick<Win32, 'copyOut'> {
  createBitmapFromFile(path: string, bitmap: Uint8Array): number
  disposeImage(image: Handle): number
  getImageWidth(image: Handle, width: Uint8Array): number
  getImageHeight(image: Handle, height: Uint8Array): number
  imageRotateFlip(image: Handle, turn: number): number
  bitmapLockBits(
    bitmap: Handle,
    part: null,
    flags: number,
    format: number,
    data: Uint8Array,
  ): number
  bitmapUnlockBits(bitmap: Handle, data: Uint8Array): number
}

/** Starts GDI+, for as long as the program runs. @throws {Error} When Windows refuses. */
export function loadGdiPlus(): GdiPlus {
  const koffi = loadKoffi()
  const { copyOut } = bind(koffi, 'kernel32.dll', KERNEL)
  const calls = { ...bind(koffi, 'gdiplus.dll', GDI_PLUS), copyOut }
  // The tables above and the interface say the same.
  const gdi = calls as unknown as GdiPlus & {
    startup(token: Uint8Array, input: Uint8Array, output: 0): number
  }
  const input = Buffer.alloc(GDI_INPUT_BYTES)
  input.writeUInt32LE(1)
  if (gdi.startup(Buffer.alloc(8), input, 0) !== 0) throw new Error('Windows has no GDI+')
  return gdi
}

/** Makes a window that nobody sees and that only gets messages; 0 when Windows refuses. */
export function createMessageWindow(name: string, procedure: WindowProcedure): Handle {
  const koffi = loadKoffi()
  const user = koffi.load('user32.dll')
  const type = koffi.pointer(
    koffi.proto('intptr_t __stdcall WndProc(intptr_t w, uint32_t m, uintptr_t a, intptr_t b)'),
  )
  koffi.struct('WNDCLASSW', {
    style: 'uint32_t',
    procedure: type,
    classBytes: 'int',
    windowBytes: 'int',
    instance: 'intptr_t',
    icon: 'intptr_t',
    cursor: 'intptr_t',
    background: 'intptr_t',
    menu: 'intptr_t',
    name: 'str16',
  })
  const none = { style: 0, classBytes: 0, windowBytes: 0, instance: 0, icon: 0, cursor: 0 }
  const windowClass = { ...none, background: 0, menu: 0, name }
  const registered = koffi.register(procedure, type)
  user.func('uint16_t __stdcall RegisterClassW(WNDCLASSW *c)')({
    ...windowClass,
    procedure: registered,
  })
  const create = user.func(
    `intptr_t __stdcall CreateWindowExW(uint32_t extended, str16 class, str16 name, uint32_t style,
     int x, int y, int width, int height, intptr_t parent, intptr_t menu, intptr_t instance,
     intptr_t parameter)`,
  )
  return create(0, name, name, 0, 0, 0, 0, 0, HWND_MESSAGE, 0, 0, 0) as Handle
}

/** Waits for messages to the windows of this thread and passes them on, for ever. */
export function passMessagesOn(): void {
  const koffi = loadKoffi()
  const user = koffi.load('user32.dll')
  const getMessage = user.func(
    'int __stdcall GetMessageW(void *m, intptr_t w, uint32_t a, uint32_t b)',
  )
  const dispatch = user.func('intptr_t __stdcall DispatchMessageW(void *m)')
  const message = Buffer.alloc(MSG_BYTES)
  while (Number(getMessage(message, 0, 0, 0)) > 0) dispatch(message)
}

const HWND_MESSAGE = -3

/** The size of a `GdiplusStartupInput`, with 64 bits. */
const GDI_INPUT_BYTES = 24

/** The size of a `MSG`, with 64 bits. */
const MSG_BYTES = 48

function loadKoffi(): Koffi {
  // Not the package `koffi`, which brings as many kilobytes of its own to every system.
  return createRequire(import.meta.url)(`@koromix/koffi-win32-${process.arch}`)
}

function bind(koffi: Koffi, name: string, signatures: Readonly<Record<string, string>>) {
  const library = koffi.load(name)
  const calls = Object.entries(signatures).map(([key, text]) => [key, library.func(text)])
  return Object.fromEntries(calls)
}
