/**
 * The options with which this Node reads our sources, for programs that tests start: `--import tsx`,
 * or none. Newer test runners add dozens of options of their own to `process.execArgv`.
 * @module
 */

export const LOADER: readonly string[] = process.execArgv.flatMap((option, index, all) =>
  option === '--import'
    ? [option, all[index + 1] ?? '']
    : option.startsWith('--import=')
      ? [option]
      : [],
)
