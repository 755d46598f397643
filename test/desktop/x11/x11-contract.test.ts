import { pathToFileURL } from 'node:url'
import { X11Clipboard } from '../../../src/desktop/x11/x11-clipboard.ts'
import type { CopiedContent } from '../../../src/ports/system-clipboard.ts'
import { FakeSystemClipboard } from '../../support/fake-system-clipboard.ts'
import { needs } from '../../support/requirements.ts'
import { describeSystemClipboard } from '../../support/system-clipboard-contract.ts'
import { parseUriList } from '../../../src/desktop/uri-list.ts'
import { sharedXvfb } from './support/open-x11.ts'
import { xclipCopy, xclipPaste } from './support/xclip.ts'

describeSystemClipboard('FakeSystemClipboard', { skip: false }, async (_t, { events }) => {
  const clipboard = new FakeSystemClipboard(events)
  return {
    system: clipboard,
    copyElsewhere: async (content) => clipboard.copy(content),
    pasteElsewhere: async (kind) => {
      const pasted = await clipboard.paste()
      return pasted?.kind === kind ? pasted : undefined
    },
  }
})

describeSystemClipboard('X11Clipboard', needs('Xvfb', 'xclip'), async (t, deps) => {
  const { display } = await sharedXvfb()
  return {
    system: await X11Clipboard.open({ ...deps, display, readAtStart: false }),
    copyElsewhere: (content) => xclipCopy(t, display, ...xclipArguments(content)),
    pasteElsewhere: (kind) => paste(display, kind),
  }
})

function xclipArguments(content: CopiedContent): [string | Uint8Array, string?] {
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
  display: string,
  kind: CopiedContent['kind'],
): Promise<CopiedContent | undefined> {
  const target = { text: 'UTF8_STRING', image: 'image/png', files: 'text/uri-list' }[kind]
  const bytes = await xclipPaste(display, target)
  if (bytes === undefined) return undefined
  if (kind === 'text') return { kind, text: bytes.toString() }
  if (kind === 'image') return { kind, mediaType: target, bytes }
  return { kind, paths: parseUriList(bytes.toString(), '') }
}
