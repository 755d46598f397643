/** `clipgate service` on Windows: a task that starts at the logon of the user. @module */

import { join } from 'node:path'
import type { Surroundings } from '../../daemon/folders.ts'
import { escapeXml, fillRecipe, findProgram, runProgram, type ServiceManager } from './manager.ts'

const POWERSHELL = ['System32', 'WindowsPowerShell', 'v1.0', 'powershell.exe'] as const

const FIND = 'Get-ScheduledTask -TaskName clipgate -ErrorAction SilentlyContinue'

/** The manager of the user who runs this. */
export function createWindowsService(where: Surroundings): ServiceManager {
  const { environment } = where
  const program = join(environment['SystemRoot'] ?? 'C:\\Windows', ...POWERSHELL)
  const powershell = (script: string, more: Readonly<Record<string, string>> = {}) => {
    const command = `$ErrorActionPreference = 'Stop'; ${script}`
    const args = ['-NoProfile', '-NonInteractive', '-Command', command]
    return runProgram({ ...environment, ...more }, program, args)
  }
  return {
    look: 'Get-ScheduledTaskInfo clipgate, in PowerShell',
    state: async () => {
      const text = (await powershell(`$task = ${FIND}; if ($task) { [string]$task.State }`)).trim()
      const isRunning = text === 'Running'
      return { isInstalled: text !== '', isRunning, file: undefined, advice: [] }
    },
    install: async () => {
      const { node, main } = findProgram(where)
      const user = `${environment['USERDOMAIN'] ?? ''}\\${environment['USERNAME'] ?? ''}`
      const task = await fillRecipe('windows/clipgate-task.xml', {
        USER_ID: escapeXml(user),
        NODE_PROGRAM: escapeXml(node),
        CLIPGATE_MAIN: escapeXml(main),
      })
      const register = 'Register-ScheduledTask -TaskName clipgate -Xml $env:SERVICE_TASK -Force'
      const restart = 'Stop-ScheduledTask clipgate; Start-ScheduledTask clipgate'
      // In a variable, no character of it means anything to PowerShell.
      await powershell(`$null = ${register}; ${restart}`, { SERVICE_TASK: task })
      return []
    },
    start: async () => {
      await powershell('Start-ScheduledTask clipgate')
    },
    remove: async () => {
      const unregister = 'Unregister-ScheduledTask clipgate -Confirm:$false'
      await powershell(`if (${FIND}) { Stop-ScheduledTask clipgate; ${unregister} }`)
    },
  }
}
