/**
 * Puts the declarations of the library together: a disk gives each of seventy small files a block.
 *
 * Relies on what the sources are like: every name is declared once and imported under its own, and
 * nothing is exported but by name. It refuses anything else.
 *
 * @module
 */

import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const IMPORT = /^import (?:type )?\{([^}]*)\} from ['"]([^'"]+)['"];?\n/gm

const EXPORT_FROM = /^export (?:type )?\{[^}]*\} from ['"]([^'"]+)['"];?\n/gm

const DECLARATION =
  /^(?:export )?(?:declare )?(?:abstract )?(?:interface|type|const|class|function) (\w+)/gm

/**
 * Replaces the declarations in `folder` by one file for each group of entries, and the entries by
 * what they take from it. A group may use the declarations of those before it.
 *
 * @param {string} folder
 * @param {readonly { readonly file: string, readonly entries: readonly string[] }[]} groups
 */
export async function rollUpTypes(folder, groups) {
  /** @type {Map<string, string>} */
  const homes = new Map()
  /** @type {Map<string, string>} */
  const written = new Map()
  for (const { file, entries } of groups) {
    /** @type {Map<string, string>} */
    const texts = new Map()
    for (const entry of entries) await collect(join(folder, entry), texts, homes)
    for (const entry of entries) {
      const text = texts.get(join(folder, entry)) ?? ''
      written.set(entry, reexport(text, join(folder, entry), { file, homes }))
      texts.delete(join(folder, entry))
    }
    written.set(file, putTogether(texts, homes))
    for (const path of texts.keys()) homes.set(path, file)
  }
  for (const path of await readdir(folder, { recursive: true })) {
    if (path.endsWith('.d.ts')) await rm(join(folder, path))
  }
  for (const [file, text] of written) await writeFile(join(folder, file), text)
}

/**
 * Reads a file and what it leads to.
 *
 * @param {string} path
 * @param {Map<string, string>} texts
 * @param {ReadonlyMap<string, string>} homes
 */
async function collect(path, texts, homes) {
  if (texts.has(path) || homes.has(path)) return
  const text = await readFile(path, 'utf8')
  const code = text.replaceAll(/\/\*[^]*?\*\//g, '')
  if (
    /\bimport\(|^import (?!type \{|\{)|^export (?:\*|default)|^(?:import|export) [^'\n]* as /m.test(
      code,
    )
  ) {
    throw new Error(`"${path}" imports or exports in a way that is not provided for`)
  }
  texts.set(path, text)
  for (const pattern of [IMPORT, EXPORT_FROM]) {
    for (const match of text.matchAll(pattern)) {
      const specifier = match.at(-1) ?? ''
      if (specifier.startsWith('.')) await collect(toPath(path, specifier), texts, homes)
    }
  }
}

/**
 * @param {string} from
 * @param {string} specifier
 */
function toPath(from, specifier) {
  return join(dirname(from), specifier.replace(/\.[jt]s$/, '.d.ts'))
}

/**
 * An entry, which takes everything from the files that are left.
 *
 * @param {string} text
 * @param {string} path
 * @param {{ readonly file: string, readonly homes: ReadonlyMap<string, string> }} where
 */
function reexport(text, path, { file, homes }) {
  return text.replace(EXPORT_FROM, (statement, specifier) =>
    statement.replace(specifier, toSpecifier(homes.get(toPath(path, specifier)) ?? file)),
  )
}

/**
 * @param {ReadonlyMap<string, string>} texts
 * @param {ReadonlyMap<string, string>} homes
 */
function putTogether(texts, homes) {
  /** @type {Map<string, Set<string>>} */
  const imports = new Map()
  /** @type {Set<string>} */
  const declared = new Set()
  const bodies = []
  for (const [path, text] of texts) {
    for (const [, names = '', specifier = ''] of text.matchAll(IMPORT)) {
      const home = specifier.startsWith('.') ? homes.get(toPath(path, specifier)) : specifier
      if (home === undefined) continue
      const source = specifier.startsWith('.') ? toSpecifier(home) : home
      const known = imports.get(source) ?? new Set()
      imports.set(source, known)
      for (const name of names.split(',')) known.add(name.replace(/^\s*type\s/, '').trim())
    }
    const body = text
      .replace(IMPORT, '')
      .replace(EXPORT_FROM, '')
      .replace(/^\/\*\*(?:(?!\*\/)[^])*@module\n \*\/\n/, '')
      // What was imported and is exported again; all declarations are in one file now.
      .replace(/^export (?:type )?\{[^}]*\};\n/gm, '')
    const own = new Set([...body.matchAll(DECLARATION)].map(([, name = '']) => name))
    for (const name of own) {
      if (declared.has(name))
        throw new Error(`"${name}" of "${path}" is declared elsewhere as well`)
      declared.add(name)
    }
    bodies.push(body)
  }
  const head = [...imports].map(([source, names]) => {
    const list = [...names].filter((name) => name !== '').join(', ')
    return `import type { ${list} } from '${source}';\n`
  })
  return `${head.join('')}${bodies.join('')}`
}

/** @param {string} file */
function toSpecifier(file) {
  return `./${file.replace(/\.d\.ts$/, '.js')}`
}
