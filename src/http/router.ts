/**
 * Finds the row of an endpoint table that a path asks for.
 *
 * The table is compiled once. Paths without parameters are found in one step.
 * @module
 */

import type { Route } from './call.ts'
import { decodeSegments } from './request-head.ts'

/** Everything that stands at one path. */
export interface Resource {
  readonly segments: readonly string[]
  readonly methods: ReadonlyMap<string, Route<never>>
  /** For the `Allow` header. */
  readonly allow: string
  /** Answered to anybody. */
  readonly isPublic: boolean
}

/** A resource that was found, with the parameters of its path. */
export interface Match {
  readonly resource: Resource
  readonly params: Readonly<Record<string, string>>
}

const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({})

/** An endpoint table, compiled. */
export class Router {
  readonly #literal = new Map<string, Match>()
  readonly #all: readonly Resource[]

  /** @throws {Error} When two rows are about the same thing, or one path is public and private. */
  constructor(routes: readonly Route<never>[], publicRoutes: readonly Route<never>[] = []) {
    const open = new Set(publicRoutes.map(({ pattern }) => pattern))
    const mixed = routes.find(({ pattern }) => open.has(pattern))
    if (mixed !== undefined) throw new Error(`${mixed.pattern} is public and private`)
    const resources = new Map<string, Map<string, Route<never>>>()
    for (const row of [...publicRoutes, ...routes]) {
      const methods = resources.get(row.pattern) ?? new Map<string, Route<never>>()
      if (methods.has(row.method)) throw new Error(`Two routes for ${row.method} ${row.pattern}`)
      resources.set(row.pattern, methods.set(row.method, row))
    }
    for (const methods of resources.values()) {
      const get = methods.get('GET')
      if (get !== undefined && !methods.has('HEAD')) methods.set('HEAD', get)
    }
    this.#all = [...resources]
      .map(
        ([pattern, methods]): Resource => ({
          segments: pattern.slice(1).split('/'),
          methods,
          allow: [...methods.keys()].join(', '),
          isPublic: open.has(pattern),
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
  matchLiteral(path: string): Match | undefined {
    return this.#literal.get(path)
  }

  /** @param path Normalised, still percent-encoded. */
  match(path: string): Match | undefined {
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
function literalsFirst(a: Resource, b: Resource): number {
  const differing = a.segments.findIndex(
    (segment, index) => isParameter(segment) !== isParameter(b.segments[index] ?? ''),
  )
  if (differing === -1) return 0
  return isParameter(a.segments[differing] ?? '') ? 1 : -1
}
