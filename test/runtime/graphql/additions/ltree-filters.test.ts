import { describe, expect, it } from 'vitest'
import { dataOf, messagesOf } from '../../../support/answers.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { rowsFound } from '../../../support/rows-found.ts'
import { introspect, namesOf } from '../../../support/api-schema.ts'
import { lastPlan } from '../../../support/last-plan.ts'
import { createTestService } from '../../../support/service.ts'

const sql = `
  comment on schema public is '@graphql({"introspection": true, "ltreeFilters": {"enabled": true}})';
  create schema ext;
  create extension ltree schema ext;
  grant usage on schema ext to anon;
  create table place (id int primary key, path ext.ltree);
  create index on place using gist (path);
  insert into place values (1, 'world'), (2, 'world.europe'), (3, 'world.europe.oslo'), (4, null), (5, ''), (6, 'world.asia.oslo');
  insert into place select n, text2ltree from generate_series(100, 20000) n, ext.text2ltree('filler.n' || n);
  grant select on place to anon, authenticated;
  analyze;
`

describe('ltreeFilters: answers', () => {
  const service = forSuite(createTestService, { sql })

  const found = rowsFound(() => service, 'placeCollection')

  it.each([
    ['{path: {descendantOf: "world.europe"}}', [2, 3]],
    ['{path: {descendantOf: ""}}', [1, 2, 3, 5, 6]],
    ['{path: {ancestorOf: "world.europe.oslo"}}', [1, 2, 3, 5]],
    ['{path: {matches: "*.oslo"}}', [3, 6]],
    ['{path: {matches: "world.*{1}"}}', [2]],
    ['{path: {matchesAny: ["*.asia.*", "world"]}}', [1, 6]],
    ['{path: {matchesAny: []}}', []],
    ['{path: {matchesText: "oslo & !asia"}}', [3]],
    ['{path: {depth: 2}}', [2]],
    ['{path: {eq: "world"}}', [1]],
    ['{path: {neq: "world"}}', [2, 3, 5, 6]],
    ['{path: {in: ["world", ""]}}', [1, 5]],
    ['{path: {is: NULL}}', [4]],
    ['{path: {descendantOf: null}}', []],
    ['{not: {path: {descendantOf: "world"}}}', [5]],
  ])('%s finds %j', async (condition, ids) => {
    expect(await found(condition)).toEqual(ids)
  })

  it('refuse what is no path and no pattern, with the code of the database', async () => {
    const ask = async (condition: string) =>
      messagesOf(await service.graphql(`{ placeCollection(filter: ${condition}) { edges { cursor } } }`))
    expect(await ask('{path: {descendantOf: "a..b"}}')).toEqual([expect.stringMatching(/syntax error/)])
    expect(await ask('{path: {matches: "a{"}}')).toEqual([expect.stringMatching(/syntax error/)])
  })

  it('are served by indexes', async () => {
    const settings = ['enable_seqscan = off', 'enable_indexscan = off']
    for (const condition of [
      '{path: {descendantOf: "filler.n500"}}',
      '{path: {matches: "filler.n500"}}',
      '{path: {eq: "world"}}',
    ]) {
      dataOf(await service.graphql(`{ placeCollection(filter: ${condition}) { edges { node { id } } } }`))
      expect(await lastPlan(service, { settings })).toContain('place_path_idx')
    }
  })

  it('are not there for whom the extension is closed', async () => {
    expect(namesOf(await introspect(service), 'placeFilter')).toContain('path')
    expect(namesOf(await introspect(service, { role: 'authenticated', claims: {} }), 'placeFilter')).not.toContain(
      'path',
    )
  })
})
