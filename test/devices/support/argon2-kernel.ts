/**
 * The kernel by itself: the worker takes it only where Node has no Argon2 of its own.
 * @module
 */

import { readFileSync } from 'node:fs'
import type { Argon2Job } from '../../../src/devices/phc-string.ts'

export const KERNEL = new URL('../../../src/devices/argon2-kernel.wasm', import.meta.url)

/** What stands in `argon2-kernel.as`. */
export interface Argon2Kernel {
  readonly memory: { readonly buffer: ArrayBuffer }
  readonly PASSWORD: { readonly value: number }
  readonly TAG: { readonly value: number }
  reserve(passwordBytes: number, saltBytes: number, memoryKib: number): void
  derive(
    passwordBytes: number,
    saltBytes: number,
    memoryKib: number,
    passes: number,
    lanes: number,
    tagBytes: number,
  ): void
}

/** The types of Node 20 do not know it. */
interface WithWebAssembly {
  readonly WebAssembly: {
    readonly Module: new (code: Uint8Array) => object
    readonly Instance: new (module: object) => { readonly exports: Argon2Kernel }
  }
}

export function openKernel(): Argon2Kernel {
  const { WebAssembly } = globalThis as unknown as WithWebAssembly
  return new WebAssembly.Instance(new WebAssembly.Module(readFileSync(KERNEL))).exports
}

export function deriveWith(kernel: Argon2Kernel, job: Argon2Job): Uint8Array {
  const { password, salt, memoryKib, passes, parallelism, tagLength } = job
  kernel.reserve(password.length, salt.length, memoryKib)
  const bytes = new Uint8Array(kernel.memory.buffer)
  bytes.set(password, kernel.PASSWORD.value)
  bytes.set(salt, kernel.PASSWORD.value + password.length)
  kernel.derive(password.length, salt.length, memoryKib, passes, parallelism, tagLength)
  return bytes.slice(kernel.TAG.value, kernel.TAG.value + tagLength)
}
