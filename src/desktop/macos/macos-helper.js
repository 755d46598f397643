// @ts-nocheck -- JavaScript for Automation: there are no types of its `$` and `ObjC`.
/**
 * The macOS side of the clipboard: runs in `osascript -l JavaScript` for as long as the daemon
 * does, and speaks the lines that `helper/clipboard-messages.ts` describes.
 *
 * macOS tells nobody that the clipboard changed. All there is is a counter, so a timer compares it,
 * here in this process; what was copied is read only when it is asked for. Nothing blocks the run
 * loop: input comes as notifications. Bytes travel in files that the other side has made.
 *
 * In this runtime a method without arguments is called by naming it, and numbers of 64 bits may
 * come as strings.
 * @module
 */

ObjC.import('AppKit')
ObjC.import('stdlib')

/** A person does not notice; 86,400 comparisons of two numbers in eight hours. */
const CHECK_SECONDS = 1 / 3

/**
 * Six hours. Whatever this runtime keeps of each comparison goes with the process; the daemon
 * starts another one at once.
 */
const MAX_CHECKS = 64_800

/** Far more than any request has; what is longer did not come from the daemon. */
const MAX_INPUT_BYTES = 1024 * 1024

/** Unpacked it takes four bytes each; a small file may announce any number. */
const MAX_PIXELS = 64 * 1024 * 1024

/** `NSBitmapImageFileTypePNG` */
const PNG_FILE = 4

/** `NSPasteboardAccessBehavior` of macOS 15.4: what happens when this program reads. */
const ASKS = 1
const ALWAYS_DENIES = 3

const FILE_URL = 'public.file-url'
const TEXT = 'public.utf8-plain-text'
const PNG = 'public.png'
const TIFF = 'public.tiff'

const pasteboard = $.NSPasteboard.generalPasteboard
const input = $.NSFileHandle.fileHandleWithStandardInput
const output = $.NSFileHandle.fileHandleWithStandardOutput

/** The last change that the other side knows of. */
let announced = changeCount()

let checks = 0

/** The bytes after the last whole line. */
const pending = $.NSMutableData.data

ObjC.registerSubclass({
  name: 'ClipgateHelper',
  methods: {
    'tick:': { types: ['void', ['id']], implementation: () => inPool('check:', null) },
    'check:': { types: ['void', ['id']], implementation: announceChange },
    'take:': { types: ['void', ['id']], implementation: takeInput },
    'obey:': { types: ['void', ['id']], implementation: obeyLine },
  },
})

const helper = $.ClipgateHelper.alloc.init

// biome-ignore lint/correctness/noUnusedVariables: osascript calls it.
function run() {
  $.NSNotificationCenter.defaultCenter.addObserverSelectorNameObject(
    helper,
    'take:',
    'NSFileHandleDataAvailableNotification',
    input,
  )
  input.waitForDataInBackgroundAndNotify
  $.NSTimer.scheduledTimerWithTimeIntervalTargetSelectorUserInfoRepeats(
    CHECK_SECONDS,
    helper,
    'tick:',
    null,
    true,
  )
  tell({ event: 'ready' })
  $.NSRunLoop.currentRunLoop.run
}

/** Calls a method in an operation, which has an autorelease pool of its own; timers have none. */
function inPool(selector, argument) {
  $.NSInvocationOperation.alloc.initWithTargetSelectorObject(helper, selector, argument).start
}

function announceChange() {
  checks += 1
  if (checks > MAX_CHECKS) {
    tell({ event: 'renewal' })
    $.exit(0)
  }
  const change = changeCount()
  if (change !== announced) tell({ event: 'changed', ...look() })
}

function takeInput() {
  const data = input.availableData
  // The daemon is gone.
  if (Number(data.length) === 0) $.exit(0)
  pending.appendData(data)
  if (Number(pending.length) > MAX_INPUT_BYTES) $.exit(1)
  const text = ObjC.unwrap($.NSString.alloc.initWithDataEncoding(pending, $.NSUTF8StringEncoding))
  // Not yet UTF-8: it was cut inside a character.
  if (text !== undefined) {
    const lines = text.split('\n')
    pending.setData(utf8(lines.pop()))
    for (const line of lines) inPool('obey:', $(line))
  }
  input.waitForDataInBackgroundAndNotify
}

function obeyLine(line) {
  let id
  try {
    const request = JSON.parse(ObjC.unwrap(line))
    id = request.id
    tell({ reply: id, ...obey(request) })
  } catch (error) {
    // Whoever sends no JSON is not the daemon.
    if (id === undefined) $.exit(1)
    tell({ reply: id, error: error.message })
  }
}

function obey(request) {
  switch (request.do) {
    case 'look':
      return look()
    case 'read':
      return read(request)
    case 'write':
      return write(request)
    case 'release':
      return release(request)
    default:
      throw new Error('The helper does not know this')
  }
}

function look() {
  announced = changeCount()
  return { change: announced, types: ObjC.deepUnwrap(pasteboard.types) ?? [] }
}

