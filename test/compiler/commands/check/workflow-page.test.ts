import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { readConfiguration } from '../../../../compiler/commands/check/configuration.ts'
import { builtCli } from '../../../support/built-cli.ts'
import { createDatabase } from '../../../support/database.ts'
import { commandsIn, examplesIn, readPage } from '../../../support/examples.ts'
import { isWhole, leftToWhole } from '../../../support/whole.ts'

/** docs/workflow.md: the file, the workflow of GitHub Actions and the shell run the same commands. */

const examples = examplesIn(readPage('docs/workflow.md'))
const shown = (language: string): string => examples.find((example) => example.language === language)?.text ?? ''

interface Step {
  readonly run?: string
  readonly env?: Readonly<Record<string, string>>
}

const steps = (parse(shown('yaml')) as { readonly jobs: { readonly check: { readonly steps: readonly Step[] } } }).jobs
  .check.steps

it('the page shows a workflow that runs the commands of the shell', () => {
  const run = steps.flatMap((step) => step.run ?? [])
  const inShell = commandsIn(examples.filter(({ language }) => language === 'sh').at(-1)?.text ?? '')
  expect(run).toEqual(inShell.map((words) => words.join(' ')))
  expect(run).toEqual(['npm ci', 'npx catalograph check'])
})

it('the page shows a file, and sets its variables in the workflow', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'catalograph-page-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'catalograph.json')
  await writeFile(file, shown('json'))
  const { checks } = await readConfiguration(file, steps.at(-1)?.env ?? {})
  expect(checks.map(({ name }) => name)).toEqual(['diff', 'cost', 'compile', 'codegen', 'policies', 'verify'])
  await expect(readConfiguration(file, {})).rejects.toThrow('diff.against: the variable PRODUCTION_URL')
})

const migration = `create table note (id int primary key, owner uuid, body text);
alter table note enable row level security;
create policy own on note to authenticated using (owner = auth.uid());
grant usage on schema public to authenticated;
grant select on note to authenticated;
comment on schema public is '@graphql({"inflect_names": true, "introspection": true})';`

const policies = `| Actor | Role | Claims |
| --- | --- | --- |
| ada | authenticated | \`{"sub": "00000000-0000-4000-8000-000000000001"}\` |

## public.note

| Actor | select |
| --- | --- |
| ada | \`owner = auth.uid()\` |
`

it.skipIf(!isWhole)(
  `the page shows commands that pass in a project (${isWhole ? 'whole' : leftToWhole})`,
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'catalograph-project-'))
    const db = await createDatabase({ prepare: 'auth', sql: migration })
    onTestFinished(async () => {
      await rm(folder, { recursive: true, force: true })
      await db.drop()
    })
    const files = {
      'catalograph.json': shown('json'),
      'db/migrations/1_note.sql': `-- migrate:up\n${migration}\n-- migrate:down\ndrop table note;\n`,
      'db/seed.sql':
        "insert into note values (1, '00000000-0000-4000-8000-000000000001', 'hers'), (2, null, 'not hers')",
      'db/policies.md': policies,
      'src/notes.graphql': 'query Notes { noteCollection(first: 5) { edges { node { id body } } } }',
    }
    await mkdir(join(folder, 'db/migrations'), { recursive: true })
    await mkdir(join(folder, 'src'))
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
    const env = {
      PATH: process.env['PATH'],
      PRODUCTION_URL: db.ownerUrl,
      DATABASE_OWNER_URL: db.ownerUrl,
      DATABASE_URL: db.url,
    }
    const run = (...args: readonly string[]): Promise<string> =>
      new Promise((resolve) => {
        execFile(process.execPath, [builtCli, ...args], { cwd: folder, env }, (_error, stdout) => resolve(stdout))
      })
    const commands = commandsIn(examples.find(({ language }) => language === 'sh')?.text ?? '')
    expect(commands.map((words) => words.join(' '))).toEqual(['npx catalograph check --write', 'npx catalograph check'])
    const names = ['migrations', 'diff', 'cost', 'compile', 'codegen', 'policies', 'verify']
    const passed = (some: readonly string[]): string => some.map((name) => `${name.padEnd(12)}ok\n`).join('')
    expect(await run('check', '--write')).toBe(passed(['migrations', 'cost', 'compile', 'codegen']))
    expect(await run('check')).toBe(passed(names))
  },
  120_000,
)
