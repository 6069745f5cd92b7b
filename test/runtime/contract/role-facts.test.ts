import { expect, test } from 'vitest'
import { decidingFacts } from '../../../runtime/contract/facts.ts'

const manifest = {
  holders: ['anon', 'editor'],
  roles: {
    editor: { superuser: false, effective: ['editor', 'public'] },
    first: { superuser: false, effective: ['anon', 'first', 'public'] },
    second: { superuser: false, effective: ['public', 'second', 'anon'] },
    root: { superuser: true, effective: ['root', 'public'] },
  },
}

test('roles that see the same have the same facts, and no others have', () => {
  const facts = (role: string): string => JSON.stringify(decidingFacts(manifest, role))
  expect(facts('first')).toBe(facts('second'))
  expect(facts('anon')).toBe(facts('first'))
  expect(facts('created since')).toBe(JSON.stringify({ superuser: false, effective: ['public'] }))
  const different = ['first', 'editor', 'root', 'created since'].map(facts)
  expect(new Set(different).size).toBe(different.length)
})
