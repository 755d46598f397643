import { X11Clipboard } from '../../../src/desktop/x11/x11-clipboard.ts'
import { FakeSystemClipboard } from '../../support/fake-system-clipboard.ts'
import { needs } from '../../support/requirements.ts'
import { describeSystemClipboard } from '../../support/system-clipboard-contract.ts'
import { bytesToCopy, pasteAs } from '../support/foreign-content.ts'
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
    copyElsewhere: (content) => xclipCopy(t, display, ...bytesToCopy(content)),
    pasteElsewhere: (kind) => pasteAs(kind, (type) => xclipPaste(display, type)),
  }
})
