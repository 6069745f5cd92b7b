import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/**
 * An exported name means one thing. Islands have words of their own, for what runs apart from the product or beside it:
 * the client library and the page in the browser.
 */
const islands = ['runtime/client/', 'runtime/console/page/']

/** Imported as a whole, so that each name is said with that of its file: `io.signUp`. */
const namespaces = ['runtime/auth/io/', 'runtime/console/admin/io.ts']

/** Alike on purpose. */
const shared = [
  // Both refuse, each with the codes of its protocol.
  'refuse',
  // What the compiler prints as declarations of the runtime's builders.
  'Expression',
  'ColumnBuilder',
  'ComputedBuilder',
  'EntityBuilder',
  'CallBuilder',
  'AttributeBuilder',
]

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', 'compiler', 'runtime'], {
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => /\.tsx?$/.test(file) && existsSync(file))
  .filter((file) => ![...islands, ...namespaces].some((place) => file.startsWith(place)))

const exported = /^export (?:declare )?(?:async )?(?:function\*?|const|let|class|interface|type) (\w+)/gm

test('an exported name stands in one file', () => {
  const places = new Map<string, Set<string>>()
  for (const file of files) {
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(exported)) {
      places.set(name, (places.get(name) ?? new Set()).add(file))
    }
  }
  const several = [...places].filter(([name, where]) => where.size > 1 && !shared.includes(name))
  expect(several.map(([name, where]) => `${name}: ${[...where].join(', ')}`)).toEqual([])
})
