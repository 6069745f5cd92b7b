import type { AdditionOperation } from './additions.ts'

/** Operations with filters on values (values.sql), which their indexes serve. */

const devices = (
  name: string,
  variables: string,
  filter: string,
  condition: string,
  values: (number: number) => Readonly<Record<string, string>>,
): AdditionOperation => ({
  name,
  document: `query Devices(${variables}) {
    devicesCollection(first: 30, filter: {${filter}}) { edges { node { id } } }
  }`,
  variables: (draw) => values(draw(3_000)),
  hand: {
    name,
    text: `select row_to_json(z) from (select (k.*)::record as "devicesCollection" from (select array(select (e.*)::record
      from (select p.id from devices p where ${condition} order by p.id limit 30) p,
        lateral (select p.id) n, lateral (select (n.*)::record as node) e) as edges) k) z`,
    values: (given) => Object.values(given).map(String),
  },
})

export const valueOperations: readonly AdditionOperation[] = [
  devices('filter-json-contains', '$part: JSON!', 'state: {contains: $part}', 'p.state @> $1::jsonb', (n) => ({
    part: JSON.stringify({ tags: [`t${n}`] }),
  })),
  devices(
    'filter-json-path',
    '$city: String!',
    'state: {path: {at: ["site", "city"], text: {eq: $city}}}',
    `(p.state #>> '{site,city}') = $1`,
    (n) => ({ city: `City ${n}` }),
  ),
  devices(
    'filter-json-number',
    '$part: JSON!, $load: BigFloat!',
    'state: {contains: $part, path: {at: ["load"], number: {lt: $load}}}',
    `p.state @> $1::jsonb and case when jsonb_typeof(p.state -> 'load') = 'number' then (p.state -> 'load')::numeric end < $2::numeric`,
    (n) => ({ part: JSON.stringify({ tags: [`t${n}`] }), load: '0.5' }),
  ),
]
