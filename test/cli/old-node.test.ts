import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { transform } from 'esbuild'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { execute } from '../support/execute.ts'
import { without } from '../support/requirements.ts'

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))

/** The program that `make old-node` gets. */
const OLD_NODE = fileURLToPath(
  new URL(
    `../../node_modules/.cache/node-18/node_modules/node-${process.platform}-${process.arch}/bin/node`,
    import.meta.url,
  ),
)

function needsOldNode(): { readonly skip: string | false } {
  if (existsSync(OLD_NODE)) return { skip: false }
  return without('Node 18: make old-node')
}

/** Builds the entry as `build/build.js` does, beside a program that no old version could run. */
async function build(t: TestContext): Promise<string> {
  const folder = await temporaryFolder(t)
  const { code } = await transform(await readFile(MAIN, 'utf8'), {
    loader: 'ts',
    format: 'esm',
    target: 'node20.19',
    minifySyntax: true,
    minifyWhitespace: true,
  })
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  await writeFile(join(folder, 'main.js'), code.replace('program.ts', 'program.js'))
  await writeFile(join(folder, 'program.js'), 'process.getBuiltinModule("fs"); console.log("runs")')
  return join(folder, 'main.js')
}

async function run(node: string, args: readonly string[]) {
  return execute(node, [...args]).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => {
      return { code, stdout, stderr }
    },
  )
}

describe('the program on a Node that is too old', () => {
  it('says which one it needs, on a real one', needsOldNode(), async (t) => {
    const { code, stdout, stderr } = await run(OLD_NODE, [await build(t)])
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, /^clipgate needs Node 20\.19 or newer, this is 18\.\d+\n$/)
  })

  it('says so in each version that lacks something, and runs in all others', async (t) => {
    const main = await build(t)
    for (const [version, needed] of [
      ['12.22.12', '20.19'],
      ['20.18.3', '20.19'],
      ['20.19.0', undefined],
      ['21.7.3', '22.3'],
      ['22.2.0', '22.3'],
      ['22.3.0', undefined],
      ['24.0.0', undefined],
    ] as const) {
      const preload = `Object.defineProperty(process,'versions',{value:{node:'${version}'}})`
      const told = await run(process.execPath, [
        '--import',
        `data:text/javascript,${preload}`,
        main,
      ])
      const minor = version.split('.').slice(0, 2).join('.')
      const expected =
        needed === undefined
          ? { code: 0, stdout: 'runs\n', stderr: '' }
          : {
              code: 1,
              stdout: '',
              stderr: `clipgate needs Node ${needed} or newer, this is ${minor}\n`,
            }
      assert.deepEqual(told, expected, version)
    }
  })
})
