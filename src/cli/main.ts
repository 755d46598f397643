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
  void import('./program.ts')
}

export {}
