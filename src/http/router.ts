/**
 * Finds the row of an endpoint table that a path asks for.
 *
 * The table is compiled once. Paths without parameters are found in one step.
 *
 * @module
 */

import type { Route } from './call.ts'
import { decodeSegments } from './target.ts'

interface Segmented {
  readonly segments: readonly string[]
}

/** Everything that stands at one path. */
export interface Resource<Principal> extends Segmented {
  readonly methods: ReadonlyMap<string, Route<Principal>>
  /** For the `Allow` header. */
  readonly allow: string
}

/** What a path led to. */
export interface Match<Principal> {
  readonly resource: Resource<Principal>
  readonly params: Readonly<Record<string, string>>
}

const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({})

/** An endpoint table, compiled. */
export class Router<Principal> {
  readonly #literal = new Map<string, Match<Principal>>()
  readonly #all: readonly Resource<Principal>[]

  constructor(routes: readonly Route<Principal>[]) {
    const resources = new Map<string, Map<string, Route<Principal>>>()
    for (const row of routes) {
      const methods = resources.get(row.pattern) ?? new Map<string, Route<Principal>>()
      if (methods.has(row.method)) throw new Error(`Two routes for ${row.method} ${row.pattern}`)
      resources.set(row.pattern, methods.set(row.method, row))
    }
    for (const methods of resources.values()) {
      const get = methods.get('GET')
      if (get !== undefined && !methods.has('HEAD')) methods.set('HEAD', get)
    }
    this.#all = [...resources]
      .map(
        ([pattern, methods]): Resource<Principal> => ({
          segments: pattern.slice(1).split('/'),
          methods,
          allow: [...methods.keys()].join(', '),
        }),
      )
      .sort(literalsFirst)
    for (const resource of this.#all) {
      if (resource.segments.some(isParameter)) continue
      this.#literal.set(`/${resource.segments.join('/')}`, { resource, params: NO_PARAMS })
    }
  }

  /**
   * The resource at a path that needs neither normalising nor decoding, if it is one; a cheap
   * first question.
   */
  matchLiteral(path: string): Match<Principal> | undefined {
    return this.#literal.get(path)
  }

  /** @param path Normalised, still percent-encoded. */
  match(path: string): Match<Principal> | undefined {
    const literal = this.#literal.get(path)
    if (literal !== undefined) return literal
    const segments = decodeSegments(path)
    if (segments === undefined) return undefined
    const resource = this.#all.find((candidate) => fits(candidate.segments, segments))
    return resource && { resource, params: readParams(resource.segments, segments) }
  }
}

function isParameter(segment: string): boolean {
  return segment.startsWith('{')
}

function fits(pattern: readonly string[], segments: readonly string[]): boolean {
  return (
    pattern.length === segments.length &&
    pattern.every((expected, index) => isParameter(expected) || expected === segments[index])
  )
}

function readParams(
  pattern: readonly string[],
  segments: readonly string[],
): Readonly<Record<string, string>> {
  const params: Record<string, string> = {}
  pattern.forEach((name, index) => {
    if (isParameter(name)) params[name.slice(1, -1)] = segments[index] ?? ''
  })
  return params
}

/** Orders patterns of one length so that the first that fits is the most literal one. */
function literalsFirst(a: Segmented, b: Segmented): number {
  const differing = a.segments.findIndex(
    (segment, index) => isParameter(segment) !== isParameter(b.segments[index] ?? ''),
  )
  return differing === -1 ? 0 : Number(isParameter(a.segments[differing] ?? '')) * 2 - 1
}
