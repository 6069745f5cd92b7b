import fc from 'fast-check'
import { applyPatch as applyInPlace, createPatch, type Operation } from 'rfc6902'
import { describe, expect, it } from 'vitest'
import { createAnswers } from '../../../runtime/client/live/answers.ts'
import { createEventReader, type StreamEvent } from '../../../runtime/client/live/event-stream.ts'
import { applyPatch, isSame } from '../../../runtime/client/live/patch.ts'

describe('a JSON Patch', () => {
  it('changes what it names, and shares the rest', () => {
    const before = { edges: [{ node: { id: 1, title: 'a' } }, { node: { id: 2, title: 'b' } }], page: { more: true } }
    const kept = structuredClone(before)
    const after = applyPatch(before, [
      { op: 'replace', path: '/edges/1/node/title', value: 'c' },
      { op: 'add', path: '/edges/-', value: { node: { id: 3, title: 'd' } } },
      { op: 'move', from: '/edges/2', path: '/edges/0' },
    ]) as typeof before
    expect(after.edges.map(({ node }) => node.title)).toEqual(['d', 'a', 'c'])
    expect([after.edges[1] === before.edges[0], after.page === before.page]).toEqual([true, true])
    expect(before).toEqual(kept)
  })

  const name = fc.constantFrom('a', 'b', '~', '/', '', '0', '__proto__', '~1')
  const json = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.constantFrom(null, true, 0, 1, 'x', ''),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(name, tie('value'), { maxKeys: 3 }),
    ),
  })).value

  it('makes one document of another, as another implementation wrote it', () => {
    fc.assert(
      fc.property(json, json, (before, after) => {
        const kept = structuredClone(before)
        expect(isSame(applyPatch(before, createPatch(before, after)), after)).toBe(true)
        expect(isSame(before, kept)).toBe(true)
      }),
    )
  })

  it('fails where another implementation fails, and does nothing else than it', () => {
    const pointer = fc
      .array(fc.constantFrom('a', 'b', '0', '1', '-', '00', '~0', '~1', ''), { maxLength: 3 })
      .map((names) => names.map((one) => `/${one}`).join(''))
    const op = fc.constantFrom<Operation['op'][]>('add', 'remove', 'replace', 'move', 'copy', 'test')
    const plain = json.filter((value) => !JSON.stringify(value).includes('__proto__'))
    const operation = fc.record({ op, path: pointer, from: pointer, value: plain })
    fc.assert(
      fc.property(plain, fc.array(operation, { minLength: 1, maxLength: 3 }), (document, patch) => {
        // It takes what RFC 6902 does not, such as indices with leading zeros: there we fail.
        fc.pre(patch.every(isDefined))
        const root = { document: structuredClone(document) }
        const rooted = patch.map((one) => ({
          ...one,
          path: `/document${one.path}`,
          from: `/document${one.from}`,
        })) as Operation[]
        // It throws where a member is added to what has none.
        const theirs = attempt(() => applyInPlace(root, structuredClone(rooted)))
        const ours = attempt(() => applyPatch(document, patch))
        if (ours === failed) return
        expect(theirs).toEqual(patch.map(() => null))
        expect(ours).toEqual(root.document)
      }),
    )
  })
})

const failed = Symbol('failed')
function attempt(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError)
    return failed
  }
}

/** Of operations on the whole document, and into what is moved, RFC 6902 says too little to compare. */
const isDefined = ({ op, path, from }: { op: string; path: string; from: string }): boolean =>
  op === 'move' ? from !== '' && !`${path}/`.startsWith(`${from}/`) : op !== 'remove' || path !== ''

describe('the answers of a stream', () => {
  it('follow from each other by patches, and are reported when they differ', () => {
    const answers = createAnswers()
    const patch = (...operations: readonly object[]) => ({ extensions: { patch: operations } })
    expect(answers.take({ data: { a: 1, b: [1] } }, '7')).toEqual({ a: 1, b: [1] })
    expect(answers.take(patch({ op: 'replace', path: '/a', value: 2 }), '8')).toEqual({ a: 2, b: [1] })
    expect(answers.eventId()).toBe('8')
    answers.connected()
    expect(answers.take({ data: { b: [1], a: 2 } }, '9')).toBeUndefined()
    expect(answers.take(patch({ op: 'remove', path: '/b/0' }), '10')).toEqual({ a: 2, b: [] })
    expect(() => answers.take(patch({ op: 'remove', path: '/c' }), '11')).toThrow(TypeError)
    expect(answers.eventId()).toBe('10')
    expect(() => createAnswers().take(patch(), '')).toThrow(TypeError)
    expect(() => answers.take({ data: null }, '')).toThrow(TypeError)
  })
})

describe('Server-Sent Events', () => {
  const read = (pieces: readonly string[]): readonly StreamEvent[] => {
    const events: StreamEvent[] = []
    const push = createEventReader((event) => events.push(event))
    for (const piece of pieces) push(piece)
    return events
  }
  const text =
    ': hello\nid: 5\nevent: next\ndata: {"a":\ndata: 1}\n\n:\r\n\r\ndata:x\r\rid\nevent: complete\ndata\n\ndata: cut off\n'

  it('are read as the standard says', () => {
    expect(read([text])).toEqual([
      { type: 'next', data: '{"a":\n1}', id: '5' },
      { type: 'message', data: 'x', id: '5' },
      { type: 'complete', data: '', id: '' },
    ])
  })

  it('are the same in pieces of any length', () => {
    const line = fc.constantFrom('data: a', 'data:b', 'event: next', 'id: 1', ': comment', '', 'retry: 3', 'other')
    const ending = fc.constantFrom('\n', '\r', '\r\n')
    const texts = fc
      .array(
        fc.tuple(line, ending).map((parts) => parts.join('')),
        { maxLength: 20 },
      )
      .map((lines) => lines.join(''))
    fc.assert(
      fc.property(texts, fc.array(fc.nat(30)), (whole, cuts) => {
        const at = [0, ...cuts.filter((cut) => cut < whole.length).sort((a, b) => a - b), whole.length]
        const pieces = at.slice(1).map((end, index) => whole.slice(at[index], end))
        // A return at the end waits for what follows it.
        expect(read([...pieces, ' '])).toEqual(read([`${whole} `]))
      }),
    )
  })
})
