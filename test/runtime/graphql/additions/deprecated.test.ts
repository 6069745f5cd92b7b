import { expect, it } from 'vitest'
import { dataOf } from '../../../support/answers.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { createTestService } from '../../../support/service.ts'

const sql = `
  comment on schema public is '@graphql({"introspection": true})';
  create table note (id int primary key, body text);
  insert into note values (1, 'a');
  grant select on note to anon;
`

const service = forSuite(createTestService, { sql })

const shown = async () =>
  dataOf(
    await service.graphql(
      `{ __schema { directives { name } } __type(name: "note") { fields(includeDeprecated: true) { name deprecationReason } } }`,
    ),
  )

it('the comment marks a field from the next request on, offers the directive while it stands, and changes no answer', async () => {
  const query = '{ noteCollection { edges { node { body } } } }'
  const before = await service.graphql(query)
  const plain = await shown()
  expect(plain).toMatchObject({ __schema: { directives: [{ name: 'include' }, { name: 'skip' }] } })
  await service.db.query(`comment on column note.body is '@graphql({"deprecated": "no \\" reason"})'`)
  expect(await shown()).toMatchObject({
    __schema: { directives: [{ name: 'deprecated' }, { name: 'include' }, { name: 'skip' }] },
    __type: { fields: expect.arrayContaining([{ name: 'body', deprecationReason: 'no " reason' }]) },
  })
  expect(await service.graphql(query)).toEqual(before)
  await service.db.query(`comment on column note.body is '@graphql({"deprecated": " "})'`)
  expect(await shown()).toEqual(plain)
})
