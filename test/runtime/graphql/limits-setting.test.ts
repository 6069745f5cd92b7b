import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { atOnce } from '../../../runtime/lib/steps.ts'
import { questions, usefulRoles } from '../../reference/questions/document.ts'
import { worlds } from '../../reference/exact/worlds/world.ts'
import { catalog, schema } from '../../support/catalog-literal.ts'
import { judge } from '../../reference/exact/judge.ts'
import { openStage } from '../../reference/exact/stage.ts'
import { forSuite } from '../../support/for-suite.ts'
import { createTestService } from '../../support/service.ts'
import { annotate, buildModel } from '../../support/with-additions.ts'

const sql = `
  comment on schema public is '@graphql({"limits": {"fields": 40, "rows": 1000}})';
  create table person (id int primary key, boss int references person, name text);
  create table note (id int primary key, person int references person);
  create function person_all(person) returns setof note language sql stable as 'select * from note';
  create function notes() returns setof note language sql stable as 'select * from note';
  comment on table note is '@graphql({"max_rows": 10})';
  insert into person values (1, 1, 'root');
  grant all on person, note to anon;
`

const service = forSuite(createTestService, { sql })

const told = async (document: string, variables: Record<string, unknown> = {}) => {
  const before = service.exchanges.length
  const { errors } = await service.graphql(document, { variables })
  const ran = service.exchanges.slice(before).some(({ statements }) => statements.length > 0)
  return errors === undefined
    ? 'answered'
    : `${errors[0]?.extensions.code}: ${errors[0]?.message}${ran ? ' (ran)' : ''}`
}
const rows = (count: number | string) =>
  `ROW_LIMIT_EXCEEDED: The document may select ${count} rows; at most 1000 are allowed.`
const fields = (count: number) =>
  `FIELD_LIMIT_EXCEEDED: The document selects ${count} fields after its fragments are expanded; at most 40 are allowed.`

