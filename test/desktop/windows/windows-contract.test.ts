import { Buffer } from 'node:buffer'
import type { CopiedContent } from '../../../src/ports/system-clipboard.ts'
import { describeSystemClipboard } from '../../support/system-clipboard-contract.ts'
import { ForeignProgram } from './support/foreign-program.ts'
import { NEEDS_WINDOWS, openOnWindows } from './support/open-windows.ts'

describeSystemClipboard('The Windows clipboard', NEEDS_WINDOWS, async (t, deps) => {
  const other = new ForeignProgram(t)
  return {
    system: await openOnWindows(deps),
    endsTextsAtNul: true,
    copyElsewhere: (content) => other.copy(formatOf(content)),
    pasteElsewhere: async (kind) => {
      const pasted = await other.paste(FORMATS[kind])
      if (pasted === undefined) return undefined
      if (kind === 'image') return { kind, mediaType: 'image/png', bytes: pasted }
      if (kind === 'text') return { kind, text: pasted.toString('utf16le').slice(0, -1) }
      const names = pasted.subarray(pasted.readUInt32LE(0)).toString('utf16le')
      return { kind, paths: names.slice(0, names.indexOf('\0\0')).split('\0') }
    },
  }
})

const FORMATS = { text: 'CF_UNICODETEXT', image: 'PNG', files: 'CF_HDROP' } as const

function formatOf(content: CopiedContent): Readonly<Record<string, Uint8Array>> {
  if (content.kind === 'image') return { PNG: content.bytes }
  if (content.kind === 'text')
    return { CF_UNICODETEXT: Buffer.from(`${content.text}\0`, 'utf16le') }
  const header = Buffer.from('14000000000000000000000000000000' + '01000000', 'hex')
  const names = Buffer.from(`${content.paths.join('\0')}\0\0`, 'utf16le')
  return { CF_HDROP: Buffer.concat([header, names]) }
}
