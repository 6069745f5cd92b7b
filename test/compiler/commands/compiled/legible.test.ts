import { expect, it } from 'vitest'
import { legibleDocuments } from '../../../../compiler/commands/compiled/legible.ts'
import { sha256Hex } from '../../../../runtime/lib/text.ts'

const texts = ['{ a }', '{ b }', '{ c }'] as const
const [a, b, c] = texts.map(sha256Hex)

/** Each document for each role has the address that is given. */
function pathsOf(
  sources: readonly string[],
  roles: Readonly<Record<string, Readonly<Record<string, string>>>>,
): readonly string[] {
  const document = { operations: [{ kind: 'query', name: null, shapes: {} }] }
  const addresses = Object.values(roles).flatMap((ofRole) => Object.values(ofRole))
  const files = {
    'documents/index.json': JSON.stringify({ roles }),
    ...Object.fromEntries(addresses.map((address) => [`documents/${address}.json`, JSON.stringify(document)])),
  }
  return Object.keys(
    legibleDocuments(
      files,
      sources.map((source, at) => ({ source, text: texts[at] ?? '', roles: null })),
    ),
  )
}

it('roles that run the same share one file, and others have their own', () => {
  const roles = { anon: { [`${a}`]: '1' }, member: { [`${a}`]: '2' }, owner: { [`${a}`]: '1' } }
  expect(pathsOf(['src/list.graphql'], roles)).toEqual(['documents/list.anon.sql', 'documents/list.member.sql'])
})

it('documents of the same name have different files, also where case does not count', () => {
  const roles = { anon: { [`${a}`]: '1', [`${b}`]: '2', [`${c}`]: '3' } }
  const paths = pathsOf(['x/list.graphql', 'y/List.graphql', 'y/other.graphql'], roles)
  expect(paths).toEqual([
    expect.stringMatching(/^documents\/list-[0-9a-f]{8}\.anon\.sql$/),
    expect.stringMatching(/^documents\/List-[0-9a-f]{8}\.anon\.sql$/),
    'documents/other.anon.sql',
  ])
  expect(new Set(paths.map((path) => path.toLowerCase())).size).toBe(3)
})

it('a file takes nothing of a name that leads to another folder', () => {
  const roles = { '../a b': { [`${a}`]: '1' } }
  expect(pathsOf(['persisted.json#One,Two/../x'], roles)).toEqual(['documents/One-Two-x.-a-b.sql'])
})
