import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { parse } from 'yaml'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { PROJECT } from './support/make-release.ts'

interface Step {
  readonly id?: string
  readonly uses?: string
  readonly run?: string
  readonly env?: Readonly<Record<string, string>>
}

interface Job {
  readonly permissions: Readonly<Record<string, string>>
  readonly environment?: string
  readonly needs?: string
  readonly steps: readonly Step[]
}

interface Workflow {
  readonly on: unknown
  readonly permissions: unknown
  readonly jobs: Readonly<Record<string, Job>>
}

const read = (name: string): string =>
  readFileSync(join(PROJECT, '.github/workflows', name), 'utf8')
const text = read('release.yml')
const workflow: Workflow = parse(text)
const commands = (job: Job | undefined) => job?.steps.flatMap(({ run = [] }) => run) ?? []

describe('the workflow of a release', () => {
  it('runs for tags of versions only', () => {
    assert.deepEqual(workflow.on, { push: { tags: ['v*'] } })
  })

  it('gives the right to publish to a job that runs nothing of the project', () => {
    const { make, publish } = workflow.jobs
    assert.deepEqual([workflow.permissions, make?.permissions], [{}, { contents: 'read' }])
    assert.deepEqual([publish?.needs, publish?.environment], ['make', 'release'])
    assert.doesNotMatch(commands(publish).join('\n'), /\bmake\b|\bnpm (?!publish)|\bnpx\b/)
    assert.doesNotMatch(publish?.steps.map(({ uses }) => uses).join() ?? '', /checkout/)
    assert.doesNotMatch(text, /\{\{ *secrets/)
  })

  it('has the notes of its version, with links that lead there, or ends', async (t) => {
    const script = workflow.jobs['make']?.steps.find(({ id }) => id === 'notes')?.run ?? ''
    const folder = await temporaryFolder(t)
    writeFileSync(join(folder, 'package.json'), '{"version":"1.2.0"}')
    const output = join(folder, 'output')
    const notesOf = (changelog: string, tag = 'v1.2.0'): string => {
      writeFileSync(join(folder, 'CHANGELOG.md'), changelog)
      writeFileSync(output, '')
      const env = { ...process.env, GITHUB_OUTPUT: output, GITHUB_REPOSITORY: 'us/clipgate' }
      execFileSync('sh', ['-e', '-c', script], {
        cwd: folder,
        env: { ...env, GITHUB_REF_NAME: tag },
        stdio: 'ignore',
      })
      return readFileSync(output, 'utf8')
    }
    const newest = '## [1.2.0] - 2026-12-01\n\n- It [waves](docs/a.md#b).\n'
    const changelog = `# Changes\n\n${newest}\n## [1.1.0]\n\n- It walks.\n`
    const waves = '- It [waves](https://github.com/us/clipgate/blob/v1.2.0/docs/a.md#b).'
    const expected = `text<<END-OF-NOTES\n\n${waves}\nEND-OF-NOTES\n`
    assert.equal(notesOf(changelog), expected)
    assert.equal(notesOf(newest), expected)
    assert.throws(() => notesOf(changelog, 'v1.1.0'))
    assert.throws(() => notesOf('## [Unreleased]\n\n- It waves.\n'))
  })

  it('publishes with provenance what was made, and signs all of it', () => {
    const lines = commands(workflow.jobs['publish']).join('\n')
    assert.match(lines, /^npm publish \.\/release\/clipgate-\*\.tgz --provenance/m)
    assert.match(lines, /sha256sum -c SHA256SUMS/)
    assert.match(text, /subject-checksums: release\/SHA256SUMS/)
    assert.match(lines, /^skopeo copy --all --preserve-digests "oci-archive:/m)
    assert.ok(lines.indexOf('sha256sum -c') < lines.indexOf('skopeo'), 'nothing else is published')
  })
})

describe('the workflow of each day', () => {
  it('tests what comes from anybody without rights, and everything each night', () => {
    const { on, permissions, jobs }: Workflow = parse(read('check.yml'))
    assert.deepEqual(Object.keys(Object(on)), ['push', 'pull_request', 'schedule'])
    assert.deepEqual(permissions, {})
    for (const job of Object.values(jobs)) assert.deepEqual(job.permissions, { contents: 'read' })
    assert.deepEqual(commands(jobs['fast']), ['make test-fast'])
    assert.deepEqual(commands(jobs['night']).toSpliced(1, 1), [
      '.ci/run',
      'make debian-12-arm64',
      'make night',
      'make processors',
    ])
    const night = jobs['night']?.steps.find(({ run }) => run === 'make night')
    assert.equal(night?.env?.['CLIPGATE_TEST_REQUIRE'], 'all')
  })
})

for (const [name, ...expected] of [
  ['release.yml', 'check', 'release'],
  ['check.yml', 'test-fast', 'bare', 'debian-12-arm64', 'night', 'processors'],
] as const) {
  describe(name, () => {
    const jobs = Object.values((parse(read(name)) as Workflow).jobs)

    it('names foreign actions by their content', () => {
      const used = [...read(name).matchAll(/uses: (.*)/g)].map(([, action = '']) => action)
      assert.ok(used.length > 2, 'it uses some')
      for (const action of used)
        assert.match(action, /^actions\/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
      const steps = jobs.flatMap(({ steps }) => steps.filter(({ uses }) => uses))
      assert.equal(used.length, steps.length)
    })

    it('has commands that a shell can read, and targets of the Makefile', () => {
      const makefile = readFileSync(join(PROJECT, 'Makefile'), 'utf8')
      const lines = jobs.flatMap(commands)
      for (const line of lines) execFileSync('sh', ['-n', '-c', line])
      const targets = lines.flatMap((line) => /^make ([a-z0-9-]+)$/.exec(line)?.[1] ?? [])
      assert.deepEqual(targets, expected)
      for (const target of targets) assert.match(makefile, new RegExp(`^${target}:`, 'm'))
    })
  })
}