describe('17 limits.rows', () => {
  const notes = (page: string) => `edges { node { noteCollection${page} { edges { node { id } } } } }`
  it('multiplies pages by the pages around them and adds them up', async () => {
    // 30 + 30 * 10; 30 * 30 * 10 + 30 * 30 + 30
    expect(await told(`{ personCollection { ${notes('')} } }`)).toBe('answered')
    expect(await told(`{ personCollection { edges { node { personCollection { ${notes('')} } } } } }`)).toBe(
      rows(9_930),
    )
    expect(await told(`{ a: personCollection { ${notes('')} } b: personCollection { ${notes('')} } }`)).toBe('answered')
    const four = ['a', 'b', 'c', 'd'].map((key) => `${key}: personCollection { ${notes('')} }`)
    expect(await told(`{ ${four.join(' ')} }`)).toBe(rows(1_320))
  })
  it('takes first, last, a variable, its default, or the largest page, whatever is smallest', async () => {
    const nested = (args: string, more = '') =>
      `query Q${more} { personCollection${args} { edges { node { personCollection${args} { edges { node { personCollection${args} { edges { cursor } } } } } } } } }`
    expect(await told(nested('(first: 9)'))).toBe('answered')
    expect(await told(nested('(last: 10)'))).toBe(rows(1_110))
    expect(await told(nested('(first: 1000)'))).toBe(rows(27_930))
    expect(await told(nested('(first: $n)', '($n: Int)'), { n: 9 })).toBe('answered')
    expect(await told(nested('(first: $n)', '($n: Int)'), { n: 10 })).toBe(rows(1_110))
    expect(await told(nested('(first: $n)', '($n: Int)'), { n: null })).toBe(rows(27_930))
    expect(await told(nested('(first: $n)', '($n: Int = 9)'))).toBe('answered')
    expect(await told(nested('(first: 0)'))).toBe('answered')
  })
  it('counts the sets of functions, and goes through single rows, nodes and what was written', async () => {
    const people = 'personCollection(first: 30) { edges { node { person_all { edges { cursor } } } } }'
    expect(await told(`{ personByPk(id: 1) { personCollection { edges { node { ${people} } } } } }`)).toBe(rows(9_930))
    expect(await told(`{ node(nodeId: "x") { ... on person { ${people} } } }`)).toContain('BAD_ARGUMENT')
    const deep = `... on person { personCollection { edges { node { ${people} } } } }`
    expect(await told(`{ node(nodeId: "x") { ${deep} } }`)).toBe(rows(9_930))
    expect(await told(`{ notes { edges { node { person_: id } } } }`)).toBe('answered')
    const written = `records { personCollection { edges { node { ${people} } } } }`
    expect(await told(`mutation { deleteFrompersonCollection { ${written} } }`)).toBe(rows(9_931))
  })
  it('counts the rows that mutations may answer, and what hangs on each', async () => {
    const records = `records { id ${notes('').slice('edges { node { '.length, -' } }'.length)} }`
    // A row of records, and ten notes of each.
    expect(
      await told(`mutation { deleteFrompersonCollection(atMost: 90, filter: {id: {lt: 0}}) { ${records} } }`),
    ).toBe('answered')
    expect(await told(`mutation { deleteFrompersonCollection(atMost: 91) { ${records} } }`)).toBe(rows(1_001))
    expect(
      await told(`mutation { deleteFrompersonCollection(atMost: 1001, filter: {id: {lt: 0}}) { affectedCount } }`),
    ).toBe('answered')
    const update = `mutation Q($n: Int! = 91) { updatepersonCollection(set: {name: "x"}, filter: {id: {lt: 0}}, atMost: $n) { ${records} } }`
    expect(await told(update)).toBe(rows(1_001))
    expect(await told(update, { n: 90 })).toBe('answered')
    expect(await told(update, { n: 91 })).toBe(rows(1_001))
    const objects = (count: number) => Array.from({ length: count }, (_, index) => ({ id: 1_000 + index }))
    const insert = `mutation Q($o: [personInsertInput!]!) { insertIntopersonCollection(objects: $o) { ${records} } }`
    expect(await told(insert, { o: objects(2) })).toBe('answered')
    expect(await told(insert, { o: objects(91) })).toBe(rows(1_001))
    expect(
      await told(`mutation { insertIntopersonCollection(objects: [{id: 5000}, {id: 5001}]) { affectedCount } }`),
    ).toBe('answered')
  })
  it('counts what directives skip, and each mention', async () => {
    const skipped = ['a', 'b', 'c', 'd'].map((key) => `${key}: personCollection @skip(if: true) { ${notes('')} }`)
    expect(await told(`{ ${skipped.join(' ')} }`)).toBe(rows(1_320))
    const twice = `personCollection { ${notes('')} } `
    expect(await told(`{ ${twice.repeat(4)} }`)).toBe(rows(1_320))
  })
})

describe('17 limits.fields', () => {
  it('counts selections after fragments are expanded', async () => {
    const names = (count: number) => Array.from({ length: count }, (_, index) => `a${index}: name`).join(' ')
    expect(await told(`{ personByPk(id: 1) { ${names(39)} } }`)).toBe('answered')
    expect(await told(`{ personByPk(id: 1) { ${names(40)} } }`)).toBe(fields(41))
    const twice = `{ x: personByPk(id: 1) { ...F } y: personByPk(id: 1) { ...F } } fragment F on person { ${names(20)} }`
    expect(await told(twice)).toBe(fields(42))
  })
  it('looks at fragments once, whatever they would expand to', async () => {
    const level = (index: number) =>
      `fragment F${index} on person { a: personCollection { edges { node { ...F${index + 1} } } } b: personCollection { edges { node { ...F${index + 1} } } } }`
    const bomb = (levels: number) =>
      `{ personByPk(id: 1) { ...F0 } } ${Array.from({ length: levels }, (_, index) => level(index)).join(' ')} fragment F${levels} on person { id }`
    expect(await told(bomb(8))).toBe(fields(1_787))
    expect(await told(bomb(9))).toBe(fields(3_579))
    await service.db.query(`comment on schema public is '@graphql({"limits": {"rows": 1000}})'`)
    // Sixty rows for every row, nine times over.
    expect(await told(bomb(9))).toBe(rows('more than 9007199254740991'))
  })
})

