import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createDatabase } from '../../../support/database.ts'
import { createApplication } from '../../../support/generated-client.ts'

const sql = `
  comment on schema public is '@graphql({"inflect_names": true})';
  create table post (id int primary key, views int);
  comment on table post is '@graphql({"deprecated": "read notes */ instead"})';
  comment on column post.views is 'How often. @graphql({"deprecated": "count\\nthem"})';
  grant usage on schema public to anon;
  grant all on post to anon;
`

it('says in a generated client what is deprecated, where editors find it', async () => {
  const database = await createDatabase({ sql })
  const app = createApplication()
  try {
    const args = ['--from', database.adminUrl, '--out', join(app.folder, 'db'), '--role', 'anon']
    expect(await app.codegen(args)).toMatchObject({ exitCode: 0 })
    const read = (path: string): string => readFileSync(join(app.folder, 'db', path), 'utf8')
    expect(read('rows.d.ts')).toContain(
      '  /**\n   * How often.\n   * @deprecated count\\nthem\n   */\n  readonly views:',
    )
    expect(read('tables/Post.d.ts')).toContain('   * @deprecated read notes *\\/ instead\n   */\n  readonly insert:')
  } finally {
    app.remove()
    await database.drop()
  }
})
