import { describe, expect, it } from 'vitest'
import { readCatalog } from '../../../compiler/catalog/read.ts'
import { createDatabase, majors } from '../../support/database.ts'
import { forSuite } from '../../support/for-suite.ts'

describe.each(majors())('functions that may leave something behind, on PostgreSQL %i', (major) => {
  const database = forSuite(createDatabase, { major, prepare: true })

  const leaves = async (body: string, language = 'plpgsql') => {
    await database.query('begin')
    try {
      await database.query(`create function f() returns void language ${language} ${body}`)
      const query = async (text: string, values?: readonly unknown[]) => ({
        rows: (await database.query(text, values)).rows,
      })
      return (await readCatalog(query, { schemas: ['public'], version: null })).leaves
    } finally {
      await database.query('rollback')
    }
  }
  const nothing = undefined

  it.each([
    [`as 'begin update t set x = 1; delete from t; end'`, nothing],
    [`as 'begin perform template from settings; end'`, nothing],
    [`as 'begin perform set_config(''a.b'', ''c'', true); end'`, { settings: true, session: false }],
    [`as 'begin set local role anon; end'`, { settings: true, session: false }],
    [`as 'begin if true then RESET ROLE; end if; end'`, { settings: true, session: false }],
    [`as 'begin execute ''set role anon''; end'`, { settings: true, session: false }],
    [`as 'begin perform pg_advisory_lock(1); end'`, { settings: false, session: true }],
    [`as 'begin create temporary table x (id int); end'`, { settings: false, session: true }],
    [`as 'begin create temp table x (id int); end'`, { settings: false, session: true }],
  ])('in PL/pgSQL are judged: %s', async (body, expected) => {
    expect(await leaves(body)).toEqual(expected)
  })

  it.each([
    [`begin atomic select set_config('a.b', 'c', true); end`, { settings: true, session: false }],
    [`begin atomic select pg_advisory_lock(1); end`, { settings: false, session: true }],
    [`begin atomic select pg_try_advisory_lock_shared(1, 2); end`, { settings: false, session: true }],
    [`begin atomic select pg_sleep(0); end`, nothing],
  ])('in SQL are judged: %s', async (body, expected) => {
    expect(await leaves(body, 'sql')).toEqual(expected)
  })
})
