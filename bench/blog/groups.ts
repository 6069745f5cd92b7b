import type { AdditionOperation } from './additions.ts'

/** Groups compared with the plain GROUP BY. */

/** @param groups rows of `g`; `key` and `shown` are the members of each group */
const grouped = (field: string, key: string, shown: string, groups: string): string =>
  `select row_to_json(z) from (select (k.*)::record as "${field}" from (select array(select (e.*)::record
    from (${groups}) g, lateral (select ${key}) y, lateral (select (y.*)::record as key, ${shown}) e) as groups) k) z`

const figures = 'lateral (select g.newest as "createdAt") m'

export const groupOperations: readonly AdditionOperation[] = [
  {
    name: 'groups-values',
    shows: ['groups'],
    document: `query GroupsValues($before: Datetime!) {
      postsCollection(filter: {createdAt: {lt: $before}}) {
        groups(by: [{status: VALUE}]) { key { status } count max { createdAt } }
      }
    }`,
    variables: () => ({ before: '2024-06-01T00:00:00Z' }),
    hand: {
      name: 'groups-values',
      text: `select row_to_json(z) from (select (k.*)::record as "postsCollection" from (select array(select (e.*)::record
        from (select p.status, count(*) as n, max(p.created_at) as newest from posts p
          where p.created_at < $1::timestamptz group by p.status order by p.status limit 1000) g,
        lateral (select g.status::text) y, ${figures},
        lateral (select (y.*)::record as key, g.n as count, (m.*)::record as max) e) as groups) k) z`,
      values: ({ before }) => [String(before)],
    },
  },
  {
    name: 'groups-months',
    shows: ['groups'],
    document: `query GroupsMonths($least: Int!) {
      postsCollection {
        groups(by: [{createdAt: MONTH}, {status: VALUE}], having: {count: {gt: $least}}, orderBy: [{count: DescNullsLast}], first: 10) {
          key { createdAt status } count
        }
      }
    }`,
    variables: () => ({ least: 100 }),
    hand: {
      name: 'groups-months',
      text: grouped(
        'postsCollection',
        'g.month as "createdAt", g.status::text',
        'g.n as count',
        `select date_trunc('month', p.created_at) as month, p.status, count(*) as n from posts p
         group by 1, 2 having count(*) > $1::int8 order by 3 desc, 1, 2 limit 10`,
      ),
      values: ({ least }) => [String(least)],
    },
  },
  {
    name: 'groups-related',
    shows: ['groups'],
    document: `query GroupsRelated($after: Datetime!) {
      postsCollection(filter: {createdAt: {gt: $after}}) {
        groups(by: [{author: {name: VALUE}}], orderBy: [{count: DescNullsLast}], first: 30) { key { author { name } } count }
      }
    }`,
    variables: () => ({ after: '2024-02-15T00:00:00Z' }),
    hand: {
      name: 'groups-related',
      text: `select row_to_json(z) from (select (k.*)::record as "postsCollection" from (select array(select (e.*)::record
        from (select u.name, count(*) as n from posts p join users u on u.id = p.author_id
          where p.created_at > $1::timestamptz group by u.name order by 2 desc, 1 limit 30) g,
        lateral (select g.name) a, lateral (select (a.*)::record as author) y,
        lateral (select (y.*)::record as key, g.n as count) e) as groups) k) z`,
      values: ({ after }) => [String(after)],
    },
  },
  {
    name: 'groups-first',
    shows: ['groups'],
    document: `query GroupsFirst {
      commentsCollection { groups(by: [{postId: VALUE}], first: 30) { key { postId } count } }
    }`,
    variables: () => ({}),
    hand: {
      name: 'groups-first',
      text: grouped(
        'commentsCollection',
        'g.post_id as "postId"',
        'g.n as count',
        `select c.post_id, count(*) as n from comments c group by c.post_id order by c.post_id limit 30`,
      ),
      values: () => [],
    },
  },
]
