import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dataOf, messagesOf } from '../support/answers.ts'
import { openAsked } from '../support/asked.ts'
import type { AskedService } from '../support/service.ts'

/** However requests fail, end or are cut off beside one another, each answer is about the caller who asked. */

const sql = `
  create table own (id int primary key, owner text);
  insert into own select n, 'user' || n from generate_series(1, 40) n;
  alter table own enable row level security;
  create policy mine on own using (owner = current_setting('request.jwt.claim.sub', true));
  create function me() returns text stable language sql as
    $$ select current_user || ' ' || current_setting('request.jwt.claim.sub') || ' ' || coalesce(current_setting('request.jwt.claim.extra', true), '') $$;
  create function fails() returns text stable language plpgsql as $$ begin raise exception 'no'; end $$;
  create function sleeps() returns text stable language sql as 'select pg_sleep(5)::text';
  create function floods() returns text stable language sql as $$ select repeat('x', 40000000) $$;
  create function taints() returns text volatile language plpgsql as $$ begin
    perform set_config('request.jwt.claim.extra', 'tainted', false);
    perform set_config('request.jwt.claim.sub', 'user1', false);
    perform set_config('role', 'service_role', false);
    return ''; end $$;
  grant usage on schema public to anon, authenticated, service_role;
  grant select on own to anon, authenticated, service_role;
`

let service: AskedService
beforeAll(async () => {
  service = await openAsked({ sql, statementTimeout: 1_000 })
})
afterAll(() => service?.close())

describe('four connections, and requests of every fate', () => {
  const disturbances = [
    '{ fails }',
    '{ sleeps }',
    '{ floods }',
    '{ unknown }',
    'mutation { taints }',
    'mutation { taints __typename }',
  ]

  it('answer each caller with what is theirs', async () => {
    const ask = async (n: number): Promise<void> => {
      const role = n % 2 === 0 ? 'anon' : 'authenticated'
      const answer = await service.graphql('{ me ownCollection { edges { node { id } } } }', {
        role,
        claims: { sub: `user${n}` },
      })
      expect(dataOf(answer)).toEqual({ me: `${role} user${n} `, ownCollection: { edges: [{ node: { id: n } }] } })
    }
    const disturb = async (query: string): Promise<void> => {
      const answer = await service.graphql(query, { role: 'authenticated', claims: { sub: 'user1', extra: 'mine' } })
      if (query.startsWith('{')) messagesOf(answer)
    }
    for (let turn = 0; turn < 4; turn += 1) {
      await Promise.all([...Array.from({ length: 40 }, (_, index) => ask(index + 1)), ...disturbances.map(disturb)])
    }
  }, 60_000)
})
