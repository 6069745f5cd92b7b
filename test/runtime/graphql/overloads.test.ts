import fc from 'fast-check'
import { isNonNullType } from 'graphql'
import { beforeAll, describe, expect, it } from 'vitest'
import { dataOf } from '../../support/answers.ts'
import { introspect } from '../../support/api-schema.ts'
import { forSuite } from '../../support/for-suite.ts'
import { createTestService } from '../../support/service.ts'

/** spec/graphql.md 9.2, 17: which of several functions of one name a call reaches, where arguments may be left out. */

interface Drawn {
  readonly args: readonly { readonly name: string; readonly type: 'int' | 'text' | 'bigint' }[]
  /** How many of the last arguments have a default. */
  readonly defaults: number
}

/** A drawn function, its field and its place among those of its name. */
interface Overload extends Drawn {
  readonly field: string
  readonly name: string
  readonly row: boolean
}

const drawn: fc.Arbitrary<Drawn> = fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { maxLength: 3 }).chain((names) =>
  fc.record({
    args: fc.tuple(
      ...names.map((name) =>
        fc.record({
          name: fc.oneof({ weight: 6, arbitrary: fc.constant(name) }, fc.constant('')),
          type: fc.constantFrom('int' as const, 'int' as const, 'text' as const, 'bigint' as const),
        }),
      ),
    ),
    defaults: fc.nat(names.length),
  }),
)

const seed = Number(process.env['FC_SEED'] ?? '20261129')
const signature = ({ args }: Drawn): string => args.map(({ type }) => type).join(', ')
const groups = fc.sample(
  fc.record({
    row: fc.boolean(),
    functions: fc.uniqueArray(drawn, { selector: signature, minLength: 2, maxLength: 3 }),
  }),
  { numRuns: 70, seed },
)
const overloads: readonly Overload[] = groups.flatMap(({ row, functions }, group) =>
  functions.map((one, place) => ({ ...one, row, name: `f${group}`, field: `f${group}x${place}` })),
)

const constants = { int: '1', text: "'x'", bigint: '2' } as const
const literals = { int: '1', text: '"x"', bigint: '"2"' } as const

function sqlOf({ row, name, field, args, defaults }: Overload): string {
  const own = args.map(
    (arg, place) => `${arg.name} ${arg.type}${place < args.length - defaults ? '' : ` default ${constants[arg.type]}`}`,
  )
  const types = [...(row ? ['item'] : []), ...args.map(({ type }) => type)].join(', ')
  return `
    create function ${name}(${[...(row ? ['item'] : []), ...own].join(', ')}) returns text stable language sql as $$ select '${field}' $$;
    comment on function ${name}(${types}) is '@graphql({"name": "${field}"})';`
}

const fieldOf = ({ name }: Drawn['args'][number], place: number, row: boolean): string =>
  name === '' ? `arg${place + (row ? 2 : 1)}` : name

/** Every choice of some of the arguments. */
const choices = (count: number): readonly (readonly number[])[] =>
  Array.from({ length: 2 ** count }, (_, bits) =>
    Array.from({ length: count }, (_unused, place) => place).filter((place) => (bits & (2 ** place)) !== 0),
  )

/** Which of the arguments of each field introspection shows as required, by place. */
const required = new Map<string, readonly boolean[]>()
const service = forSuite(createTestService, {
  sql: `
      comment on schema public is '@graphql({"introspection": true, "functionShapes": {"enabled": true}})';
      create table item (id int primary key); insert into item values (1);
      ${overloads.map(sqlOf).join('')}
      grant usage on schema public to anon; grant select on item to anon;`,
})
beforeAll(async () => {
  const schema = await introspect(service)
  for (const one of overloads) {
    const type = one.row ? schema.getType('item') : schema.getQueryType()
    const field = type !== undefined && type !== null && 'getFields' in type ? type.getFields()[one.field] : undefined
    if (field === undefined || !('args' in field)) continue
    required.set(
      one.field,
      one.args.map((arg, place) =>
        isNonNullType(field.args.find(({ name }) => name === fieldOf(arg, place, one.row))?.type),
      ),
    )
  }
})

/** The places up to the last argument without a name: Postgres is given them by place. */
const byPlace = ({ args }: Drawn): number => args.findLastIndex(({ name }) => name === '') + 1

/** Whether arguments can be passed that way: by place only the first ones. */
const isCallable = (one: Overload, passed: readonly number[]): boolean => {
  const places = passed.filter((place) => place < byPlace(one))
  return places.every((place, index) => place === index)
}

describe(`overloads (seed ${seed})`, () => {
  it('are all there, but those that Postgres cannot distinguish from another overload', async () => {
    const missing = overloads.filter(({ field }) => !required.has(field))
    expect(missing).not.toEqual([])
    for (const one of missing) expect(await reachedBy(one, [...one.args.keys()])).toBeNull()
    expect([...required.values()].flat()).toContain(false)
  })

  it('answer every call that the schema allows themselves', async () => {
    const calls = overloads.flatMap((one) =>
      choices(one.args.length)
        .filter((passed) => isCallable(one, passed))
        .filter((passed) =>
          required.get(one.field)?.every((isRequired, place) => !isRequired || passed.includes(place)),
        )
        .map((passed) => ({ one, passed })),
    )
    const text = ({ one, passed }: (typeof calls)[number], at: number): string => {
      const args = passed.map((place) => {
        const arg = one.args[place]
        return arg === undefined ? '' : `${fieldOf(arg, place, one.row)}: ${literals[arg.type]}`
      })
      const call = `${one.field}${args.length === 0 ? '' : `(${args.join(', ')})`}`
      return one.row ? `c${at}: itemByPk(id: 1) { ${call} }` : `c${at}: ${call}`
    }
    const answers = dataOf(await service.graphql(`{ ${calls.map(text).join(' ')} }`, { role: 'anon' }))
    expect(calls.map((_, at) => answers?.[`c${at}`])).toEqual(
      calls.map(({ one }) => (one.row ? { [one.field]: one.field } : one.field)),
    )
  })

  it('ask for an argument with a default only where some call without it fails or reaches another overload', async () => {
    const withDefaults = overloads.flatMap((one) =>
      one.args.flatMap((_, place) =>
        place >= one.args.length - one.defaults && required.get(one.field)?.[place] === true ? [{ one, place }] : [],
      ),
    )
    expect(withDefaults).not.toEqual([])
    for (const { one, place } of withDefaults) {
      const needed = one.args.slice(0, one.args.length - one.defaults).map((_, index) => index)
      const calls = choices(one.args.length).filter(
        (passed) =>
          !passed.includes(place) && needed.every((index) => passed.includes(index)) && isCallable(one, passed),
      )
      const reached: (string | null)[] = []
      for (const passed of calls) reached.push(await reachedBy(one, passed))
      expect(reached.some((field) => field !== one.field)).toBe(true)
    }
  })

  /** The field of the function that Postgres calls; null: it refuses the call. */
  async function reachedBy(one: Overload, passed: readonly number[]): Promise<string | null> {
    const args = passed.map((place) => {
      const arg = one.args[place]
      if (arg === undefined) return ''
      return `${place < byPlace(one) ? '' : `${arg.name} => `}${constants[arg.type]}::${arg.type}`
    })
    const sql = `select ${one.name}(${[...(one.row ? ['item'] : []), ...args].join(', ')}) as field from item`
    return service.db.query(sql).then(
      ({ rows }) => String(rows[0].field),
      () => null,
    )
  }
})
