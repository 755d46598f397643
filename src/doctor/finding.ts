/**
 * What a check found out, and what to do about it.
 *
 * @module
 */

/** One finding. */
export interface Finding {
  /** Stable name, in kebab-case. */
  readonly check: string
  /** Whether a phone can live with it. */
  readonly ok: boolean
  readonly detail: string
  /** What to do. With `ok` it is a hint, for those who want something else than what is. */
  readonly fix: string | undefined
}

/** Nothing to do. */
export function fine(check: string, detail: string): Finding {
  return { check, ok: true, detail, fix: undefined }
}

/** It works, or cannot be seen from here; some people will want to do something all the same. */
export function hint(check: string, detail: string, fix: string): Finding {
  return { check, ok: true, detail, fix }
}

/** This stops a phone, or is not safe. */
export function problem(check: string, detail: string, fix: string): Finding {
  return { check, ok: false, detail, fix }
}
