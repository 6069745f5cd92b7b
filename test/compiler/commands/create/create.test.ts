import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCommand } from '../../../../compiler/commands/create.ts'
import { builtCli, runHere } from '../../../support/built-cli.ts'

const root = new URL('../../../..', import.meta.url).pathname

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'catalograph-create-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Created {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

const create = (args: readonly string[], path = process.env['PATH'] ?? ''): Promise<Created> =>
  new Promise((resolve) => {
    const options = { cwd: folder, env: { PATH: path, HOME: process.env['HOME'] } }
    execFile(process.execPath, [builtCli, 'create', ...args], options, (error, stdout, stderr) =>
      resolve({ exitCode: error === null ? 0 : Number(error.code), stdout, stderr }),
    )
  })

describe('catalograph create', () => {
  it('writes an application into a new or empty folder, with this clone packed', async () => {
    mkdirSync(join(folder, 'my-app'))
    const { exitCode, stdout, stderr } = await create(['my-app'])
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toContain('cd my-app && npm install && npm run dev')
    const app = join(folder, 'my-app')
    const files = readdirSync(app, { recursive: true, encoding: 'utf8' })
    expect(files).toEqual(expect.arrayContaining(['.gitignore', '.env.example', '.graphqlrc.json', 'src/Todos.tsx']))
    expect(readFileSync(join(app, '.gitignore'), 'utf8')).toMatch(/^\.catalograph$[^]*^\.env$/m)
    expect(readFileSync(join(app, 'README.md'), 'utf8')).toMatch(/^# my-app\n/)
    const manifest = JSON.parse(readFileSync(join(app, 'package.json'), 'utf8'))
    const packages: Readonly<Record<string, string>> = { ...manifest.dependencies, ...manifest.devDependencies }
    for (const name of ['@catalograph/client', 'catalograph'])
      expect(files).toContain(packages[name]?.replace(/^file:/, ''))
  })

  it.each(['vite', 'ssr'])('has the versions of packages in the template %s that are tested here', (template) => {
    const read = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'))
    const { dependencies, devDependencies } = read(`compiler/commands/create/templates/${template}/package.json`)
    const own = read('package.json').devDependencies
    for (const name of ['react', 'react-dom', '@types/react', '@types/react-dom', 'typescript'])
      expect({ ...dependencies, ...devDependencies }).toHaveProperty([name], own[name])
  })

  it.each([
    [['My App'], 'My App cannot be the name'],
    [['../app'], 'cannot be the name'],
    [[], 'create takes the name'],
    [['one', 'two'], 'create takes the name'],
    [['app', '--template', 'vitte'], 'there is no template vitte; did you mean vite?'],
  ] as const)('refuses %j', async (args, sentence) => {
    const { exitCode, stderr } = await runHere(createCommand, ['create', ...args], {})
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(sentence)])
  })

  it('leaves a folder alone that is not empty', async () => {
    mkdirSync(join(folder, 'taken'))
    writeFileSync(join(folder, 'taken/mine'), 'mine')
    const { exitCode, stderr } = await create(['taken'])
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('exists and is not empty')])
    expect(readdirSync(join(folder, 'taken'))).toEqual(['mine'])
  })

  it('leaves nothing behind where npm is missing', async () => {
    const { exitCode, stderr } = await create(['without-npm'], '/nowhere')
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('npm was not found')])
    expect(readdirSync(folder).filter((name) => name.startsWith('without-npm'))).toEqual([])
  })
})
