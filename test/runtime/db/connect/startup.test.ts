import fc from 'fast-check'
import { expect, test } from 'vitest'
import { optionsText, pairsOf } from '../../../../runtime/db/connect/startup.ts'

const value = fc.string({ unit: fc.constantFrom(...'aZ0 \\\t\n-c=,"\'é'), maxLength: 12 }).filter((text) => text !== '')
const settings = fc.dictionary(fc.stringMatching(/^[a-z][a-z_.]{0,10}$/), value)

test('an option is read as it was written', () => {
  fc.assert(
    fc.property(settings, (given) => {
      expect(Object.fromEntries(pairsOf(optionsText(given)))).toEqual({ ...given })
    }),
  )
})

test.each([
  ['--work-mem=7MB', [['work_mem', '7MB']]],
  ['-cwork_mem=7MB', [['work_mem', '7MB']]],
  [
    String.raw`-c  search_path=a,\ b --jit=off -c jit=on`,
    [
      ['search_path', 'a, b'],
      ['jit', 'off'],
      ['jit', 'on'],
    ],
  ],
])('startup options become: %s', (options, pairs) => {
  expect(pairsOf(options)).toEqual(pairs)
})
