/** Tells a person something where no terminal shows what is printed. @module */

import { showNotification } from '../desktop/notifications/notification-sender.ts'

/** Shows a notification. @returns Whether the desktop took it. */
export function tellOnDesktop(text: string): Promise<boolean> {
  return new Promise((resolve) => {
    showNotification({ title: 'clipgate', text }, (_program, error) => resolve(error === null))
  })
}
