#!/usr/bin/env node
/**
 * Loads the program where Node is new enough to run it.
 *
 * What a module imports is loaded before its first line runs, so this one imports nothing; and old
 * versions of Node have to be able to read it.
 * @module
 */

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
// `process.getBuiltinModule` came to both of them.
const [neededMajor, neededMinor] = major < 21 ? [20, 19] : [22, 3]

if (major < neededMajor || (major === neededMajor && minor < neededMinor)) {
  const needed = `${neededMajor}.${neededMinor}`
  process.stderr.write(`clipgate needs Node ${needed} or newer, this is ${major}.${minor}\n`)
  process.exitCode = 1
} else {
  import('./program.ts').catch((error) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error
    const what = 'a file or a package of clipgate is missing; install it again'
    process.stderr.write(`Cannot start: ${what} (or run it again, if that is being done)\n`)
    process.exitCode = 1
  })
}

export {}
