import { WaylandClipboard } from '../../../src/desktop/wayland/wayland-clipboard.ts'
import { needs } from '../../support/requirements.ts'
import { SWAY_TOOLS } from '../../support/sway.ts'
import { describeSystemClipboard } from '../../support/system-clipboard-contract.ts'
import { bytesToCopy, pasteAs } from '../support/foreign-content.ts'
import { sharedSway } from './support/open-wayland.ts'
import { wlCopy, wlPaste } from './support/wl-clipboard.ts'

describeSystemClipboard('WaylandClipboard', needs(...SWAY_TOOLS), async (t, deps) => {
  const sway = await sharedSway()
  const env = { ...process.env, ...sway.env }
  return {
    system: await WaylandClipboard.open({ ...deps, env, readAtStart: false }),
    copyElsewhere: (content) => wlCopy(t, sway.env, ...bytesToCopy(content)),
    pasteElsewhere: (kind) => pasteAs(kind, (type) => wlPaste(sway.env, type)),
  }
})
