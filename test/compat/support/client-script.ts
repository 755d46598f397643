/**
 * What a file of fixtures/clients says, decoded. The README there has the format for people.
 *
 * @module
 */

import type { MakeValue } from './make-value.ts'
import type { Template } from './template.ts'

export interface ClientScript {
  readonly file: string
  readonly scenarios: readonly Scenario[]
}

export interface Scenario {
  readonly title: string
  /** The values of the whole file first. */
  readonly steps: readonly Step[]
}

export type Step = { readonly line: number } & (
  | {
      readonly kind: 'let'
      readonly name: string
      readonly make: MakeValue
      readonly argument: Template
    }
  | { readonly kind: 'given'; readonly item: ItemTemplate }
  | { readonly kind: 'current'; readonly item: ItemTemplate | undefined }
  | { readonly kind: 'wait'; readonly ms: number }
  | {
      readonly kind: 'compare'
      readonly names: readonly [string, string]
      readonly ignoreCase: boolean
    }
  | Exchange
)

/** A clipboard item, as a person would name it. */
export type ItemTemplate =
  | { readonly type: 'Text'; readonly text: Template }
  | {
      readonly type: 'Image' | 'File' | 'Group'
      readonly dataName: Template
      readonly bytes: Template
    }

/** One request, and what its sender needs to be answered. */
export interface Exchange {
  readonly kind: 'exchange'
  readonly method: string
  /** Without the empty line that ends it. */
  readonly head: Template
  readonly body: Template
  /** Sizes of the first chunks, when the body is chunked; the rest is the last one. */
  readonly chunks: readonly number[] | undefined
  /** The body follows once the server says `100 Continue`. */
  readonly awaitsContinue: boolean
  /** On a connection of its own. */
  readonly opens: boolean
  /** The server hangs up after its answer. */
  readonly closes: boolean
  /** What the person wants to be on the clipboard afterwards; `undefined` when it is no push. */
  readonly pushes: ItemTemplate | 'nothing' | undefined
  readonly statuses: readonly string[]
  readonly checks: readonly Check[]
}

/** One line of what an answer must be. */
export type Check = { readonly line: number } & (
  | { readonly kind: 'header'; readonly name: string; readonly value: Template | undefined }
  | { readonly kind: 'no-header'; readonly name: string }
  | { readonly kind: 'json'; readonly value: Template }
  | { readonly kind: 'without'; readonly field: string }
  | { readonly kind: 'body'; readonly value: Template }
  | {
      readonly kind: 'keep'
      readonly name: string
      readonly source: 'header' | 'json' | 'body'
      readonly key: string
    }
)

/** A fixture that says nothing, or something that nobody would check. */
export class ScriptError extends Error {
  constructor(file: string, line: number, reason: string) {
    super(`${file}:${line}: ${reason}`)
    this.name = 'ScriptError'
  }
}
