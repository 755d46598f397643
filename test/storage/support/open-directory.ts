/** Opens a data directory, and prints what came of it. @module */

import { DomainError } from '../../../src/core/domain-error.ts'
import { openDataDirectory } from '../../../src/storage/home/data-directory.ts'

try {
  const directory = await openDataDirectory({ path: process.argv[2] ?? '' })
  await directory.close()
  console.log('opened')
} catch (error) {
  console.log(error instanceof DomainError ? `${error.code} ${error.message}` : String(error))
}
