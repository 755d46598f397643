/** A check's verdict on one thing, and what to do about it. @module */

/** The judgement of one check. */
export interface Verdict {
  /** Whether a phone can live with it. */
  readonly ok: boolean
  readonly detail: string
  /** The advice. With `ok` it is a hint, for those who want something else than what is. */
  readonly fix: string | undefined
}

/** A verdict, and the name of its check. */
export interface Finding extends Verdict {
  /** Stable name, in kebab-case. */
  readonly check: string
}

/** Nothing needs to be done. */
export function fine(detail: string): Verdict {
  return { ok: true, detail, fix: undefined }
}

/** It works, or cannot be seen from here; some people will want to do something nevertheless. */
export function hint(detail: string, fix: string): Verdict {
  return { ok: true, detail, fix }
}

/** This stops a phone, or is not safe. */
export function problem(detail: string, fix: string): Verdict {
  return { ok: false, detail, fix }
}

/** A verdict as the finding of a check, with its members in the order that scripts see. */
export function findingOf(check: string, { ok, detail, fix }: Verdict): Finding {
  return { check, ok, detail, fix }
}
