/**
 * The part of WebAssembly that is used here. It is neither in the language's types nor in Node's,
 * only in those of browsers, which this project leaves out.
 *
 * @module
 */

declare namespace WebAssembly {
  class Memory {
    /** Sizes in pages of 64 KiB. */
    constructor(descriptor: { readonly initial: number })
    readonly buffer: ArrayBuffer
  }

  function validate(bytes: Uint8Array): boolean

  function instantiate(
    bytes: Uint8Array,
    imports: Readonly<Record<string, Readonly<Record<string, Memory>>>>,
  ): Promise<{ readonly instance: { readonly exports: Readonly<Record<string, unknown>> } }>
}
