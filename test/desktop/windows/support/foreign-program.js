/**
 * Another program on Windows: copies and pastes bytes in any format, as a line of JSON tells it.
 * @module
 */

import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'

const GMEM_MOVEABLE = 2

const koffi = createRequire(import.meta.url)(`@koromix/koffi-win32-${process.arch}`)
const user = koffi.load('user32.dll')
const kernel = koffi.load('kernel32.dll')
const openClipboard = user.func('bool __stdcall OpenClipboard(intptr_t w)')
const closeClipboard = user.func('bool __stdcall CloseClipboard()')
const emptyClipboard = user.func('bool __stdcall EmptyClipboard()')
const getData = user.func('intptr_t __stdcall GetClipboardData(uint32_t f)')
const setData = user.func('intptr_t __stdcall SetClipboardData(uint32_t f, intptr_t h)')
const register = user.func('uint32_t __stdcall RegisterClipboardFormatW(str16 name)')
const allocate = kernel.func('intptr_t __stdcall GlobalAlloc(uint32_t f, uintptr_t n)')
const lock = kernel.func('intptr_t __stdcall GlobalLock(intptr_t h)')
const unlock = kernel.func('bool __stdcall GlobalUnlock(intptr_t h)')
const sizeOf = kernel.func('uintptr_t __stdcall GlobalSize(intptr_t h)')
const copyIn = kernel.func('void __stdcall RtlMoveMemory(intptr_t to, void *from, uintptr_t n)')
const copyOut = kernel.func('void __stdcall RtlMoveMemory(void *to, intptr_t from, uintptr_t n)')

/** @type {Readonly<Record<string, number>>} */
const NUMBERS = { CF_DIB: 8, CF_UNICODETEXT: 13, CF_HDROP: 15, CF_DIBV5: 17 }

/** @param {string} name */
function numberOf(name) {
  return NUMBERS[name] ?? register(name)
}

function open() {
  // The one who had it open before is about to close it.
  while (!openClipboard(0));
}

/** @param {Readonly<Record<string, string>>} formats */
function copy(formats) {
  open()
  emptyClipboard()
  for (const [name, base64] of Object.entries(formats)) {
    const bytes = Buffer.from(base64, 'base64')
    const memory = allocate(GMEM_MOVEABLE, bytes.length)
    copyIn(lock(memory), bytes, bytes.length)
    unlock(memory)
    setData(numberOf(name), memory)
  }
  closeClipboard()
  return {}
}

/** @param {string} name */
function paste(name) {
  open()
  try {
    const memory = getData(numberOf(name))
    if (memory === 0) return {}
    const bytes = Buffer.alloc(Number(sizeOf(memory)))
    copyOut(bytes, lock(memory), bytes.length)
    unlock(memory)
    return { base64: bytes.toString('base64') }
  } finally {
    closeClipboard()
  }
}

/** @type {Readonly<Record<string, (argument: any) => object>>} */
const ACTIONS = {
  copy,
  paste,
  hold: () => {
    open()
    return {}
  },
  release: () => {
    closeClipboard()
    return {}
  },
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const [[action = '', argument] = []] = Object.entries(JSON.parse(line))
  process.stdout.write(`${JSON.stringify(ACTIONS[action]?.(argument))}\n`)
})
