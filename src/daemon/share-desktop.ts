/** Connects a daemon to its desktop; never loaded where there is none. @module */

import { join } from 'node:path'
import { DomainError } from '../core/domain-error.ts'
import type { Item } from '../core/item.ts'
import { OWNER_ID } from '../core/owner.ts'
import { ClipboardPause, PAUSE_FILE } from '../desktop/clipboard-pause.ts'
import { ClipboardReconciler } from '../desktop/clipboard-reconciler.ts'
import { bytesInMemory } from '../desktop/offered-formats.ts'
import { PatientClipboard } from '../desktop/patient-clipboard.ts'
import type { CopyLimits } from '../desktop/read-copy.ts'
import { ReceivedFolder } from '../desktop/received-folder.ts'
import { FileSaves } from '../inbound/file-saves.ts'
import { createCopySharing } from '../inbound/share-copies.ts'
import { describeFailure } from '../lib/describe-failure.ts'
import { Subscribers } from '../lib/subscribers.ts'
import type { Pause } from '../ports/admin.ts'
import type { LatestItem } from '../ports/latest-item.ts'
import type { Panel } from '../ports/panel.ts'
import type {
  ClipboardEvents,
  ClipboardKind,
  CopiedContent,
  OfferedContent,
  SystemClipboard,
} from '../ports/system-clipboard.ts'
import { DiskPrivateFile } from '../storage/home/own-files.ts'
import type { Station } from '../station/open-station.ts'
import { NOTHING_SHARED, openSystemClipboard } from './open-system-clipboard.ts'
import type { Settings } from './settings.ts'

/**
 * Says, by when it was activated, that the clipboard had the current item or something newer when
 * the daemon ended. Empty while it is shared, and where the daemon was killed or was behind.
 */
const SHARING_FILE = 'sharing'

/** A desktop, or the lack of one. */
export interface Desktop {
  readonly mode: 'desktop' | 'headless'
  /** Where pushed files land; `undefined` when they land nowhere. */
  readonly receivedDir: string | undefined
  clipboard(): ClipboardKind | 'none'
  /** Resolves once the clipboard is opened, or could not be; then it says so to the owner. */
  opened(): Promise<string | undefined>
  trouble(): string | undefined
  /** Which files are not saved, and why, without names. */
  unsaved(): string | undefined
  paused(): Pause | undefined
  /** As in the port `Panel`. */
  readonly pause: Panel['pause']
  /** As in the port `Panel`. */
  readonly resume: Panel['resume']
  /** Calls `listener` when trouble or a pause came or went. @returns Ends the subscription. */
  onChange(listener: () => void): () => void
  /**
   * Waits until what was sent is saved in the folder, `graceMs` at most.
   *
   * @returns How many items are left for the next start.
   */
  endSaving(graceMs: number): Promise<number>
  close(): Promise<void>
}

/**
 * Begins to open the clipboard. It is tried again for as long as that fails.
 *
 * @param kind `undefined` for the best one that there is.
 */
