import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { mintCircleKey } from '../../src/peers/bus/circle-key.ts'
import { startBroker } from '../peers/bus/support/nats-broker.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { openPanel } from './support/panel.ts'

describe('the bus in the panel', needs('chromium', 'nats-server'), () => {
  it('is shown as it is, live', async (t) => {
    const broker = await startBroker(t)
    const folder = await temporaryFolder(t)
    await mkdir(join(folder, 'data'), { mode: 0o700 })
    await writeFile(join(folder, 'data', 'group.key'), mintCircleKey(), { mode: 0o600 })
    const args = ['--clipboard', 'none', '--bus', broker.url]
    const panel = await openPanel(t, { folder, args })
    const daemon = panel.page.getByRole('region', { name: 'This computer' })
    await daemon.getByText(/[0-9a-f]{16}: connected, nobody else heard of lately/).waitFor()
    await broker.kill()
    await daemon.getByText(/broker away, trying again/).waitFor()
    await daemon.getByText(/connection refused|ECONNRESET|was closed/).waitFor()
    panel.assertCalm()
  })
})
