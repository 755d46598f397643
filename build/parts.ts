/** The packages that are in clipgate, and the list of them for machines (CycloneDX). @module */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { BUNDLED } from './packages.js'

/** The members of `package.json` that are read here. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly license: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

/** A package that is in clipgate. */
export interface Part extends Manifest {
  /** As `package-lock.json` has it: the algorithm, a dash, and base64. */
  readonly integrity: string
  /** What lists of faults call it. */
  readonly cpe?: string
  /** What it is called where it is from; unless given, that is npm. */
  readonly purl?: string
}

/** Before npm took expressions, packages had a list. */
interface OldLicense {
  readonly license?: string
  readonly licenses?: readonly { readonly type: string }[]
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly integrity?: string }>>
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

/** Finds the packages that are in the program, sorted by name. */
export function readParts(project: string): readonly Part[] {
  const lock: Lock = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8'))
  return BUNDLED.map((name) => {
    const { integrity } = lock.packages[`node_modules/${name}`] ?? {}
    if (integrity === undefined) throw new Error(`package-lock.json does not know ${name}`)
    return { ...readManifest(join(project, 'node_modules', name)), integrity }
  })
}

/** Formats the list of parts as CycloneDX 1.5, without a time or a random number. */
export function formatPartsList(manifest: Manifest, parts: readonly Part[]): string {
  const refOf = ({ name, version, purl }: Manifest & { readonly purl?: string }) =>
    purl ?? `pkg:npm/${name}@${version}`
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
        scope: 'required',
        ...(part.cpe !== undefined && { cpe: part.cpe }),
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
  return Object.keys({ ...manifest.dependencies, ...manifest.devDependencies })
}

/** An expression of several licenses has parentheses around it. */
function licenseOf(license: string): object {
  return /[ (]/.test(license) ? { expression: license } : { license: { id: license } }
}
