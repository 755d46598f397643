/** The owner: the person whose daemon it is, who needs no device on the same machine. @module */

/** The id of the owner among senders; those of devices begin otherwise, and so do user names. */
export const OWNER_ID = 'owner'

/** The owner, as the one who asks. */
export interface Owner {
  readonly kind: 'owner'
  readonly id: typeof OWNER_ID
  /** Which token let the request in: that of the commands, that of the panel, or a ticket of it. */
  readonly at: 'command' | 'panel' | 'ticket'
  /** There is no password that could become another one. */
  readonly passwordHash?: undefined
}
