import { describe, expect, it } from 'vitest'
import { createDatabase, openQuery, type TestDatabase } from '../support/database.ts'
import { whileServed, type ServedProject } from '../support/while-served.ts'

/** Promise: a service whose database is replaced under it serves the new one, or says that it cannot. */

const sql = `
  create table note (id int primary key, body text);
  insert into note values (1, 'a');
  grant select on note to anon`

const drop = (db: TestDatabase): Promise<unknown> =>
  db.superuser('drops what the service made').query('drop schema catalograph cascade')

const read = async ({ graphql }: ServedProject): Promise<readonly [number, any]> => {
  const answer = await graphql('{ noteCollection { edges { node { body } } } }')
  return [answer.status, await answer.json()]
}

const rows = { data: { noteCollection: { edges: [{ node: { body: 'a' } }] } } }

describe('a service whose database is replaced', () => {
  it('prepares it again if its schema catalograph was dropped', async () => {
    const db = await createDatabase({ prepare: true, sql })
    await whileServed({ url: db.url, ownerUrl: db.superuser('makes event triggers').url }, {}, async (project) => {
      expect(await read(project)).toEqual([200, rows])
      await drop(db)
      expect(await read(project)).toEqual([200, rows])
      await db.query(`alter table note rename column body to text`)
      expect((await read(project))[1].errors[0].message).toMatch('Cannot query field "body"')
    })
    await db.drop()
  }, 60_000)

  it('prepares the new one', async () => {
    const db = await createDatabase({ prepare: true, sql })
    const name = new URL(db.url).pathname.slice(1)
    const { query } = await createDatabase({ beside: db }).then((other) => other.superuser('replaces a database'))
    await whileServed({ url: db.url, ownerUrl: db.superuser('makes event triggers').url }, {}, async (project) => {
      expect(await read(project)).toEqual([200, rows])
      await query(`drop database ${name} with (force)`)
      await query(`create database ${name} owner owner`)
      const opened = openQuery(db.ownerUrl)
      await opened.query(sql.replace("'a'", "'b'"))
      await opened.end()
      const others = JSON.parse(JSON.stringify(rows).replace('"a"', '"b"')) as object
      await expect.poll(async () => (await read(project))[1], { timeout: 10_000 }).toEqual(others)
      expect((await fetch(`${project.url}/readyz`)).status).toBe(200)
    })
  }, 60_000)

  it('answers 503, and is not ready, where it may not prepare it', async () => {
    const db = await createDatabase({ prepare: true, sql })
    const { noted } = await whileServed({ url: db.url, ownerUrl: db.url }, {}, async (project) => {
      expect(await read(project)).toEqual([200, rows])
      await drop(db)
      const [status, answer] = await read(project)
      expect([status, answer.errors[0].extensions.code]).toEqual([503, 'DATABASE_UNAVAILABLE'])
      await expect.poll(async () => (await fetch(`${project.url}/readyz`)).status).toBe(503)
    })
    expect(noted).toMatch(new RegExp(`the database ${new URL(db.url).pathname.slice(1)} is not prepared`))
    await db.drop()
  }, 60_000)
})
