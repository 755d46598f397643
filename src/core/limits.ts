/** Every number of the service contract, once, with its reason. @module */

export const KIB = 1024
export const MIB: number = 1024 * KIB
export const GIB: number = 1024 * MIB

/** Hard cap of one uploaded file. */
export const MAX_FILE_BYTES: number = 10 * GIB

/** Cap of a request that carries metadata and texts only; also of a text that came as a file. */
export const MAX_METADATA_BYTES: number = 16 * MIB

/**
 * The text that comes with an Image, a File or a Group, in UTF-8: it is a name, is written again
 * with each push of a Text, and is held for each recent item. A path of usual systems fits in.
 */
export const MAX_NAME_TEXT_BYTES: number = 4 * KIB

/** A third event stream of one device closes its oldest. */
export const MAX_STREAMS_PER_DEVICE = 2

/** People who know the protocol use one login on all their computers and phones. */
export const MAX_HUB_CONNECTIONS_PER_DEVICE = 16

/** Comment line of an event stream; a client gives a stream up after 50 s without bytes. */
export const HEARTBEAT_MS = 25_000

/** A staged upload waits this long for its document. */
export const STAGING_TTL_MS: number = 60 * 60 * 1000

/** Names that one device may have staged; one more drops its oldest. */
export const MAX_STAGED_PER_DEVICE = 16

/** Uploads of one batch: more than people choose at once on a phone. */
export const MAX_BATCH_UPLOADS = 500

/** Batches that one device may have staged, as of several tabs; one more drops its oldest. */
export const MAX_BATCHES_PER_DEVICE = 4

/** Bytes that all staged uploads together may take. */
export const STAGING_QUOTA_BYTES: number = 20 * GIB

/** Uploads leave this much of the disk free. */
export const MIN_FREE_BYTES: number = 256 * MIB

/** The same content from the same device within this time is one push, sent twice. */
export const REPEAT_PUSH_MS = 200

/** Longest password that is verified; longer ones are refused unread. */
export const MAX_PASSWORD_LENGTH = 256

/** Shortest password that a person may choose. */
export const MIN_PASSWORD_LENGTH = 8

/** Longest device label. */
export const MAX_LABEL_LENGTH = 64

/** A clipboard image beyond this is not read from the system clipboard. */
export const MAX_CLIPBOARD_IMAGE_BYTES: number = 64 * MIB

/** A pause with an end is for a meeting, a day or a journey; longer ones are ended by hand. */
export const MAX_PAUSE_MS: number = 365 * 24 * 60 * 60 * 1000

/** Files and folders that are shared as one Group: more is a backup, not something to paste. */
export const MAX_GROUP_ENTRIES = 10_000

/** Folders in folders of a Group: deeper than people nest, and than other systems can unpack. */
export const MAX_GROUP_DEPTH = 64

/** A relative name in a Group, in UTF-8: the longest path that every usual system can make. */
export const MAX_GROUP_NAME_BYTES = 1024

/** All relative names in a Group that came, in UTF-16 code units: a hundred for each entry. */
export const MAX_GROUP_NAMES_LENGTH: number = MIB

/** A Group that came is looked into up to this: a second or two, behind ten of its upload. */
export const MAX_UNPACKED_BYTES: number = 512 * MIB

/** Items that the owner may ask to be kept in mind, besides the current one. */
export const MAX_RECENT_ITEMS = 100

/** All of them together: a third of what a daemon of 50 MiB has. */
export const MAX_RECENT_BYTES: number = 16 * MIB

/** A shorter file is there before anybody could read that it is on its way. */
export const MIN_TOLD_BYTES: number = 8 * MIB
