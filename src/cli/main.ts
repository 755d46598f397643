#!/usr/bin/env node
/**
 * The program `clipgate`.
 *
 * @module
 */

import { ownSurroundings } from '../daemon/folders.ts'
import { runCli } from './run-cli.ts'

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // A reader that has seen enough, as `head` has, is no failure. A full disk is one.
    if (error.code !== 'EPIPE') process.exitCode = 1
  })
}

const code = runCli(process.argv.slice(2), {
  // A getter, as it is one in Node: opening stdin takes time that most commands do not have.
  get stdin() {
    return process.stdin
  },
  stdout: process.stdout,
  stderr: process.stderr,
  where: ownSurroundings(),
  cwd: process.cwd(),
})
// Not before what was printed was taken over, or has failed; then nothing that is left open, such
// as the stdin of a pipe, keeps the program alive.
void code.then((exitCode) => {
  process.stdout.write('', () => setImmediate(() => process.exit(process.exitCode ?? exitCode)))
})
