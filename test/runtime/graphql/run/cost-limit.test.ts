import fc from 'fast-check'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { literal } from '../../../../runtime/sql/tree.ts'
import { questions, usefulRoles } from '../../../reference/questions/document.ts'
import type { Question, World } from '../../../reference/interpreter/world.ts'
import { worlds } from '../../../reference/exact/worlds/world.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { lawMajors, sized } from '../../../support/whole.ts'
import { openStage, type Stage } from '../../../reference/exact/stage.ts'
import { followDatabase } from '../../../support/followed.ts'
import { startProxy } from '../../../support/recording-proxy.ts'
import { createTestService, type AskOptions } from '../../../support/service.ts'

const limited = (limits: string, more = '') => `comment on schema public is '@graphql({"limits": ${limits}${more}})'`

/** Two small tables that refer to each other, so that selections can be nested at will. */
const sql = `
  ${limited('{"cost": 100000}')};
  create table va (id int primary key, name text);
  create table cc (id int primary key, outs int not null references va, cc int not null references va, owner text);
  create index on cc (outs);
  comment on constraint cc_outs_fkey on cc is '@graphql({"foreign_name": "out", "local_name": "outs"})';
  comment on constraint cc_cc_fkey on cc is '@graphql({"foreign_name": "cc", "local_name": "ins"})';
  insert into va select n, 'n' || n from generate_series(1, 30) n;
  insert into cc select n, n % 30 + 1, n / 30 + 1, 'other' from generate_series(0, 899) n;
  create table acted (id int primary key);
  create function act(n int) returns int language plpgsql volatile cost 80000000
    as $$ begin insert into acted values (n); return n; end $$;
  create function look(n int) returns int language plpgsql stable cost 80000000
    as $$ begin raise exception 'it ran'; end $$;
  create function shatter() returns int language sql volatile as 'select 1 / 0';
  create view broken as select id, 1 / 0 as nothing from va;
  comment on view broken is '@graphql({"primary_key_columns": ["id"]})';
  grant all on va, cc, acted, broken to anon, authenticated;
  analyze;
`

const nested = (levels: number): string =>
  levels === 0 ? 'id' : `id outs { edges { node { cc { ${nested(levels - 1)} } } } }`
const attack = `{ vaCollection { edges { node { ${nested(5)} } } } }`
const page = '{ vaCollection { edges { node { id name outs { edges { node { id cc { name } } } } } } } }'

