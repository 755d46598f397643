/**
 * The addresses of this machine, as far as the system tells.
 *
 * @module
 */

import { networkInterfaces } from 'node:os'
import type { NetworkInterfaces } from './addresses.ts'

/** None where the system refuses to tell, as Android does to programs since version 13. */
export function readInterfaces(): NetworkInterfaces {
  try {
    return networkInterfaces()
  } catch {
    // Links then need --public-url, of which the start warns; private addresses are near anyway.
    return {}
  }
}