export async function shareDesktop(
  station: Station,
  settings: Settings,
  kind: ClipboardKind | undefined,
  onTrouble: (isTrouble: boolean) => void,
): Promise<Desktop> {
  let trouble: string | undefined
  const { clock, logger, directory } = station
  const file = new DiskPrivateFile(join(directory.path, PAUSE_FILE))
  const pause = await ClipboardPause.open({ file, clock, logger, desktop: nameDesktop() })
  const watchers = new Subscribers()
  pause.onChange(() => watchers.notify())
  const share = createCopySharing(station)
  /** The last copy, until it has become current. */
  let shared: CopiedContent | undefined
  const limits: CopyLimits = {
    types: settings.shareTypes,
    maxTextBytes: settings.maxCopiedTextBytes,
    maxImageBytes: settings.maxCopiedImageBytes,
    onLeftOut: (leftOut) =>
      logger.info('What was copied is of a kind that is not shared', { ...leftOut }),
  }
  const mark = new DiskPrivateFile(join(directory.path, SHARING_FILE))
  const { activatedAt } = station.latest.current?.item ?? {}
  const shown = await mark.read().catch((error: unknown) => {
    if (error instanceof DomainError) throw error
    // A damaged one tells nothing, as after a crash.
    logger.warn(`Cannot read ${SHARING_FILE}`, { ...describeFailure(error) })
    return ''
  })
  // Also where something came since to a daemon without a desktop.
  const wasCutOff = shown !== undefined && shown !== String(activatedAt)
  await mark.write('')
  // At a clean end it is free, and somebody may copy the same thing again before the next start.
  const mayBeOld = (current: Item): boolean => wasCutOff || current.activatedAt !== activatedAt
  // A copy made while no daemon ran is shared, or known already.
  let readAtStart = true
  let system: PatientClipboard | undefined
  const openSystem = (events: ClipboardEvents): Promise<SystemClipboard> =>
    openSystemClipboard(kind, { events, clock, logger, limits, readAtStart, wasCutOff })
  const received = new ReceivedFolder(settings.receivedDir, {
    reserve: station.storage.reserve,
    writer: directory.path,
  })
  const reconciler = new ClipboardReconciler(
    async (events) => {
      system = await PatientClipboard.open(openSystem, { events, clock })
      return system
    },
    {
      pause,
      limits,
      clock,
      now: () => station.inbound.stampNow() ?? clock.now(),
      logger,
      before: () => offerBefore(station.latest, received),
      wasCutOff,
      onCopy: (copied, copiedAt, onJudged) => {
        shared = copied
        void share(copied, { copiedAt, mayBeOld: onJudged && mayBeOld }).then((isOlder) => {
          onJudged?.(isOlder)
          // After the effect of that, which gets it; and else nobody needs it any more.
          setImmediate(() => {
            if (shared === copied) shared = undefined
          })
        })
      },
      onTrouble: (message) => {
        trouble = message
        watchers.notify()
        onTrouble(message !== undefined)
        if (message === undefined) logger.info('The clipboard has recovered')
        else logger.warn('The clipboard has a problem', { reason: message })
      },
    },
  )
  // A folder out of reach must not keep anybody waiting; what is saved there says so again.
  received.sweep().catch((error: unknown) => {
    logger.warn('Cannot look at the received folder', { ...describeFailure(error) })
  })
  const arrivals = await openArrivals(station, settings)
  const { minFreeBytes } = settings
  const alone = (work: () => Promise<void>) => station.inbound.alone(work)
  const saves = new FileSaves({ ...station, minFreeBytes, alone }, (stored) =>
    received.keep(stored),
  )
  received.onStep(() => saves.onStep())
  station.inbound.saveFiles(saves)
  station.storage.yieldFirst(saves)
  saves.onChange(() => watchers.notify())
  station.inbound.addEffect(async (stored, origin, { isSaved }) => {
    // Whatever is on a clipboard that is opened from now on is older.
    readAtStart = false
    if (origin.kind === 'clipboard') return reconciler.dropWaiting(shared && toOffered(shared))
    // The files that are being saved are offered, and written once.
    await reconciler.offer(received.offerOf(stored), stored.item.stamp?.at)
    if (origin.deviceId === OWNER_ID) return
    const { type, dataName: name, size } = stored.item
    if (settings.notifyArrivals !== 'all' && !isSaved) return
    const { label } = station.devices.find(origin.deviceId ?? '') ?? {}
    arrivals?.add({ from: label, type, name, size, isFile: isSaved })
  })
  return {
    mode: 'desktop',
    receivedDir: received.path,
    clipboard: () => system?.kind ?? 'none',
    opened: async () => {
      await reconciler.opened()
      if (system?.kind !== undefined) return undefined
      return `${trouble}; it is tried again, and until then ${NOTHING_SHARED}`
    },
    trouble: () => trouble,
    unsaved: () => saves.trouble,
    paused: () => pause.current,
    pause: (durationMs) => pause.begin(durationMs),
    resume: () => pause.end(),
    onChange: (listener) => watchers.add(listener),
    endSaving: (graceMs) => saves.end(graceMs),
    close: async () => {
      arrivals?.close()
      received.close()
      await pause.close()
      const { isBehind } = reconciler
      await reconciler.close()
      if (isBehind) return
      const { activatedAt } = station.latest.current?.item ?? {}
      await mark.write(String(activatedAt)).catch((error: unknown) => {
        logger.warn(`Cannot write ${SHARING_FILE}`, { ...describeFailure(error) })
      })
    },
  }
}

/**
 * Offers again what others sent last: it was on the clipboard for as long as the daemon ran, or
 * waits for the end of a pause. A copy of this desktop was there for as long as its program ran.
 */
async function offerBefore({ current, unsaved }: LatestItem, received: ReceivedFolder) {
  const { sender, contentHash, dataName } = current?.item ?? {}
  if (current === undefined || sender === undefined || sender.kind === 'clipboard') return undefined
  const isToSave = unsaved.some(({ item }) => {
    return item.contentHash === contentHash && item.dataName === dataName
  })
  // Files that were moved away since do not come back.
  return isToSave ? received.offerOf(current) : received.offerKept(current)
}

function toOffered(copied: CopiedContent): OfferedContent {
  if (copied.kind !== 'image') return copied
  return { kind: 'image', mediaType: copied.mediaType, blob: bytesInMemory(copied.bytes) }
}

/** The display server, where there can be several. */
function nameDesktop(): string {
  const { platform, env } = process
  const names = [env['WAYLAND_DISPLAY'], env['DISPLAY']].filter((name) => name !== undefined)
  return [platform, ...names].join(' ')
}

async function openArrivals({ clock, logger }: Station, { notifyArrivals, receivedDir }: Settings) {
  if (notifyArrivals === 'off') return undefined
  // Nobody else needs to load it.
  const { Arrivals, canShowArrivals } = await import('../desktop/notifications/arrivals.ts')
  const isAsked = notifyArrivals !== undefined
  if (!isAsked && !(await canShowArrivals())) return undefined
  return new Arrivals({ clock, logger, folder: receivedDir, isAsked })
}
