import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { prepareDatabase } from '../../compiler/prepare/prepare.ts'
import { createDatabase, majors, type TestDatabase } from '../support/database.ts'

describe.each(majors())('preparing a database of PostgreSQL %i', (major) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase({ major })
  })
  afterAll(() => database.drop())

  test('a superuser gets everything', async () => {
    expect(await prepareDatabase({ url: database.adminUrl })).toEqual({ ready: true, followed: true, statements: [] })
  })
})
