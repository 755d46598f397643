/**
 * Times in history records: ISO 8601, read in the spellings of the clients' platforms, written in
 * one.
 * @module
 */

const DATE = /^\d{4}-\d{2}-\d{2}/
const TIME = /^[Tt ](\d{2}:\d{2}(?::\d{2})?)(?:[.,](\d{1,9}))?/
const ZONE = /^(?:[Zz]|([+-]\d{2}):?(\d{2}))$/

const YEAR_10000 = 253_402_300_800_000

/**
 * The moment that `text` names, in Unix milliseconds; what is finer is cut off. Without a zone it
 * is UTC, which is what clients mean that leave it out.
 *
 * @returns `undefined` when it names none, or one before 1970: platforms write the year 1 for
 *   "never".
 */
export function parseTime(text: string): number | undefined {
  const [date = ''] = DATE.exec(text) ?? []
  if (!isDay(date)) return undefined
  const [time = '', clock = '00:00', fraction = ''] = TIME.exec(text.slice(date.length)) ?? []
  const zone = text.slice(date.length + time.length)
  const [isZone, hours = '+00', minutes = '00'] = ZONE.exec(zone) ?? []
  if (isZone === undefined && zone !== '') return undefined
  const seconds = clock.length === 5 ? ':00' : ''
  const milliseconds = `${fraction}000`.slice(0, 3)
  const at = Date.parse(`${date}T${clock}${seconds}.${milliseconds}${hours}:${minutes}`)
  return at >= 0 && at < YEAR_10000 ? at : undefined
}

/** `YYYY-MM-DDTHH:mm:ss.sssZ` of Unix milliseconds. */
export function formatTime(at: number): string {
  return new Date(at).toISOString()
}

/** `Date.parse` takes the 30th of February for a day in March. */
function isDay(date: string): boolean {
  const at = Date.parse(`${date}T00:00:00Z`)
  return !Number.isNaN(at) && formatTime(at).startsWith(date)
}