describe('17 limits, the setting', () => {
  const read = (...comments: readonly string[]) => {
    const given = catalog({ schemas: comments.map((comment, index) => schema(`s${index}`, `@graphql(${comment})`)) })
    const { annotated, diagnostics } = atOnce(annotate(given))
    return {
      facts: atOnce(buildModel(annotated)).model.manifest,
      diagnostics,
      refusal: annotated.refusals[0]?.message ?? null,
    }
  }
  it('is absent from the manifest where no comment sets it', () => {
    expect(Object.keys(read('{}').facts)).not.toContain('limits')
    expect(Object.keys(read('{"limits": {}}').facts)).not.toContain('limits')
  })
  it('takes the smallest of several schemas', () => {
    expect(read('{"limits": {"fields": 9, "rows": 5}}', '{"limits": {"fields": 7}}').facts.limits).toEqual({
      fields: 7,
      rows: 5,
    })
    expect(read('{"limits": {"rows": 0}}').facts.limits).toEqual({ fields: null, rows: 0 })
    expect(read('{"limits": {"cost": 70}}', '{"limits": {"cost": 9, "rows": 5}}').facts.limits).toEqual({
      fields: null,
      rows: 5,
      cost: 9,
    })
  })
  it.each([
    ['{"limits": 5}', '5 is no object.'],
    ['{"limits": {"feilds": 5}}', 'it has no member "feilds"; did you mean "fields"?'],
    ['{"limits": {"rows": -1}}', '"rows" is -1 and no whole number from 0.'],
    ['{"limits": {"cost": 1.5}}', '"cost" is 1.5 and no whole number from 0.'],
    ['{"limits": {"rows": "many"}}', '"rows" is "many" and no whole number from 0.'],
  ])('warns the owner of %s and goes on without it', (comment, reason) => {
    const { facts, diagnostics, refusal } = read(comment)
    expect(facts.limits).toBeUndefined()
    expect(refusal).toBeNull()
    expect(diagnostics.map(({ code, severity, object, message }) => ({ code, severity, object, message }))).toEqual([
      {
        code: 'comment-value-unused',
        severity: 'warning',
        object: 'schema s0',
        message: `The setting "limits" in the comment cannot be used as it stands: ${reason}`,
      },
    ])
  })
  it('keeps what is right of it', () => {
    expect(read('{"limits": {"fields": 9, "rows": null, "max": 1}}').facts.limits).toEqual({ fields: 9, rows: null })
  })
})

describe('17 limits against the interpreter', () => {
  const seed = Number(process.env['EXACT_SEED'] ?? '61')
  it(
    `refuses what the interpreter counts as too much, and nothing else (seed ${seed})`,
    { timeout: 60_000 },
    async () => {
      const drawn = fc.sample(worlds, { seed, numRuns: 12 }).filter((world) => usefulRoles(world).length > 0)
      let refusals = 0
      for (const [index, world] of drawn.slice(0, 3).entries()) {
        const limited = {
          ...world,
          limits: { fields: [12, 25, null][index] ?? null, rows: [null, 60, 20][index] ?? null },
        }
        const stage = await openStage(limited)
        try {
          for (const { question, writes } of fc.sample(questions(limited), { seed, numRuns: 40 })) {
            const { disagreement, refused } = await judge(stage, question, writes)
            expect(disagreement?.message, question.document).toBeUndefined()
            refusals += Number(refused)
          }
        } finally {
          await stage.close()
        }
      }
      expect(refusals).toBeGreaterThan(20)
    },
  )
})
