/** What the owner of a daemon asks it, without a process for each question. @module */

import { join } from 'node:path'
import { createAdminClient } from '../../src/control/admin-client.ts'
import { readControlToken } from '../../src/control/control-token.ts'
import type { PairRequest } from '../../src/ports/admin.ts'
import type { RunningDaemon } from '../../src/ports/panel.ts'
import type { DaemonProcess } from './daemon-process.ts'

/** A phone about which nobody chose anything. */
export const NEW_PHONE: PairRequest = {
  kind: 'phone',
  label: undefined,
  username: undefined,
  password: undefined,
  url: undefined,
}

/** Over the control listener. */
export async function ownerOf({
  ready,
  folder,
}: Pick<DaemonProcess, 'ready' | 'folder'>): Promise<RunningDaemon> {
  const token = await readControlToken(join(folder, 'data'))
  return createAdminClient({ url: ready.control, token })
}
