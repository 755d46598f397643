/**
 * Finds out what uploaded bytes are.
 *
 * Phones upload pictures as `application/octet-stream`. Their leading bytes tell what they are,
 * else the extension does; what neither tells keeps the type that was declared. Only raster images
 * are recognised: everything else may be called what the sender likes.
 * @module
 */

/** The type of bytes that nothing is known about. */
export const OCTET_STREAM = 'application/octet-stream'

/**
 * Types that say nothing: what clients write when they do not know, `curl --data-binary`, Python's
 * urllib and Java's HttpURLConnection the latter.
 */
const SAYS_NOTHING: ReadonlySet<string> = new Set([
  OCTET_STREAM,
  'application/x-www-form-urlencoded',
])

/**
 * Types that clients give to whatever they upload, pictures included: an official shortcut for
 * iPhones does, and HTTP libraries that take every body for a form. Bytes of an image refute them.
 */
const OFTEN_WRONG: ReadonlySet<string> = new Set([
  'application/json',
  'multipart/form-data',
  'text/plain',
])

/** How many leading bytes {@link classifyMediaType} looks at. */
export const SNIFF_LENGTH = 64

const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['jpe', 'image/jpeg'],
  ['jfif', 'image/jpeg'],
  ['png', 'image/png'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
  ['bmp', 'image/bmp'],
  ['dib', 'image/bmp'],
  ['tif', 'image/tiff'],
  ['tiff', 'image/tiff'],
  ['heic', 'image/heic'],
  ['heics', 'image/heic'],
  ['heif', 'image/heif'],
  ['heifs', 'image/heif'],
  ['avif', 'image/avif'],
])

/** Brands of ISO base media files: ISO/IEC 23008-12 for HEIF, the AV1 image format for AVIF. */
const BRANDS: ReadonlyMap<string, string> = new Map([
  ...['heic', 'heix', 'heim', 'heis', 'hevc', 'hevx', 'hevm', 'hevs'].map(
    (brand): [string, string] => [brand, 'image/heic'],
  ),
  ['avif', 'image/avif'],
  ['avis', 'image/avif'],
])

/** Brands that say "an image of the HEIF family" and leave the codec to the other brands. */
const STRUCTURAL_BRANDS = ['mif1', 'msf1', 'mif2', 'miaf']

// RFC 9110, 8.3.1; parameters are kept as they came, but only printable ASCII.
const MEDIA_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+[ \t]*(?:;[ -~]*)?$/

/** The grammar has tabs there, which are not printable. */
const BLANKS_BEFORE_PARAMETERS = /[ \t]*;/

/** Longer ones are noise. */
const MAX_MEDIA_TYPE_LENGTH = 255

/**
 * The media type of an upload.
 *
 * @param declared Its `Content-Type`. Missing, wildcard and unparsable ones say nothing, and nor do
 *   `application/octet-stream` and `application/x-www-form-urlencoded`. JSON, plain text and forms
 *   are believed unless the bytes are those of an image.
 * @param head Its first {@link SNIFF_LENGTH} bytes, or all when there are fewer.
 * @param dataName What the sender calls it.
 */
export function classifyMediaType(
  declared: string | undefined,
  head: Uint8Array,
  dataName: string,
): string {
  const known = declared === undefined ? undefined : readMediaType(declared)
  const essence = known === undefined ? OCTET_STREAM : essenceOf(known)
  if (known !== undefined && !SAYS_NOTHING.has(essence)) {
    return (OFTEN_WRONG.has(essence) ? imageTypeOf(head) : undefined) ?? known
  }
  return imageTypeOf(head) ?? EXTENSIONS.get(extensionOf(dataName)) ?? known ?? OCTET_STREAM
}

/** Whether a media type is one of an image. */
export function isImageType(mediaType: string): boolean {
  return mediaType.toLowerCase().startsWith('image/')
}

/** The image type that leading bytes give away. */
export function imageTypeOf(head: Uint8Array): string | undefined {
  if (startsWith(head, [0xff, 0xd8, 0xff])) return 'image/jpeg'
  if (startsWith(head, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return 'image/png'
  if (['GIF87a', 'GIF89a'].includes(ascii(head, 0, 6))) return 'image/gif'
  if (ascii(head, 0, 4) === 'RIFF' && ascii(head, 8, 12) === 'WEBP') return 'image/webp'
  // "BM" alone begins too many texts; the four reserved bytes after the size are zero.
  if (ascii(head, 0, 2) === 'BM' && ascii(head, 6, 10) === '\0\0\0\0') return 'image/bmp'
  if (['II*\0', 'II+\0', 'MM\0*', 'MM\0+'].includes(ascii(head, 0, 4))) return 'image/tiff'
  if (ascii(head, 4, 8) === 'ftyp') return imageTypeOfBrands(head)
  return undefined
}

function imageTypeOfBrands(head: Uint8Array): string | undefined {
  const major = ascii(head, 8, 12)
  if (!STRUCTURAL_BRANDS.includes(major)) return BRANDS.get(major)
  const boxEnd = Math.min(((head[2] ?? 0) << 8) | (head[3] ?? 0), head.length)
  for (let at = 16; at + 4 <= boxEnd; at += 4) {
    const mediaType = BRANDS.get(ascii(head, at, at + 4))
    if (mediaType !== undefined) return mediaType
  }
  return 'image/heif'
}

function readMediaType(declared: string): string | undefined {
  const text = declared.trim()
  if (text.length > MAX_MEDIA_TYPE_LENGTH || !MEDIA_TYPE.test(text)) return undefined
  return essenceOf(text).includes('*') ? undefined : text.replace(BLANKS_BEFORE_PARAMETERS, ';')
}

/** A media type without its parameters, in lower case. */
export function essenceOf(mediaType: string): string {
  return (mediaType.split(';')[0] ?? '').trim().toLowerCase()
}

function extensionOf(dataName: string): string {
  const dot = dataName.lastIndexOf('.')
  return dot === -1 ? '' : dataName.slice(dot + 1).toLowerCase()
}

function startsWith(bytes: Uint8Array, prefix: readonly number[]): boolean {
  return prefix.every((byte, index) => bytes[index] === byte)
}

function ascii(bytes: Uint8Array, start: number, end: number): string {
  return String.fromCharCode(...bytes.subarray(start, end))
}
