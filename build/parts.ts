/** The packages that clipgate comes with, and the list of them for machines (CycloneDX). @module */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FileEntry } from './archive.ts'

/** The members of `package.json` that are read here. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly license: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/** A package that clipgate comes with. */
export interface Part extends Manifest {
  /** As `package-lock.json` has it: the algorithm, a dash, and base64. */
  readonly integrity: string
  readonly isOptional: boolean
  readonly licenseText: string
}

/** Before npm took expressions, packages had a list. */
interface OldLicense {
  readonly license?: string
  readonly licenses?: readonly { readonly type: string }[]
}

interface Lock {
  readonly packages: Readonly<Record<string, LockedPackage>>
}

interface LockedPackage {
  readonly integrity?: string
  readonly optional?: boolean
  /** The systems that npm installs it on; all when absent. */
  readonly os?: readonly string[]
}

/** The files of each package that a program loads; tests, pages and types stay behind. */
const LOADED: Readonly<Record<string, RegExp>> = {
  '@jsquash/jpeg': /^(?:decode|utils|meta)\.js$|^codec\/dec\/mozjpeg_dec\.(?:js|wasm)$/,
  '@jsquash/webp': /^(?:decode|utils)\.js$|^codec\/dec\/webp_dec\.(?:js|wasm)$/,
  'buffer-crc32': /^dist\/index\.cjs$/,
  'hash-wasm': /^dist\/(?:index\.umd|argon2\.umd\.min)\.js$/,
  qr: /^index\.js$/,
  // Only encoders load it.
  'wasm-feature-detect': /^$/,
  x11: /^lib\/.*\.js$/,
  yazl: /^index\.js$/,
}

/** Reads `package.json` in a folder. */
export function readManifest(folder: string): Manifest {
  const manifest: Omit<Manifest, 'license'> & OldLicense = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  )
  const license = manifest.license ?? manifest.licenses?.[0]?.type
  if (license === undefined) throw new Error(`${manifest.name} names no license`)
  return { ...manifest, license }
}

/** Finds what clipgate depends on where it runs on Linux, directly or not, sorted by name. */
export function readParts(project: string): readonly Part[] {
  const lock: Lock = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8'))
  const found = new Map<string, Part>()
  const add = (manifest: Manifest): void => {
    for (const name of dependenciesOf(manifest)) {
      const { integrity, optional = false, os } = lock.packages[`node_modules/${name}`] ?? {}
      if (os?.includes('linux') === false) continue
      if (integrity === undefined) throw new Error(`package-lock.json does not know ${name}`)
      const folder = join(project, 'node_modules', name)
      const part = readManifest(folder)
      const licenseText = readFileSync(join(folder, 'LICENSE'), 'utf8')
      found.set(name, { ...part, integrity, isOptional: optional, licenseText })
      add(part)
    }
  }
  add(readManifest(project))
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** The files of a package that belong beside the program. */
export function filesOfPart(project: string, name: string): readonly FileEntry[] {
  const folder = join(project, 'node_modules', name)
  const loaded = LOADED[name]
  if (loaded === undefined) throw new Error(`Nothing says which files of ${name} are loaded`)
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return paths
    .sort()
    .filter((path) => path === 'package.json' || path === 'LICENSE' || loaded.test(path))
    .map((path) => ({
      path: `node_modules/${name}/${path}`,
      content: readFileSync(join(folder, path)),
    }))
}

/** Formats the list of parts as CycloneDX 1.5, without a time or a random number. */
export function formatPartsList(manifest: Manifest, parts: readonly Part[]): string {
  const refOf = ({ name, version }: Manifest) => `pkg:npm/${name}@${version}`
  const component = (part: Manifest) => ({
    'bom-ref': refOf(part),
    name: part.name,
    version: part.version,
    description: part.description,
    purl: refOf(part),
    licenses: [licenseOf(part.license)],
  })
  const list = {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: { type: 'application', ...component(manifest) } },
    components: parts.map((part) => {
      const [, digest = ''] = part.integrity.split('sha512-')
      const content = Buffer.from(digest, 'base64').toString('hex')
      return {
        type: 'library',
        ...component(part),
        scope: part.isOptional ? 'optional' : 'required',
        hashes: [{ alg: 'SHA-512', content }],
      }
    }),
    dependencies: [manifest, ...parts].map((one) => ({
      ref: refOf(one),
      dependsOn: parts.filter(({ name }) => dependenciesOf(one).includes(name)).map(refOf),
    })),
  }
  return `${JSON.stringify(list, undefined, 2)}\n`
}

function dependenciesOf(manifest: Manifest): readonly string[] {
  return Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })
}

/** An expression of several licenses has parentheses around it. */
function licenseOf(license: string): object {
  return /[ (]/.test(license) ? { expression: license } : { license: { id: license } }
}
