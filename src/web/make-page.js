/**
 * Makes what browsers get of a page: for the build, and for whoever runs from the sources.
 *
 * What scripts and styles import becomes a part of them, since each file is one more to fetch.
 *
 * @module
 */

import { build } from 'esbuild'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { drawIcon } from './draw-icon.js'

/**
 * @typedef {{ readonly made: readonly string[], readonly asIs: readonly string[],
 *   readonly drawn?: Readonly<Record<string, Parameters<typeof drawIcon>[1]>> }} Parts
 */

const ICON = 'shared/icon.svg'

/**
 * The same for home screens, by name. A system cuts a maskable one to its own shape, of which only
 * a circle of four fifths is safe, and Apple's corners.
 */
const DRAWN = {
  'icon-192.png': { side: 192 },
  'icon-512.png': { side: 512 },
  'icon-maskable.png': { side: 512, isFull: true, scale: 0.9 },
  'apple-touch-icon.png': { side: 180, isFull: true },
}

/** @type {Readonly<Record<string, Parts>>} */
const PAGES = {
  panel: { made: ['panel/panel.ts', 'panel/panel.css'], asIs: ['panel/panel.html', ICON] },
  phone: {
    made: ['phone/phone.ts', 'phone/share.ts', 'phone/phone.css'],
    asIs: ['phone/phone.html', 'phone/app.webmanifest', ICON],
    drawn: DRAWN,
  },
}

/**
 * Pages that are made, or were: each of their files is asked for by itself.
 *
 * @type {Map<string, Promise<ReadonlyMap<string, Uint8Array>>>}
 */
const pages = new Map()

/**
 * Makes a page, once in the life of a program.
 *
 * @param {string} name
 * @returns {Promise<ReadonlyMap<string, Uint8Array>>} Its files, by name.
 */
export function makePage(name) {
  const page = pages.get(name) ?? makeFiles(name)
  pages.set(name, page)
  // The next one who asks may find sources without a mistake.
  page.catch(() => pages.delete(name))
  return page
}

/**
 * @param {string} name
 * @returns {Promise<ReadonlyMap<string, Uint8Array>>}
 */
async function makeFiles(name) {
  const { made, asIs, drawn = {} } = PAGES[name] ?? { made: [], asIs: [] }
  const { outputFiles } = await build({
    bundle: true,
    format: 'esm',
    minify: true,
    // Every page says that it is UTF-8, in which Chinese takes half of its escapes.
    charset: 'utf8',
    legalComments: 'eof',
    // A file that is imported later stays one of its own.
    splitting: true,
    chunkNames: '[name]',
    logLevel: 'warning',
    write: false,
    outdir: name,
    entryPoints: made.map(pathOf),
  })
  /** @type {Map<string, Uint8Array>} */
  const files = new Map()
  for (const { path, contents } of outputFiles) files.set(basename(path), contents)
  for (const path of asIs) files.set(basename(path), await readFile(pathOf(path)))
  for (const [file, look] of Object.entries(drawn)) {
    files.set(file, await drawIcon(pathOf(ICON), look))
  }
  return files
}

/**
 * Makes all pages, each in a folder of its name.
 *
 * @param {string} to Where the program looks for them: the folder of its own files.
 */
export async function writePages(to) {
  for (const name of Object.keys(PAGES)) {
    await mkdir(join(to, name))
    for (const [file, bytes] of await makePage(name)) await writeFile(join(to, name, file), bytes)
  }
}

/** @param {string} path Below this folder. */
function pathOf(path) {
  return fileURLToPath(new URL(path, import.meta.url))
}
