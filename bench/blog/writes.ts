import type { AdditionOperation } from './additions.ts'

/** Changes of rows from additions (writes.sql). */

const rowsOf = 20_000

const byKey = (name: string, change: string, set: string, fields: string, columns: string): AdditionOperation => ({
  name,
  shows: ['updates'],
  writes: true,
  document: `mutation Change($id: Int!) { updateCountersByPk(id: $id, ${change}) { ${fields} } }`,
  variables: (draw) => ({ id: draw(rowsOf) }),
  hand: {
    name,
    text: `update counters c set ${set} where c.id = $1::int
      returning (select row_to_json(z) from (select (r.*)::record as "updateCountersByPk" from (select ${columns}) r) z)`,
    values: ({ id }) => [String(id)],
  },
})

interface NewValues {
  readonly id: number
  readonly set: { readonly name: string; readonly hits: number }
}

const many = (count: number): AdditionOperation => ({
  name: `update-rows-${count}`,
  shows: ['updates'],
  writes: true,
  document: `mutation Rows($rows: [CountersRowInput!]!) {
    updateCountersRows(rows: $rows, atMost: ${count}) { affectedCount records { id hits } }
  }`,
  variables: (draw) => {
    const from = draw(rowsOf - count)
    const rows = Array.from({ length: count }, (_, index): NewValues => {
      const hits = draw(1e6)
      return { id: from + index, set: { name: `Counter ${hits}`, hits } }
    })
    return { rows }
  },
  hand: {
    name: `update-rows-${count}`,
    text: `with u as (update counters c set name = x.name, hits = x.hits
        from unnest($1::int[], $2::text[], $3::int[]) with ordinality x(id, name, hits, n)
        where c.id = x.id returning c.id, c.hits, x.n)
      select row_to_json(z) from (select (k.*)::record as "updateCountersRows" from (
        select count(*) as "affectedCount", array_agg((select (r.*)::record from (select u.id, u.hits) r) order by u.n) as records
        from u) k) z`,
    values: ({ rows }) => {
      const all = rows as readonly NewValues[]
      const arrayOf = (values: readonly (string | number)[]): string => `{${values.map((one) => `"${one}"`).join(',')}}`
      return [
        arrayOf(all.map(({ id }) => id)),
        arrayOf(all.map(({ set }) => set.name)),
        arrayOf(all.map(({ set }) => set.hits)),
      ]
    },
  },
})

const preset: AdditionOperation = {
  name: 'insert-preset',
  shows: ['preset'],
  writes: true,
  document: `mutation Notice($body: String!) {
    insertIntoNoticesCollection(objects: [{body: $body}]) { affectedCount records { id authorId body } }
  }`,
  variables: (draw) => ({ body: `Notice ${draw(1e6)}` }),
  hand: {
    name: 'insert-preset',
    text: `insert into notices (body, author_id) values ($1, public.me())
      returning (select row_to_json(z) from (select (k.*)::record as "insertIntoNoticesCollection" from (
        select 1 as "affectedCount", array[(i.*)::record] as records
        from (select id::text, author_id as "authorId", body) i) k) z)`,
    values: ({ body }) => [String(body)],
  },
}

export const writeOperations: readonly AdditionOperation[] = [
  byKey('update-key', 'increment: {hits: 1}', 'hits = c.hits + 1', 'id hits', 'c.id, c.hits'),
  byKey(
    'update-json',
    'setKey: {state: [{at: ["on"], value: "false"}]}, append: {tags: []}',
    `state = jsonb_set(c.state, '{on}', 'false'), tags = c.tags || '{}'::text[]`,
    'id state',
    `c.id, c.state #>> '{}' as state`,
  ),
  many(1000),
  preset,
]
