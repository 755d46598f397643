/** Runs a program to its end, with what it printed; rejects when it fails. @module */

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

export const execute: typeof execFile.__promisify__ = promisify(execFile)
