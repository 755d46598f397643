/**
 * Stands in for `osascript -l JavaScript SCRIPT`: runs the real script on a made-up AppKit.
 * @module
 */

import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { createContext, Script } from 'node:vm'
import { ClipboardFile } from '../../helper/support/clipboard-file.js'
import { createRuntime } from './app-kit.js'

/** The real one would check three times a second. */
const CHECK_MS = 5

const [, , language, name, path = '', folder = ''] = process.argv
if (language !== '-l' || name !== 'JavaScript') throw new Error('osascript was called wrongly')

const clipboard = new ClipboardFile(folder)
clipboard.sign()
const globals = createContext(createRuntime(clipboard, CHECK_MS))
// Its URL: coverage is counted by it.
const script = new Script(readFileSync(path, 'utf8'), { filename: pathToFileURL(path).href })
script.runInContext(globals)
globals['run']()
