import { describe, expect, test } from 'vitest'
import { authErrors } from '../../runtime/auth/protocol/errors.ts'
import { readPage } from '../support/examples.ts'
import { readDocument } from '../support/references/documents.ts'
import { textsIn } from '../support/texts.ts'

/**
 * Promise: a sentence that the specification gives a refusal is one of the code. Sentences with parts that only a request
 * knows are compared without them.
 */

const code = ['runtime', 'compiler/comments', 'compiler/additions']
  .map((folder) => textsIn(folder, '.ts', ['client', 'dashboard']))
  .join('\n')
  .replaceAll("\\'", "'")

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')

/** A template of fewer letters of its own would fit any sentence. */
const fewestLetters = 12

const templates = [...code.matchAll(/`([^`]*\$\{[^`]*)`/g)].flatMap(([, template = '']) => {
  const parts = template.split(/\$\{[^}]*\}/)
  return parts.join('').length < fewestLetters ? [] : [new RegExp(`^${parts.map(escaped).join('.+')}$`, 's')]
})

/** Those that are nowhere in the code, as far as the specification spells them out. */
const notRaised = (sentences: readonly string[]): readonly string[] =>
  sentences.filter((sentence) => {
    const [start = ''] = sentence.split(/ ?…/)
    return !code.includes(start) && !templates.some((template) => template.test(sentence))
  })

describe('a refusal', () => {
  test('of auth has the sentence that the specification gives its code', () => {
    const given = [...readPage('docs/spec/auth.md').matchAll(/`(\w+)`(?: \|)? `(\w[^`]*)`/g)]
    const sentences = given.flatMap(([, name = '', text = '']) => (Object.hasOwn(authErrors, name) ? [text] : []))
    expect(sentences.length).toBeGreaterThan(70)
    expect(notRaised(sentences)).toEqual([])
  })

  /** Postgres says it. */
  const ofPostgres = ['invalid input syntax for type json']

  test('of GraphQL has the sentence that the specification keeps', () => {
    const kept = [
      ...(readDocument('docs/spec/graphql.md').sections.get('14.1') ?? '').matchAll(/^\|([^|]*)\|[^|]*\| K\b/gm),
    ]
    const sentences = kept.flatMap(([, cell = '']) =>
      [...cell.matchAll(/`([^`]* [^`]*)`/g)].map(([, text = '']) => text),
    )
    expect(sentences.length).toBeGreaterThan(15)
    expect(notRaised(sentences.filter((text) => !ofPostgres.includes(text)))).toEqual([])
  })

  test('of the reference interpreter has the sentence of the service', () => {
    const given = textsIn('test/reference/interpreter', '.ts', []).matchAll(/new Refused\(([^;]*?)\)\n/g)
    const texts = [...given].flatMap(([, list = '']) => [...list.matchAll(/'([^']* [^']*)'|`([^`\\]* [^`\\]*)`/g)])
    const sentences = texts.map(([, plain, template = '']) => plain ?? template.replace(/\$\{[^}]*\}/g, '1'))
    expect(sentences.length).toBeGreaterThan(15)
    expect(notRaised(sentences)).toEqual([])
  })
})