describe.each(lawMajors())('17 limits.cost on PostgreSQL %i', (major) => {
  let time = 0
  const service = forSuite(() => createTestService({ sql, major, now: () => time }))
  beforeEach(() => {
    service.exchanges.length = 0
  })

  const told = async (document: string, options: AskOptions = {}) => {
    const { errors } = await service.graphql(document, options)
    return errors === undefined ? 'answered' : `${errors[0]?.extensions.code}: ${errors[0]?.message}`
  }
  /** Anyone who asks first after a change of the schema finds out about it. */
  const set = async (limits: string, more = '') => {
    await service.db.query(limited(limits, more))
    await told('{ __typename }')
    service.exchanges.length = 0
  }
  /** How often something was explained since the last look. */
  const explained = () => {
    const texts = service.exchanges.flatMap(({ statements }) => statements.map(({ text }) => text))
    service.exchanges.length = 0
    return texts.filter((text) => text.startsWith('explain')).length
  }

  it('refuses 160 bytes that would keep Postgres busy for ever, and lets ordinary pages through', async () => {
    expect(attack.length).toBeLessThan(250)
    expect(await told(attack)).toMatch(
      /^COST_LIMIT_EXCEEDED: The document is estimated to cost \d{8,}; at most 100000 is allowed\.$/,
    )
    for (const document of [
      page,
      '{ vaByPk(id: 1) { name } }',
      `{ vaCollection { edges { node { ${nested(2)} } } } }`,
    ]) {
      expect(await told(document), document).toBe('answered')
    }
    expect(await told('{ __typename }')).toBe('answered')
  })

  it('runs nothing of what it refuses', async () => {
    const dear = [
      'mutation { act(n: 1) }',
      'mutation { insertIntoactedCollection(objects: [{ id: 5 }]) { affectedCount } act(n: 2) }',
      '{ look(n: 3) }',
    ]
    for (const document of [...dear, ...dear]) expect(await told(document)).toMatch(/^COST_LIMIT_EXCEEDED/)
    expect((await service.db.query('select * from acted')).rows).toEqual([])
  })

  it('adds up what every statement of a mutation costs', async () => {
    const insert = (key: string) => `${key}: insertIntoactedCollection(objects: [{ id: 7 }]) { affectedCount }`
    const costOf = async (document: string) => {
      await set('{"cost": 0}')
      const [, cost] = /cost (\d+);/.exec(await told(document)) ?? []
      return Number(cost)
    }
    const one = await costOf('mutation { act(n: 1) }')
    const three = await costOf('mutation { a: act(n: 1) b: act(n: 2) c: act(n: 3) }')
    expect(Math.abs(three - 3 * one)).toBeLessThan(3)
    const inserts = await costOf(`mutation { ${insert('x')} }`)
    expect(Math.abs((await costOf(`mutation { ${insert('x')} a: act(n: 1) }`)) - one - inserts)).toBeLessThan(2)
    await set('{"cost": 100000}')
  })

  it('asks once for each text and role, and again after ten minutes and after a change of the schema', async () => {
    const document = 'query ($n: Int, $f: vaFilter) { vaCollection(first: $n, filter: $f) { edges { node { id } } } }'
    const ask = async (options: AskOptions = {}) => {
      expect(await told(document, options)).toBe('answered')
      return explained()
    }
    expect([await ask(), await ask(), await ask({ claims: { sub: 'x' } })]).toEqual([1, 0, 0])
    expect([await ask({ role: 'authenticated' }), await ask({ role: 'authenticated' })]).toEqual([1, 0])
    expect([await ask({ variables: { n: 3 } }), await ask({ variables: { n: 3 } })]).toEqual([1, 0])
    const byId = (id: number) => ({ variables: { f: { id: { eq: id } } } })
    expect([await ask(byId(1)), await ask(byId(2))]).toEqual([1, 0])
    time += 599_999
    expect(await ask()).toBe(0)
    time += 1
    // Of those that come while it is asked for again, all but one go by the old one.
    const together = await Promise.all(Array.from({ length: 5 }, () => told(document)))
    expect([together, explained()]).toEqual([Array(5).fill('answered'), 1])
    await service.db.query('alter table cc add column more int')
    expect([await ask(), await ask()]).toEqual([1, 0])
  })

  it('asks again for what it refused after ten seconds, since an index may have come', async () => {
    await set('{"cost": 12}')
    const document = '{ ccCollection(filter: { cc: { eq: 3 } }) { edges { node { owner } } } }'
    expect([await told(document), await told(document)]).toEqual([
      expect.stringMatching(/^COST/),
      expect.stringMatching(/^COST/),
    ])
    expect(explained()).toBe(1)
    await service.db.query('create index on cc (cc)')
    expect([await told(document), explained()]).toEqual([expect.stringMatching(/^COST/), 0])
    time += 10_000
    expect([await told(document), await told(document), explained()]).toEqual(['answered', 'answered', 1])
    await service.db.query('drop index cc_cc_idx')
    await set('{"cost": 100000}')
  })

  it('sends no more than what was sent without it, once the estimate is known', async () => {
    const proxy = await startProxy(Number(new URL(service.db.url).port))
    const url = new URL(service.db.url)
    url.port = String(proxy.port)
    const followed = followDatabase(url.href)
    const sent = async () => {
      proxy.clear()
      expect((await followed.graphql(page)).errors).toBeUndefined()
      return (
        Buffer.concat([...proxy.chunks()])
          .toString('latin1')
          .match(/explain \(format json\) execute/g)?.length ?? 0
      )
    }
    onTestFinished(async () => {
      await followed.close()
      await proxy.close()
      await set('{"cost": 100000}')
    })
    expect([await sent(), await sent(), await sent()]).toEqual([1, 0, 0])
    await set('{"rows": 100000}')
    expect([await sent(), await sent()]).toEqual([0, 0])
  })

  it('estimates what a role does with its policies', async () => {
    await service.db
      .query(`alter table cc enable row level security; create policy own on cc to authenticated using (owner = current_user);
      create policy all_of_them on cc to anon using (true)`)
    await set('{"cost": 0}')
    const costs = await Promise.all([told(page), told(page, { role: 'authenticated' })])
    expect(costs[0]).not.toBe(costs[1])
    await service.db.query(
      `alter table cc disable row level security; drop policy own on cc; drop policy all_of_them on cc`,
    )
    await set('{"cost": 100000}')
  })

  it('reports what Postgres says of a document that it cannot plan, and where', async () => {
    const broken = 'brokenCollection { edges { node { nothing } } }'
    for (let round = 0; round < 2; round += 1) {
      const { errors } = await service.graphql(`{ ${broken} }`)
      expect(errors).toMatchObject([
        { message: 'division by zero', extensions: { code: 'DATABASE_REFUSED', sqlstate: '22012' } },
      ])
    }
    const { errors } = await service.graphql('mutation { a: deleteFromactedCollection { affectedCount } b: shatter }')
    expect(errors).toMatchObject([{ message: 'division by zero', path: ['b'] }])
    expect(await told(page)).toBe('answered')
  })

  it('holds for documents of an allow-list, and for what asks for plans', async () => {
    await set('{"cost": 10}', ', "explain": {"enabled": true}')
    const ran = service.exchanges.length
    expect(await told(page, { extensions: { explain: true } })).toMatch(/^COST/)
    expect(
      service.exchanges
        .slice(ran)
        .every(({ statements }) => statements.every(({ text }) => !text.startsWith('select ('))),
    ).toBe(true)
    await service.db.query(`create schema private; grant usage on schema private to anon;
      create table private.documents (hash text primary key, document text not null); grant select on private.documents to anon;
      insert into private.documents select encode(sha256(convert_to(d, 'UTF8')), 'hex'), d from (values ('${page}'), ('{ vaByPk(id: 1) { name } }')) x(d)`)
    await set('{"cost": 10}', ', "allowlist": {"table": "private.documents"}')
    for (let round = 0; round < 2; round += 1) {
      expect(await told(page)).toMatch(/^COST/)
      expect(await told('{ vaByPk(id: 1) { name } }')).toBe('answered')
      expect(await told('{ vaByPk(id: 2) { name } }')).toMatch(/^DOCUMENT_NOT_LISTED/)
    }
    await service.db.query(`delete from private.documents`)
    expect(await told(page)).toMatch(/^DOCUMENT_NOT_LISTED/)
    await set('{"cost": 100000}')
  })

  it('costs nothing where no schema sets it', async () => {
    await service.db.query('comment on schema public is null')
    expect(await told(page)).toBe('answered')
    service.exchanges.length = 0
    expect([await told(page), service.exchanges.length, explained()]).toEqual(['answered', 1, 0])
    await set('{"cost": 100000}')
  })
})

