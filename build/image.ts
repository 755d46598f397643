/**
 * The image for containers, as a layout by the specification of OCI: Node, the libraries that it
 * was linked against, the program, and nothing else. No other program makes any of it.
 * @module
 */

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatTar, formatTarGz, type Entry, type FileEntry } from './archive.ts'
import { imageFiles } from './contents.ts'
import { NODES, readInside, type Inside } from './nodes.ts'
import { readManifest } from './parts.ts'
import { readFromDebian, type Source } from './sources.ts'

/** A package of Debian 12 that has libraries. */
interface Library extends Source {
  readonly license: string
  /** Where the archive has it, without its version and processor. */
  readonly pool: string
  readonly files: readonly string[]
}

interface Blob {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
}

const MEDIA = 'application/vnd.oci.image'

/** Some programs show it; it is that of the files. */
const CREATED = '1985-10-26T08:15:00Z'

const GLIBC = { name: 'libc6', version: '2.36-9+deb12u14', pool: 'main/g/glibc/libc6' }
const GCC_VERSION = '12.2.0-14+deb12u1'
const GCC = { version: GCC_VERSION, license: 'GPL-3.0-or-later WITH GCC-exception-3.1' }

/** Both libraries of GCC have their license in it. */
const GCC_LICENSE: Source = {
  name: 'gcc-12-base',
  version: GCC_VERSION,
  integrity:
    'sha512-baMkXCKzzHPTc9vpYzqMemAKRm4Smyhzh1wC4BEWwaJyBCXPvNg1OajkjMJV9KqnpDp7Bh6R1Z7mCcOQpUMxOQ==',
}

/** What Node wants of a system, by its own name of the platform. */
const LIBRARIES: Readonly<Record<string, readonly Library[]>> = {
  'linux-x64': librariesOf('x86_64-linux-gnu', 'ld-linux-x86-64.so.2', [
    'JnLv+MUTEtJKAmBD1LYyLeI+N/gH3DklxYhHTkE94rcZSSashKwHWqcN2Lb758//PQFZldCjwgD7ixkfWaxFlQ==',
    'Q8DRy1KynBK31c52KbJpC4TmCqmOj+BUge7KhXeB40HDh7cGeRasdw/8iHn+yGgQxqeg4xAR2z24ES8f6bAXUw==',
    'X7GqxiQKxVKAu5A5N0axdJj/3Lsk5Jr6AQUr2UaL7VlLxcQ5OPKvWUtI0uq54t0H/9PV8na+WxagARZHn/bLaA==',
  ]),
  'linux-arm64': librariesOf('aarch64-linux-gnu', 'ld-linux-aarch64.so.1', [
    'GzaqiR9oZfysq+iEUnqTGkZWmlSRPJ5usIBivs0/vjqZNV5HOy55XGTQOPu7wx6IG9BfLHsGJ2zFAd86BtmpTQ==',
    'iV/HeNLUOIZm9/0+GBrN9jWiXuIpqPYhqc7qlkycvs18Hl9WadsZbMm6CIanq+uAtvAWEiRqhEGHHK4QBJknAA==',
    'CPAGu692mYRWw3UieEY75njVUNCqKi/jcnnwV27FJgd/zQGN19RQqmteKYNozXM2NuWdQ4yI715SWX+DNbXP7g==',
  ]),
}

/** Where Node looks for what starts it. */
const LOADERS: Readonly<Record<string, string>> = {
  'linux-x64': 'lib64/ld-linux-x86-64.so.2',
  'linux-arm64': 'lib/ld-linux-aarch64.so.1',
}

function librariesOf(
  folder: string,
  loader: string,
  [glibc = '', stdcpp = '', gcc = '']: readonly string[],
): readonly Library[] {
  const lib = `lib/${folder}`
  const files = [loader, 'libc.so.6', 'libm.so.6', 'libdl.so.2', 'libpthread.so.0']
  return [
    {
      ...{ ...GLIBC, license: 'LGPL-2.1-or-later', integrity: `sha512-${glibc}` },
      files: files.map((file) => `${lib}/${file}`),
    },
    {
      ...{ ...GCC, name: 'libstdc++6', integrity: `sha512-${stdcpp}` },
      ...{ pool: 'main/g/gcc-12/libstdc++6', files: [`usr/${lib}/libstdc++.so.6.0.30`] },
    },
    {
      ...{ ...GCC, name: 'libgcc-s1', integrity: `sha512-${gcc}` },
      ...{ pool: 'main/g/gcc-12/libgcc-s1', files: [`${lib}/libgcc_s.so.1`] },
    },
  ]
}