function read({ change, type, file, maxBytes }) {
  if (changeCount() !== change) return overtaken()
  refuseWhereGuarded()
  const data = dataOf(type)
  if (changeCount() !== change) return overtaken()
  if (data === undefined) return { outcome: 'absent', change }
  const bytes = Number(data.length)
  if (bytes > maxBytes) return { outcome: 'tooLong', change, bytes }
  save(data, file)
  return { outcome: 'read', change, bytes }
}

function write({ kind, type, file, lies }) {
  const data = $.NSData.dataWithContentsOfFile(file)
  if (data.isNil()) throw new Error('Cannot read what is to be offered')
  // Many programs paste PNG and TIFF only. Made first, so that the clipboard is never half full.
  // One of a photo that lies would lie for ever: AppKit turns it nowhere, and its EXIF is lost.
  const png = kind === 'image' && type !== PNG && lies !== true ? pngOf(data) : undefined
  const urls = kind === 'files' ? urlsOf(data) : undefined
  const change = Number(pasteboard.clearContents)
  const isDone =
    urls === undefined ? pasteboard.setDataForType(data, type) : pasteboard.writeObjects(urls)
  if (png !== undefined) pasteboard.setDataForType(png, PNG)
  if (changeCount() !== change) return overtaken()
  announced = change
  if (!isDone) throw new Error('macOS does not take what is offered')
  return { outcome: 'written', change }
}

function release({ change }) {
  if (changeCount() !== change) return overtaken()
  announced = Number(pasteboard.clearContents)
  return { outcome: 'released', change: announced }
}

/** The timer tells about the newer copy, if it has not yet. */
function overtaken() {
  return { outcome: 'overtaken', change: changeCount() }
}

function dataOf(type) {
  if (type === FILE_URL) return pathsOf(pasteboard.pasteboardItems)
  if (type === TEXT) return textOf(pasteboard.pasteboardItems)
  const data = pasteboard.dataForType(type)
  if (data.isNil()) return undefined
  return type === TIFF ? pngOf(data) : data
}

function pathsOf(items) {
  if (items.isNil()) return undefined
  const paths = stringsOf(items, FILE_URL).map(pathOf)
  return utf8(JSON.stringify(paths.filter((path) => path !== undefined)))
}

/** Several rows or selections that are copied at once are one item each. */
function textOf(items) {
  if (items.isNil()) return undefined
  const texts = stringsOf(items, TEXT)
  return texts.length === 0 ? undefined : utf8(texts.map((text) => ObjC.unwrap(text)).join('\n'))
}

function stringsOf(items, type) {
  const strings = []
  for (let index = 0; index < Number(items.count); index += 1) {
    const string = items.objectAtIndex(index).stringForType(type)
    if (!string.isNil()) strings.push(string)
  }
  return strings
}

/** `undefined` when it is not the URL of a file, or of one that is gone. */
function pathOf(text) {
  const url = $.NSURL.URLWithString(text)
  if (url.isNil()) return undefined
  // The Finder names files by number; this finds their paths.
  const path = url.filePathURL
  return path.isNil() ? undefined : ObjC.unwrap(path.path)
}

function urlsOf(data) {
  const text = ObjC.unwrap($.NSString.alloc.initWithDataEncoding(data, $.NSUTF8StringEncoding))
  const urls = $.NSMutableArray.array
  for (const path of JSON.parse(text)) urls.addObject($.NSURL.fileURLWithPath(path))
  return urls
}

/** `undefined` when macOS does not know the format, or the picture is too big to be unpacked. */
function pngOf(data) {
  const image = $.NSBitmapImageRep.imageRepWithData(data)
  if (image.isNil()) return undefined
  if (Number(image.pixelsWide) * Number(image.pixelsHigh) > MAX_PIXELS) return undefined
  const png = image.representationUsingTypeProperties(PNG_FILE, $.NSDictionary.dictionary)
  return png.isNil() ? undefined : png
}

/**
 * Since 15.4 a person decides for each program whether it may read. Where macOS asks each time, a
 * question would come up at every copy, and nobody answers it in time.
 */
function refuseWhereGuarded() {
  // Not a number where macOS has no such setting.
  const behavior = Number(pasteboard.accessBehavior)
  if (behavior !== ASKS && behavior !== ALWAYS_DENIES) return
  const does =
    behavior === ASKS ? 'asks before it lets clipgate read' : 'does not let clipgate read'
  throw new Error(`macOS ${does} the clipboard; allow it in System Settings, Privacy & Security`)
}

function save(data, file) {
  // It was made by the daemon, with a mode of its own; when the daemon has given up it is gone.
  const handle = $.NSFileHandle.fileHandleForWritingAtPath(file)
  if (handle.isNil() || !handle.writeDataError(data, null)) {
    throw new Error('Cannot hand over what was copied')
  }
  handle.closeFile
}

function changeCount() {
  return Number(pasteboard.changeCount)
}

function tell(message) {
  output.writeData(utf8(`${JSON.stringify(message)}\n`))
}

function utf8(text) {
  return $(text).dataUsingEncoding($.NSUTF8StringEncoding)
}
