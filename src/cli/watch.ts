/** `clipgate watch`: prints each change of a clipboard until it is told to stop. @module */

import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { WatchState } from '../client/follower.ts'
import type { LatestDocument } from '../client/latest.ts'
import { openRunning } from '../daemon/open-admin.ts'
import { formatBytes } from '../lib/format-bytes.ts'
import { wordsOf } from '../lib/system-error.ts'
import { chooseClient, toJson } from './choose-server.ts'
import { CommandError, type Invocation } from './command.ts'
import { withInput } from './input.ts'
import { describeTransfer, formatTime } from './words/quantities.ts'
import { explainFailure } from './words/remedies.ts'
import { columnsOf, complain, print, printJson, type Shell } from './shell.ts'
import { cut } from './text-table.ts'
import { visible } from './visible.ts'

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGBREAK'] as const

/** The reason to end that is no failure. */
const STOPPED: unique symbol = Symbol('stopped')

/** The cells of a text that are printed where there is no terminal to fit. */
const PREVIEW_WIDTH = 60

/** The UTF-16 code units of a text that are looked at: more than any terminal shows in a line. */
const PREVIEW_LENGTH = 1000

/** Runs `clipgate watch`. */
export async function runWatch(call: Invocation): Promise<number> {
  const { shell, args } = call
  const { client, ownDataDir } = await withInput(shell, (input) => chooseClient(call, input))
  const end = listenForEnd(shell)
  const { signal } = end
  const line = shell.stderr.isTTY === true ? createTransferLine(shell) : undefined
  const tellState = tellStates(shell)
  const onState = (state: WatchState): void => {
    line?.clear()
    tellState(state)
  }
  try {
    if (ownDataDir !== undefined) void line?.follow(ownDataDir, signal)
    for await (const document of client.watch({ signal, onState })) {
      const at = new Date()
      line?.clear()
      if (args.flag('json')) printJson(shell, { at: at.toISOString(), ...toJson(document) })
      else print(shell, formatChange(document, at, columnsOf(shell)))
      if (shell.stdout.writableNeedDrain) await once(shell.stdout, 'drain', { signal })
    }
  } catch (error) {
    if (!signal.aborted) throw error
    if (signal.reason !== STOPPED) throw signal.reason
  } finally {
    line?.clear()
    end.release()
  }
  return 0
}

/** The signal aborts when the program shall stop, or nobody reads what it prints any more. */
function listenForEnd({ stdout }: Shell): { readonly signal: AbortSignal; release(): void } {
  const controller = new AbortController()
  const onStop = (): void => controller.abort(STOPPED)
  const onError = (error: NodeJS.ErrnoException): void => {
    const failure = new CommandError(`Cannot print the change: ${wordsOf(error)}`)
    controller.abort(error.code === 'EPIPE' ? STOPPED : failure)
  }
  for (const name of SIGNALS) process.once(name, onStop)
  stdout.on('error', onError).on('close', onStop)
  return {
    signal: controller.signal,
    release() {
      for (const name of SIGNALS) process.off(name, onStop)
      stdout.off('error', onError).off('close', onStop)
    },
  }
}

/** Says when something changes, and not at each attempt. */
function tellStates(shell: Shell): (state: WatchState) => void {
  let told: WatchState['name'] = 'connected'
  let isRefused = false
  return (state) => {
    if (state.name !== told) complain(shell, describeState(state))
    told = state.name
    const refused = 'refused' in state ? state.refused : undefined
    if (refused !== undefined && !isRefused) {
      complain(shell, `Warning: the current item is left out: ${explainFailure(refused)}`)
    }
    isRefused = refused !== undefined
  }
}

function describeState(state: WatchState): string {
  if (state.name === 'connected') return 'Connected again'
  if (state.name === 'polling') {
    const isSilent = state.reason.code === 'TIMEOUT'
    const why = isSilent ? 'a proxy may hold its events back' : 'it has no event stream'
    return `Warning: asking the server for changes every 10 s: ${why}`
  }
  const { reason } = state
  const why = reason === undefined ? 'the server ended the connection' : explainFailure(reason)
  return `Warning: not connected, trying again: ${why}`
}

function formatChange(document: LatestDocument, at: Date, columns: number | undefined): string {
  const { type } = document
  const size = formatBytes(document.size).padEnd('1023 bytes'.length)
  const start = `${formatTime(at)}  ${type.padEnd('Image'.length)}  ${size}  `
  const what = type === 'Text' ? preview(document.text) : visible(document.dataName)
  const width = type === 'Text' ? PREVIEW_WIDTH : Infinity
  return start + cut(what, columns === undefined ? width : Math.max(0, columns - start.length))
}

/** The beginning of a text, as one line. */
function preview(text: string): string {
  const isWhole = text.length <= PREVIEW_LENGTH
  const start = isWhole ? text : text.slice(0, PREVIEW_LENGTH).replace(/[\ud800-\udbff]$/, '')
  return visible(start.replace(/\s+/g, ' ').trim()) + (isWhole ? '' : '…')
}

const PAUSE_MS = 1000

/** To the beginning of the line, and away with what is there. */
const ERASE = '\r\x1b[K'

/**
 * How far the files are that are on their way to or from the daemon of this machine: a line at the
 * foot of a terminal that is written again and again.
 */
function createTransferLine({ stderr }: Pick<Shell, 'stderr'>) {
  let shown = ''

  function show(text: string): void {
    if (text === shown) return
    shown = text
    // A line that is broken in two cannot be erased.
    stderr.write(ERASE + cut(visible(text), (stderr.columns ?? 80) - 1))
  }

  /** Takes it away, so that something can be printed. It comes back by itself. */
  function clear(): void {
    show('')
  }

  /** Asks the daemon of a data directory once a second, until `signal` aborts. Never rejects. */
  async function follow(dataDir: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // Whoever watches is told elsewhere that the daemon does not answer.
      const running = await openRunning(dataDir).catch(() => undefined)
      const { transfers = [] } = (await running?.status().catch(() => undefined)) ?? {}
      if (!signal.aborted) show(transfers.map(describeTransfer).join('; '))
      // It rejects when it is aborted, and for nothing else.
      await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined)
    }
    clear()
  }

  return { clear, follow }
}
