import { describeSystemClipboard } from '../../support/system-clipboard-contract.ts'
import {
  copyElsewhere,
  HELPER_PLATFORMS,
  makeSystem,
  openOn,
  pasteElsewhere,
} from './support/open-helper-clipboard.ts'

for (const platform of HELPER_PLATFORMS) {
  const name = `The ${platform} clipboard, over a stand-in of its helper`
  describeSystemClipboard(name, { skip: false }, async (t, deps) => {
    const system = await makeSystem(t)
    return {
      system: await openOn(platform, system, deps),
      copyElsewhere: async (content) => copyElsewhere(platform, system, content),
      pasteElsewhere: async (kind) => pasteElsewhere(platform, system, kind),
    }
  })
}
