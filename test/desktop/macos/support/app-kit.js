// @ts-nocheck -- Plays a dynamic runtime; types would only repeat the code.
/**
 * As much of JavaScript for Automation, Foundation and AppKit as `macos-helper.js` uses, over Node
 * and a {@link ClipboardFile}: written from Apple's documentation, never compared with a Mac.
 *
 * As in the real runtime, a method without arguments runs when it is named, and a method that does
 * not exist is no function.
 * @module
 */

import { closeSync, existsSync, openSync, readFileSync, writeSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'

const PNG_SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')

/** Between texts that were copied at once, each an item of its own. */
export const ITEM_END = '\f'

/** A made-up TIFF: the mark, width and height, and what the PNG of it has after its signature. */
export function tiffOf(width, height, pixels) {
  const head = Buffer.from('II*\0............')
  head.writeUInt32LE(width, 4)
  head.writeUInt32LE(height, 8)
  return Buffer.concat([head, pixels])
}

class Thing {
  isNil() {
    return false
  }
}

const nil = { isNil: () => true }

class Data extends Thing {
  constructor(bytes) {
    super()
    this.bytes = bytes
  }

  // A number of 64 bits comes as a string.
  get length() {
    return String(this.bytes.length)
  }

  appendData({ bytes }) {
    this.bytes = Buffer.concat([this.bytes, bytes])
  }

  setData({ bytes }) {
    this.bytes = bytes
  }
}

class Text extends Thing {
  constructor(js) {
    super()
    this.js = js
  }

  dataUsingEncoding(encoding) {
    if (encoding !== 4) throw new Error('Only UTF-8 is known here')
    return new Data(Buffer.from(this.js))
  }
}

class List extends Thing {
  constructor(things) {
    super()
    this.things = things
  }

  get count() {
    return String(this.things.length)
  }

  objectAtIndex(index) {
    return this.things[index]
  }

  addObject(thing) {
    this.things.push(thing)
  }
}

class Url extends Thing {
  constructor(url) {
    super()
    this.url = url
  }

  /** `file:///.file/id=…` is how the Finder names a file. */
  get filePathURL() {
    if (!this.url.startsWith('file:')) return nil
    const [, id] = /^file:\/\/\/\.file\/id=(.*)$/.exec(this.url) ?? []
    if (id === 'gone') return nil
    return id === undefined ? this : new Url(Buffer.from(id, 'base64url').toString())
  }

  get path() {
    return new Text(fileURLToPath(this.url))
  }
}

class Pasteboard extends Thing {
  constructor(clipboard) {
    super()
    this.clipboard = clipboard
  }

  get changeCount() {
    return String(this.clipboard.state.change)
  }

  get types() {
    const types = Object.keys(this.clipboard.state.types)
    return types.length === 0 ? nil : new List(types.map((type) => new Text(type)))
  }

  get accessBehavior() {
    return this.clipboard.state.access
  }

  get pasteboardItems() {
    const { clipboard } = this
    const urls = JSON.parse(clipboard.bytesOf('public.file-url')?.toString() ?? '[]')
    const texts = clipboard.bytesOf('public.utf8-plain-text')?.toString().split(ITEM_END) ?? []
    const items = Array.from({ length: Math.max(urls.length, texts.length) }, (_, index) => {
      const strings = { 'public.file-url': urls[index], 'public.utf8-plain-text': texts[index] }
      return {
        stringForType: (type) => (strings[type] === undefined ? nil : new Text(strings[type])),
      }
    })
    return items.length === 0 ? nil : new List(items)
  }

  dataForType(type) {
    if (this.clipboard.state.access !== 0) throw new Error('macOS shows a question, or gives nothing')
    const bytes = this.clipboard.bytesOf(type)
    return bytes === undefined ? nil : new Data(bytes)
  }

  get clearContents() {
    return String(this.clipboard.put({}))
  }

  setDataForType(data, type) {
    this.clipboard.add(type, data.bytes, { isChange: false })
    return true
  }

  writeObjects(list) {
    const urls = list.things.map(({ url }) => url)
    this.clipboard.add('public.file-url', JSON.stringify(urls), { isChange: false })
    return true
  }
}

class StandardInput extends Thing {
  #received = []
  #isWaiting = false
  #hasEnded = false

  constructor() {
    super()
    process.stdin.on('data', (chunk) => this.#take(chunk))
    process.stdin.on('end', () => {
      this.#hasEnded = true
      this.#notify()
    })
  }

  get waitForDataInBackgroundAndNotify() {
    this.#isWaiting = true
    if (this.#received.length > 0 || this.#hasEnded) setImmediate(() => this.#notify())
    return undefined
  }

  get availableData() {
    const bytes = Buffer.concat(this.#received)
    this.#received = []
    return new Data(bytes)
  }

  #take(chunk) {
    this.#received.push(chunk)
    this.#notify()
  }

  #notify() {
    if (!this.#isWaiting) return
    this.#isWaiting = false
    this.notify()
  }
}

class WritableFile extends Thing {
  constructor(fd) {
    super()
    this.fd = fd
  }

  writeData({ bytes }) {
    for (let at = 0; at < bytes.length; ) at += writeSync(this.fd, bytes, at)
  }

  writeDataError(data, error) {
    if (error !== null) throw new Error('Nobody asked for the error')
    this.writeData(data)
    return true
  }

  get closeFile() {
    closeSync(this.fd)
    return undefined
  }
}

function imageOf({ bytes }) {
  const isTiff = bytes.subarray(0, 4).equals(Buffer.from('II*\0'))
  const isJpeg = bytes.subarray(0, 2).equals(Buffer.from('ffd8', 'hex'))
  if (!isTiff && !isJpeg) return nil
  return {
    isNil: () => false,
    pixelsWide: isTiff ? String(bytes.readUInt32LE(4)) : '37',
    pixelsHigh: isTiff ? String(bytes.readUInt32LE(8)) : '29',
    representationUsingTypeProperties: (type) => {
      if (type !== 4) throw new Error('Only PNG is known here')
      return new Data(Buffer.concat([PNG_SIGNATURE, bytes.subarray(16)]))
    },
  }
}

/** The globals of the runtime. */
export function createRuntime(clipboard, checkMs) {
  const input = new StandardInput()
  const output = new WritableFile(1)
  const $ = (value) => (value === undefined ? nil : new Text(value))
  const ObjC = {
    import: () => undefined,
    unwrap: (thing) => (thing.isNil() ? undefined : thing.js),
    deepUnwrap: (thing) => (thing.isNil() ? undefined : thing.things.map(({ js }) => js)),
    registerSubclass: ({ name, methods }) => {
      const perform = (selector, argument) => methods[selector].implementation(argument)
      $[name] = { alloc: { init: { perform } } }
    },
  }
  Object.assign($, {
    NSUTF8StringEncoding: 4,
    exit: (code) => process.exit(code),
    NSPasteboard: { generalPasteboard: new Pasteboard(clipboard) },
    NSBitmapImageRep: { imageRepWithData: imageOf },
    NSDictionary: { dictionary: {} },
    NSData: {
      dataWithContentsOfFile: (path) => (existsSync(path) ? new Data(readFileSync(path)) : nil),
    },
    NSURL: {
      URLWithString: ({ js }) => (URL.canParse(js) ? new Url(js) : nil),
      fileURLWithPath: (path) => new Url(pathToFileURL(path).href),
    },
    NSFileHandle: {
      fileHandleWithStandardInput: input,
      fileHandleWithStandardOutput: output,
      fileHandleForWritingAtPath: (path) =>
        existsSync(path) ? new WritableFile(openSync(path, 'r+')) : nil,
    },
    NSString: {
      alloc: {
        initWithDataEncoding: ({ bytes }) => {
          const text = bytes.toString()
          return Buffer.from(text).equals(bytes) ? new Text(text) : nil
        },
      },
    },
    NSNotificationCenter: {
      defaultCenter: {
        addObserverSelectorNameObject: (target, selector, name, object) => {
          if (name !== 'NSFileHandleDataAvailableNotification') throw new Error(`Unknown: ${name}`)
          object.notify = () => target.perform(selector, nil)
        },
      },
    },
    NSTimer: {
      scheduledTimerWithTimeIntervalTargetSelectorUserInfoRepeats: (_s, target, selector) => {
        setInterval(() => target.perform(selector, nil), checkMs)
      },
    },
    NSInvocationOperation: {
      alloc: {
        initWithTargetSelectorObject: (target, selector, argument) => ({
          get start() {
            return target.perform(selector, argument)
          },
        }),
      },
    },
    // Node's own loop runs anyway.
    NSRunLoop: { currentRunLoop: { run: undefined } },
  })
  $.NSMutableData = {
    get data() {
      return new Data(Buffer.alloc(0))
    },
  }
  $.NSMutableArray = {
    get array() {
      return new List([])
    },
  }
  return { $, ObjC }
}
