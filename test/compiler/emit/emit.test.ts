import { describe, expect, it } from 'vitest'
import { makeArtifacts } from '../../../compiler/emit/make-artifacts.ts'
import { createEmitter } from '../../../compiler/emit/emit.ts'
import type { EntitySql } from '../../../compiler/model/model.ts'
import type { Revision } from '../../../runtime/contract/artifact.ts'
import { column, entity, model } from './models.ts'

const idsIn = (entities: Revision['entities']): readonly string[] => entities.map(({ id }) => id)

describe('the emitter', () => {
  it('reports an object whose SQL does not parse, leaves it out, and keeps the others', async () => {
    const broken = entity('public', 'Odd', { columns: [column('a', 'no such (')] })
    const sound = entity('public', 'sound')
    const { value, diagnostics } = await createEmitter()(model([broken, sound]), null)
    expect(diagnostics.map(({ code, severity, object }) => [code, severity, object])).toEqual([
      ['statement-refused', 'error', 'relation public."Odd"'],
    ])
    expect(idsIn(value.entities)).toEqual([sound.id])
    expect(value.manifest.entities.map(({ id }) => id)).toEqual([sound.id])
    const { files } = makeArtifacts(model([broken, sound]), value, () => '')
    expect(Object.keys(files).filter((path) => path.includes('Odd'))).toEqual([])
  })

  it('leaves out every relation that has a column of a type whose SQL is wrong', async () => {
    const wrong = column('odd', 'int4) and (')
    const emitted = await createEmitter()(
      model([
        entity('public', 'a', { columns: [column('id'), wrong] }),
        entity('public', 'b', { columns: [column('id')] }),
        entity('public', 'c', { columns: [wrong, column('id')] }),
      ]),
      null,
    )
    expect(emitted.diagnostics.map(({ object, message }) => [object, message])).toEqual([
      ['relation public.a', expect.stringContaining('the type of column odd')],
      ['relation public.c', expect.stringContaining('the type of column odd')],
    ])
    expect(idsIn(emitted.value.entities)).toEqual([entity('public', 'b').id])
  })

  it.each([
    ['plain names', 'plain'],
    ['names with quotes', `a'b"c`],
  ])('reports every object that has a wrong part, whatever it has seen before: %s', async (_, name) => {
    const sound = (relation: string): EntitySql => entity('public', relation, { columns: [column('id'), column(name)] })
    const wrong = (relation: string): EntitySql =>
      entity('public', relation, { columns: [column('id'), column(name, 'int4', { readAs: 'text) (' })] })
    const emit = createEmitter()
    const emitted = await emit(model([sound('a'), wrong('b'), sound('c'), wrong('d')]), null)
    const objects = emitted.diagnostics.map(({ object }) => object)
    expect([...new Set(objects)]).toEqual(['relation public.b', 'relation public.d'])
    const again = await emit(model([wrong('e'), sound('f')]), null)
    expect(idsIn(again.value.entities)).toEqual([sound('f').id])
  })

  it('reports and keeps an object whose SQL is too long to check', async () => {
    const long = entity('public', 'long', { columns: [column('a', 'x'.repeat(40_000))] })
    const { value, diagnostics } = await createEmitter()(model([long]), null)
    expect(new Set(diagnostics.map(({ code, severity }) => `${severity} ${code}`))).toEqual(
      new Set(['warning statement-unchecked']),
    )
    expect(idsIn(value.entities)).toEqual([long.id])
  })

  it('gives other content another id, and another version the same', async () => {
    const emit = createEmitter()
    const [one, two] = [entity('public', 'a'), entity('public', 'a', { columns: [column('id', 'int8')] })]
    const ids = [await emit(model([one]), '1'), await emit(model([one]), '2'), await emit(model([two]), '2')].map(
      ({ value }) => value.id,
    )
    expect(ids[0]).toBe(ids[1])
    expect(ids[2]).not.toBe(ids[0])
    expect(ids[0]).toMatch(/^[0-9a-f]{16}$/)
  })

  it('writes one line of the manifest for each entity', async () => {
    const both = model([entity('public', 'a'), entity('public', 'b')])
    const { value } = await createEmitter()(both, null)
    const text = makeArtifacts(both, value, () => '').files['manifest.json'] ?? ''
    expect(JSON.parse(text)).toEqual(both.manifest)
    expect(text.split('\n').filter((line) => line.includes('"relation":"a"'))).toHaveLength(1)
  })

  it('prints the schema of each usual role', async () => {
    const one = model([entity('public', 'a')])
    const { value } = await createEmitter()(one, null)
    const { files } = makeArtifacts(one, value, (_, role) => `# ${role}`)
    expect(Object.keys(files).filter((path) => path.endsWith('.graphql'))).toEqual([
      'schema.anon.graphql',
      'schema.authenticated.graphql',
      'schema.service_role.graphql',
    ])
    expect(files['schema.anon.graphql']).toBe('# anon\n')
  })
})