/** Formats the layout as a tar archive: one image, for the processors of those platforms. */
export function formatImage(project: string, targets: readonly string[]): Buffer {
  const { version } = readManifest(project)
  const files: FileEntry[] = []
  const add = (type: string, content: Uint8Array): Blob => {
    const digest = createHash('sha256').update(content).digest('hex')
    files.push({ path: `blobs/sha256/${digest}`, content })
    return { mediaType: `${MEDIA}.${type}`, digest: `sha256:${digest}`, size: content.length }
  }
  const known = targets.filter((target) => target in LIBRARIES)
  const manifests = known.map((target) => {
    const architecture = NODES[target]?.debian ?? ''
    const layers = layersOf(project, target, architecture)
    const config = {
      ...{ created: CREATED, architecture, os: 'linux', config: readConfig(project) },
      rootfs: {
        type: 'layers',
        diff_ids: layers.map((entries) => {
          return `sha256:${createHash('sha256').update(formatTar(entries, './')).digest('hex')}`
        }),
      },
    }
    const manifest = {
      ...{ schemaVersion: 2, mediaType: `${MEDIA}.manifest.v1+json` },
      config: add('config.v1+json', json(config)),
      layers: layers.map((entries) => add('layer.v1.tar+gzip', formatTarGz(entries, './'))),
    }
    const platform = { architecture, os: 'linux' }
    return { ...add('manifest.v1+json', json(manifest)), platform }
  })
  const index = { schemaVersion: 2, mediaType: `${MEDIA}.index.v1+json` }
  const image = {
    ...add('index.v1+json', json({ ...index, manifests })),
    annotations: { 'org.opencontainers.image.ref.name': `clipgate:${version}` },
  }
  const layout = [
    { path: 'oci-layout', content: json({ imageLayoutVersion: '1.0.0' }) },
    { path: 'index.json', content: json({ ...index, manifests: [image] }) },
  ]
  return formatTar([...layout, ...new Map(files.map((file) => [file.path, file])).values()], './')
}

/** What stays from version to version, and the program. */
function layersOf(project: string, target: string, architecture: string): readonly Entry[][] {
  const node = readInside(project, target)
  const libraries = LIBRARIES[target] ?? []
  const read = (library: Library, path: string) =>
    readFromDebian(
      project,
      { ...library, name: `${library.name}-${architecture}` },
      { pool: `${library.pool}_${library.version}_${architecture}.deb`, path },
    )
  const copies = [
    ...libraries.flatMap((one) => one.files.map((path) => [path, read(one, path)] as const)),
  ].map(([path, content]): FileEntry => {
    const isLoader = path.includes('/ld-linux-')
    const soname = path.replace(/(\.so\.\d+)\..*/, '$1')
    return { path: isLoader ? (LOADERS[target] ?? path) : soname, content, isProgram: isLoader }
  })
  const [glibc] = libraries
  const licenses = [
    ...(glibc === undefined ? [] : [read(glibc, 'usr/share/doc/libc6/copyright')]),
    readFromDebian(project, GCC_LICENSE, {
      pool: `main/g/gcc-12/${GCC_LICENSE.name}_${GCC_VERSION}_amd64.deb`,
      path: `usr/share/doc/${GCC_LICENSE.name}/copyright`,
    }),
  ]
  const inside: Inside = {
    ...node,
    license: [node.license, ...licenses].join('\n\n'),
    parts: [...node.parts, ...libraries.map((library) => partOf(library, architecture))],
  }
  const files = imageFiles(project, inside)
  const isNode = ({ path }: Entry) => path === 'usr/lib/clipgate/node'
  // An empty volume gets the owner and the mode that the folder has here.
  const [volume = '', user] = [fieldOf(project, 'VOLUME'), fieldOf(project, 'USER')]
  const owner = Number.parseInt(user, 10)
  const data = { path: `${volume.slice(1)}/`, mode: 0o700, owner }
  return [
    [...copies, ...files.filter(isNode)],
    [data, ...files.filter((file) => !isNode(file))],
  ]
}

function partOf({ name, version, license, integrity }: Library, architecture: string) {
  const escaped = [name, version].map(encodeURIComponent).join('@')
  const purl = `pkg:deb/debian/${escaped}?arch=${architecture}`
  return { name, version, license, integrity, description: name, purl }
}

/** How it runs is what the Dockerfile says. */
function readConfig(project: string): object {
  const text = readDockerfile(project)
  const variables = [...text.matchAll(/^(?:ENV| {3}) ([A-Z_]+=[^\s\\]+)/gm)]
  return {
    User: fieldOf(project, 'USER'),
    Env: ['PATH=/usr/bin', ...variables.map(([, variable]) => variable)],
    Cmd: JSON.parse(fieldOf(project, 'CMD')),
    ExposedPorts: { [`${fieldOf(project, 'EXPOSE')}/tcp`]: {} },
    Volumes: { [fieldOf(project, 'VOLUME')]: {} },
    StopSignal: fieldOf(project, 'STOPSIGNAL'),
  }
}

function fieldOf(project: string, word: string): string {
  const [, value] = new RegExp(`^${word} (.*)$`, 'm').exec(readDockerfile(project)) ?? []
  if (value === undefined) throw new Error(`deploy/Dockerfile has no ${word}`)
  return value
}

function readDockerfile(project: string): string {
  return readFileSync(join(project, 'deploy/Dockerfile'), 'utf8')
}

function json(value: object): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`)
}
