import { expect, it } from 'vitest'
import { forSuite } from '../../../support/for-suite.ts'
import { createGenerated } from '../../../support/generated-client.ts'

/** The members of additions in a generated client. */

const additions = (
  'groups uniqueKeys jsonFilters search rangeFilters textFilters arrayFilters networkFilters manyToMany ' +
  'columnFilters oneOf'
).split(' ')
const settings = Object.fromEntries(additions.map((name) => [name, { enabled: true }]))

const sql = `
  comment on schema public is '@graphql(${JSON.stringify({ inflect_names: true, ...settings })})';
  create table event (
    id int primary key, slug text not null unique, body jsonb, title text, during int4range, tags text[], host inet,
    price numeric, at timestamptz);
  comment on table event is '@graphql({"defaultOrder": [{"at": "DescNullsLast"}], "polymorphism": {"collections": ["Listed"]}})';
  create table guest (id int primary key, name text, gone boolean not null default false);
  comment on table guest is '@graphql({"softDelete": "gone", "links": {"hosts": ["invitationCollection", "event"]},
    "polymorphism": {"collections": ["Listed"]}})';
  create table invitation (event_id int references event, guest_id int references guest, seat int, primary key (event_id, guest_id));
  comment on table invitation is '@graphql({"links": {"met": [{"event": {"slug": {"neq": "old"}}}]},
    "polymorphism": {"unions": {"about": ["event", "guest"]}}})';
  grant usage on schema public to anon;
  grant all on event, guest, invitation to anon;
`

const app = forSuite(createGenerated, sql)

const filtered = (filter: string): string => `void db.event.list({ filter: ${filter}, select: { id: true } })`

it('the generated client takes the filters of each addition, look-ups by unique keys and groups', () => {
  const use = [
    filtered(`{ body: { hasKey: 'a', path: [{ at: ['a'], number: { gt: '1' } }] } }`),
    filtered(`{ title: { search: { query: 'word' }, ieq: 'x' } }`),
    filtered(`{ during: { containsValue: 4, isEmpty: false } }`),
    filtered(`{ tags: { every: { startsWith: 'a' } } }`),
    filtered(`{ host: { containedBy: '10.0.0.0/8', family: 4 } }`),
    `const found = await functions.eventBySlug({ slug: 'a', select: { id: true } })`,
    'if (found.error === null) { const row: { readonly id: number } | null = found.data; void row }',
    `void db.event.page({ select: { groups: { by: [{ at: 'MONTH' }], select: { count: true, sum: { price: true } } } } })`,
    `void db.event.list({ select: { titleHeadline: { query: 'word' } } })`,
    `void db.event.list({ orderBy: [{ title: 'AscNullsLast' }, { id: 'DescNullsLast' }], select: { id: true } })`,
    filtered(`{ columns: { title: { gt: 'slug' } } }`),
    `void db.event.list({ orderBy: null, select: { id: true } })`,
    `const page = await db.event.page({
      select: { rows: { guestCollection: { select: { edges: { invitation: { seat: true }, node: { name: true } } } } } } })`,
    `if (page.error === null) {
      const edge = page.data.rows[0]?.guestCollection?.edges[0]
      const seat: number | null | undefined = edge?.invitation?.seat
      const name: string | null | undefined = edge?.node.name
      void seat; void name }`,
    `const led = await db.guest.list({ deleted: 'WITH', select: { hosts: { first: 1, select: { rows: { slug: true } } } } })`,
    `if (led.error === null) { const slug: string | undefined = led.data[0]?.hosts?.rows[0]?.slug; void slug }`,
    `void db.invitation.list({ select: { met: { slug: true }, guest: { deleted: 'ONLY', select: { id: true } } } })`,
    `void db.guest.get({ id: 1, deleted: 'ONLY', select: { id: true } })`,
    `const about = await db.invitation.list({
      select: { about: { deleted: 'WITH', select: { Event: { price: true }, Guest: { name: true } } } } })`,
    `if (about.error === null) for (const { about: it } of about.data) {
      if (it?.__typename === 'Event') { const price: string | null = it.price; void price }
      if (it?.__typename === 'Guest') { const name: string | null = it.name; void name } }`,
    `const all = await functions.listedCollection({ first: 2, filter: { id: { gt: 1 } }, orderBy: [{ id: 'DescNullsLast' }],
      deleted: 'WITH', select: { rows: { Event: { price: true }, Guest: { name: true } },
        edges: { cursor: true, node: { Guest: { id: true } } }, pageInfo: { endCursor: true } } })`,
    `if (all.error === null) for (const one of all.data.rows) {
      if (one.__typename === 'Event') { const price: string | null = one.price; void price }
      if (one.__typename === 'Guest') { const name: string | null = one.name; void name } }`,
    `if (all.error === null) for (const { cursor, node } of all.data.edges)
      if (node.__typename === 'Guest') { const id: number = node.id; void id; void cursor.length }`,
  ]
  expect(app.complaints([use.join('\n')])).toEqual([''])
})

it('the generated client does not take wrong uses', () => {
  const uses = [
    filtered(`{ body: { hasKey: 4 } }`),
    filtered(`{ title: { search: 'word' } }`),
    filtered(`{ during: { containsValue: 'x' } }`),
    filtered(`{ tags: { every: { gt: 4 } } }`),
    filtered(`{ host: { family: '4' } }`),
    filtered(`{ columns: { title: { gt: 'id' }, body: { eq: 'title' } } }`),
    `void db.event.list({ orderBy: [{ title: 'AscNullsLast', id: 'DescNullsLast' }], select: { id: true } })`,
    `void db.event.list({ orderBy: [{}], select: { id: true } })`,
    `void functions.eventBySlug({ select: { id: true } })`,
    `void db.event.page({ select: { groups: { by: [{ at: 'SECOND' }], select: { count: true } } } })`,
    `void db.event.page({ select: { edges: { seat: true } } })`,
    `void db.guest.page({ select: { edges: { invitation: { chair: true } } } })`,
    `void db.guest.list({ deleted: 'SOME', select: { id: true } })`,
    `void db.invitation.list({ select: { about: { select: { Event: { name: true } } } } })`,
    `void functions.listedCollection({ select: { rows: { Event: { name: true } } } })`,
    `void functions.listedCollection({ orderBy: [{ slug: 'DescNullsLast' }], select: { rows: { Event: { id: true } } } })`,
    `void db.invitation.list({ select: { about: { select: { Event: { id: true } } } } }).then(({ data }) => data?.[0]?.about?.id)`,
  ]
  expect(app.complaints(uses)).toEqual(uses.map(() => expect.stringContaining('error TS')))
})
