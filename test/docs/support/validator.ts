/**
 * Ajv for JSON Schema 2020-12, as strict as it can be told to be.
 * @module
 */

import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'

export function createValidator(): Ajv2020 {
  const validator = new Ajv2020({
    strict: true,
    // Responses narrow a schema that they refer to, and need not repeat what it says.
    strictTypes: false,
    strictRequired: false,
    allErrors: true,
    // Each schema checks a few answers, and shorter code takes longer to make than it saves.
    code: { optimize: false },
    // Have no say in what is valid; `components` are there to be referred to.
    keywords: ['example', 'components'],
  })
  formats.default(validator)
  return validator
}

/** What does not fit, in one line each. */
export function describeErrors(validator: Pick<Ajv2020, 'errors'>): readonly string[] {
  return (validator.errors ?? []).map(({ instancePath, message = '', params }) => {
    return `${instancePath === '' ? 'it' : instancePath} ${message} ${JSON.stringify(params)}`
  })
}
