import { after } from 'node:test'
import { pathToFileURL } from 'node:url'
import { parseUriList } from '../../../src/desktop/uri-list.ts'
import { WaylandClipboard } from '../../../src/desktop/wayland/wayland-clipboard.ts'
import type { CopiedContent } from '../../../src/ports/system-clipboard.ts'
import { needs } from '../../support/requirements.ts'
import { Sway, SWAY_TOOLS } from '../../support/sway.ts'
import { describeSystemClipboard } from '../../support/system-clipboard-contract.ts'
import { wlCopy, wlPaste } from './support/wl-clipboard.ts'

let shared: Promise<Sway> | undefined

after(async () => (await shared)?.stop())

describeSystemClipboard('WaylandClipboard', needs(...SWAY_TOOLS), async (t, deps) => {
  shared ??= Sway.start()
  const { env } = await shared
  return {
    system: await WaylandClipboard.open({
      ...deps,
      env: { ...process.env, ...env },
      readAtStart: false,
    }),
    copyElsewhere: (content) => wlCopy(t, env, ...toWrite(content)),
    pasteElsewhere: (kind) => paste(env, kind),
  }
})

function toWrite(content: CopiedContent): [string | Uint8Array, string?] {
  switch (content.kind) {
    case 'text':
      return [content.text]
    case 'image':
      return [content.bytes, content.mediaType]
    case 'files':
      return [content.paths.map((path) => `${pathToFileURL(path)}\r\n`).join(''), 'text/uri-list']
  }
}

async function paste(
  env: Sway['env'],
  kind: CopiedContent['kind'],
): Promise<CopiedContent | undefined> {
  const type = { text: 'text/plain;charset=utf-8', image: 'image/png', files: 'text/uri-list' }[
    kind
  ]
  const bytes = await wlPaste(env, type)
  if (bytes === undefined) return undefined
  if (kind === 'text') return { kind, text: bytes.toString() }
  if (kind === 'image') return { kind, mediaType: type, bytes }
  return { kind, paths: parseUriList(bytes.toString(), '') }
}
