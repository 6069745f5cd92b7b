import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { findFiles } from '../../../../../compiler/commands/advise/diff/document-changes.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'catalograph-files-'))
  for (const path of ['a.graphql', 'b.gql', 'c+d.graphql', 'x/a.graphql', 'x/y/deep.graphql', 'x/y/other.txt']) {
    await mkdir(join(folder, path, '..'), { recursive: true })
    await writeFile(join(folder, path), '')
  }
})
afterAll(() => rm(folder, { recursive: true, force: true }))

it.each([
  ['a.graphql', ['a.graphql']],
  ['*.graphql', ['a.graphql', 'c+d.graphql']],
  ['?.{graphql,gql}', ['a.graphql', 'b.gql']],
  ['**/*.graphql', ['a.graphql', 'c+d.graphql', 'x/a.graphql', 'x/y/deep.graphql']],
  ['x/**', ['x/a.graphql', 'x/y/deep.graphql', 'x/y/other.txt']],
  ['x/*', ['x/a.graphql']],
  ['c+?.graphql', ['c+d.graphql']],
  ['*.none', []],
])('a pattern finds files: %s', async (pattern, expected) => {
  expect((await findFiles(join(folder, pattern))).map((path) => relative(folder, path))).toEqual(expected)
})

it('the search rejects where there is no such folder', async () => {
  await expect(findFiles(join(folder, 'nowhere/*.graphql'))).rejects.toMatchObject({ code: 'ENOENT' })
})
