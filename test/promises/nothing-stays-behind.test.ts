import { describe, expect, it } from 'vitest'
import { advisoryLocksOf } from '../support/advisory-locks.ts'
import { forSuite } from '../support/for-suite.ts'
import { lawMajors } from '../support/whole.ts'
import { createTestService } from '../support/service.ts'

/** State that a function leaves on its connection reaches neither the next field of its request nor the next request. */

const sql = `
  create table notes (id int primary key, owner text, body text);
  alter table notes enable row level security;
  create policy own on notes using (owner = current_setting('request.jwt.claims')::json ->> 'sub');
  grant select, update on notes to anon;
  grant select, update on notes to service_role;
  insert into notes values (1, 'ada', 'mine'), (2, 'bob', 'his');

  create function set_role(r text) returns text language plpgsql volatile as $$
    begin perform set_config('role', r, false); return current_user; end $$;
  create function set_role_locally(r text) returns text language plpgsql volatile as $$
    begin execute 'set local role ' || quote_ident(r); return current_user; end $$;
  create function set_claims(c text) returns text language sql volatile as
    $$ select set_config('request.jwt.claims', c, true) $$;
  create function set_tenant(t text) returns text language sql volatile as
    $$ select set_config('app.tenant', t, false) $$;
  create function tenant() returns text language sql volatile as $$ select current_setting('app.tenant', true) $$;
  create function who() returns text language sql volatile as $$ select current_user::text $$;
  create function lock_seven() returns boolean language sql volatile as $$ select pg_try_advisory_lock(7) $$;
  create function lock_and_fail() returns boolean language plpgsql volatile as $$
    begin perform pg_try_advisory_lock(8); raise exception 'no'; end $$;
  create function draft(t text) returns text language plpgsql volatile as $$
    begin create temp table if not exists drafts (body text); insert into drafts values (t);
    return (select string_agg(body, ',') from drafts); end $$;
  create function make_table() returns text language plpgsql security definer volatile as $$
    begin create table made (id int primary key); return 'made'; end $$;
`

describe.each(lawMajors())('on PostgreSQL %i', (major) => {
  const ask = (query: string) => service.graphql(query, { claims: { sub: 'ada' } })
  const service = forSuite(createTestService, { major, sql })

  it.each(['set_role', 'set_role_locally'])('a role that %s leaves does not hold for the next field', async (name) => {
    const field = `update: updatenotesCollection(set: {body: "changed"}, filter: {id: {eq: 2}}) { affectedCount }`
    const { data } = await ask(`mutation { ${name}(r: "service_role") who ${field} }`)
    expect(data).toEqual({ [name]: 'service_role', who: 'anon', update: { affectedCount: 0 } })
    expect((await service.db.query('select body from notes where id = 2')).rows).toEqual([{ body: 'his' }])
  })

  it('neither do claims and other settings', async () => {
    const { data } = await ask(`mutation {
      set_claims(c: "{\\"sub\\":\\"bob\\"}") set_tenant(t: "blue") tenant
      updatenotesCollection(set: {body: "changed"}, filter: {id: {eq: 2}}) { affectedCount }
    }`)
    expect(data.tenant ?? '').toBe('')
    expect(data.updatenotesCollection).toEqual({ affectedCount: 0 })
  })

  it('a lock is held no longer than its request, failed or not', async () => {
    expect((await ask('mutation { lock_seven }')).data).toEqual({ lock_seven: true })
    expect((await ask('mutation { lock_and_fail }')).errors).toHaveLength(1)
    await expect.poll(() => advisoryLocksOf(service.db)).toBe(0)
  })

  it('temporary tables are gone with their request', async () => {
    for (const text of ['a', 'b', 'c', 'd', 'e', 'f'])
      expect((await ask(`mutation { draft(t: "${text}") }`)).data).toEqual({ draft: text })
  })

  it('a request that changed the schema itself still goes on', async () => {
    const { data, errors } = await ask('mutation { set_tenant(t: "red") make_table who }')
    expect(errors).toBeUndefined()
    expect(data).toEqual({ set_tenant: 'red', make_table: 'made', who: 'anon' })
  })

  it('costs nothing where no function can leave anything', async () => {
    const plain = await createTestService({ major, sql: 'create table t (id int primary key); grant all on t to anon' })
    const { manifest } = await plain.revision()
    await plain.close()
    expect(manifest.leaves).toBeUndefined()
  })
})
