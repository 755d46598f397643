import { on } from 'node:events'
import { watch } from 'node:fs'

/** Waits for something to be so in a folder, which is asked again after each change of it. */
export async function untilIn(folder: string, isSo: () => Promise<boolean>): Promise<void> {
  const watcher = watch(folder)
  try {
    const changes = on(watcher, 'change')
    while (!(await isSo())) await changes.next()
  } finally {
    watcher.close()
  }
}
