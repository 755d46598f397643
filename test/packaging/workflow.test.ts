import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { parse } from 'yaml'
import { PROJECT } from './support/make-release.ts'

interface Step {
  readonly uses?: string
  readonly run?: string
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

const text = readFileSync(join(PROJECT, '.github/workflows/release.yml'), 'utf8')
const workflow: Workflow = parse(text)
const jobs = Object.values(workflow.jobs)
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

  it('names foreign actions by their content', () => {
    const used = [...text.matchAll(/uses: (.*)/g)].map(([, action = '']) => action)
    assert.ok(used.length > 3, 'it uses some')
    for (const action of used)
      assert.match(action, /^actions\/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
    assert.equal(used.length, jobs.flatMap(({ steps }) => steps.filter(({ uses }) => uses)).length)
  })

  it('has commands that a shell can read, and targets of the Makefile', () => {
    const makefile = readFileSync(join(PROJECT, 'Makefile'), 'utf8')
    const lines = jobs.flatMap(commands)
    for (const line of lines) execFileSync('sh', ['-n', '-c', line])
    const targets = lines.flatMap((line) => /^make ([a-z]+)$/.exec(line)?.[1] ?? [])
    assert.deepEqual(targets, ['check', 'release'])
    for (const target of targets) assert.match(makefile, new RegExp(`^${target}:`, 'm'))
  })

  it('publishes with provenance what was made, and signs all of it', () => {
    const lines = commands(workflow.jobs['publish']).join('\n')
    assert.match(lines, /^npm publish \.\/release\/clipgate-\*\.tgz --provenance/m)
    assert.match(lines, /sha256sum -c SHA256SUMS/)
    assert.match(text, /subject-checksums: release\/SHA256SUMS/)
  })
})