describe('17 limits.cost, whatever is asked', () => {
  const seed = Number(process.env['EXACT_SEED'] ?? '67')
  const refusal = /^The document is estimated to cost (\d+); at most (\d+) is allowed\.$/

  /** Sets the limit in the comment that the world's schema has. */
  const limiting = async ({ service }: Stage) => {
    const { rows } = await service.db.query(`select obj_description('public'::regnamespace, 'pg_namespace') as comment`)
    const comment = String(rows[0].comment ?? '@graphql({})')
    return (cost: number) => {
      const set = comment.replace(
        /@graphql\(\{(\s*\})?/,
        (_, end?: string) => `@graphql({"limits": {"cost": ${cost}}${end ?? ','}`,
      )
      return service.db.query(`comment on schema public is ${literal(set)}`)
    }
  }
  /** Null: no limit of this kind refuses it. */
  const estimateOf = async (stage: Stage, question: Question): Promise<number | null> => {
    const { errors } = await stage.ask(question)
    const [, cost] = refusal.exec(errors?.[0]?.message ?? '') ?? []
    return cost === undefined ? null : Number(cost)
  }

  it(
    `the limit n - 1 refuses what is estimated at n, and n lets it through (seed ${seed})`,
    { timeout: 120_000 },
    async () => {
      const drawn = fc.sample(worlds, { seed, numRuns: 20 }).filter((world: World) => usefulRoles(world).length > 0)
      let judged = 0
      for (const { limits: _, ...world } of drawn.slice(0, sized(2, 1))) {
        const stage = await openStage(world)
        try {
          await stage.service.db.query('analyze')
          const limitTo = await limiting(stage)
          await limitTo(0)
          const asked = fc.sample(questions(world), { seed, numRuns: 60 }).filter(({ writes }) => !writes)
          const costs = new Map<number, Question[]>()
          for (const { question } of asked) {
            const cost = await estimateOf(stage, question)
            if (cost !== null) costs.set(cost, [...(costs.get(cost) ?? []), question])
          }
          for (const [cost, all] of [...costs].slice(0, 6)) {
            await limitTo(cost - 1)
            for (const question of all) expect(await estimateOf(stage, question), question.document).toBe(cost)
            await limitTo(cost)
            for (const question of all) expect(await estimateOf(stage, question), question.document).toBeNull()
            judged += all.length
          }
        } finally {
          await stage.close()
        }
      }
      expect(judged).toBeGreaterThan(12)
    },
  )
})
