/**
 * Tells the person at the desktop what changed with the daemon, in few words of ours: never what
 * was copied, and no name but the label of a device.
 *
 * Failing logins are left out: anybody on the network could fill the screen with them.
 * @module
 */

import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Notification } from './notification-command.ts'
import { NotificationSender } from './notification-sender.ts'

/** The part of the daemon that a notification is about. */
export type Subject = 'clipboard' | 'gateway' | 'control' | 'disk'

/** Tells the person at the desktop of changes. */
export interface Notifier {
  /**
   * How things are; told when it has been so for 10 s, and only if that is news: a trouble that
   * comes and goes is told once at most. No timer runs while nothing changes.
   */
  report(subject: Subject, isTrouble: boolean): void
  /** A device has logged in that never did before. */
  greet(label: string): void
  close(): void
}

interface NotifierOptions {
  readonly clock: Pick<Clock, 'after'>
  readonly logger: Logger
  /** Where notifications go; by default to the desktop. */
  readonly sender?: Pick<NotificationSender, 'send' | 'close'>
}

/** A clipboard or a socket that comes back by itself has done so by then. */
const DELAY_MS = 10_000

const SEE_STATUS = '"clipgate status" says why.'

const TOLD: Readonly<Record<Subject, Readonly<Record<'trouble' | 'end', Notification>>>> = {
  clipboard: {
    trouble: { title: 'clipgate cannot share what you copy', text: SEE_STATUS },
    end: {
      title: 'clipgate shares the clipboard again',
      text: 'What you copy reaches your devices.',
    },
  },
  gateway: {
    trouble: { title: 'Devices may not reach clipgate', text: SEE_STATUS },
    end: { title: 'Devices reach clipgate again', text: 'It listens for them as before.' },
  },
  control: {
    trouble: { title: 'Commands do not reach clipgate', text: 'Your devices still do.' },
    end: { title: 'Commands reach clipgate again', text: 'It listens for them as before.' },
  },
  disk: {
    trouble: {
      title: 'No room for a file from a device',
      text: 'The disk of clipgate is too full.',
    },
    end: { title: 'Room for files again', text: 'Devices can send what did not fit.' },
  },
}

/** Makes a notifier. */
export function createNotifier({ clock, logger, sender }: NotifierOptions): Notifier {
  const to = sender ?? new NotificationSender(logger)
  const reported = new Set<Subject>()
  /** Ends the wait until a change is told, for each subject that waits. */
  const waiting = new Map<Subject, () => void>()
  const stopWaiting = (subject: Subject): void => {
    waiting.get(subject)?.()
    waiting.delete(subject)
  }
  return {
    report(subject, isTrouble) {
      if (isTrouble === reported.has(subject)) return stopWaiting(subject)
      if (waiting.has(subject)) return
      const tell = (): void => {
        waiting.delete(subject)
        if (isTrouble) reported.add(subject)
        else reported.delete(subject)
        to.send(TOLD[subject][isTrouble ? 'trouble' : 'end'])
      }
      waiting.set(subject, clock.after(DELAY_MS, tell))
    },
    greet: (label) =>
      to.send({ title: 'A new device', text: `“${label}” has logged in for the first time.` }),
    close() {
      for (const cancel of waiting.values()) cancel()
      waiting.clear()
      to.close()
    },
  }
}
