/** The program `clipgate`, once `main.ts` has found that this Node can run it. @module */

import { ownSurroundings } from '../daemon/folders.ts'
import { explainFailure } from './words/remedies.ts'
import { runCli } from './run-cli.ts'

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', () => {
    // `runCli` finds out whether stdout took everything; lines that cannot be logged are lost.
  })
}

process.on('uncaughtException', (thrown) => {
  // A daemon handles its failures itself.
  if (process.listenerCount('uncaughtException') > 1) return
  // Node's own message would quote values, and ours are secrets.
  process.stderr.write(`${explainFailure(thrown)}\n`, () => process.exit(1))
})

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
// Nothing that is left open, such as the stdin of a pipe, keeps the program alive.
void code.then((exitCode) => setImmediate(() => process.exit(exitCode)))
