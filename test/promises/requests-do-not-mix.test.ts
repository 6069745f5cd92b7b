import { describe, expect, it } from 'vitest'
import { dataOf, messagesOf } from '../support/answers.ts'
import { openAskedBothWays } from '../support/asked.ts'
import { forSuite } from '../support/for-suite.ts'

/**
 * However requests fail, end or are cut off beside one another, each answer is about the caller who asked: of a general service
 * and of one that has nothing but compiled documents. Long form: npm run test:laws -- --turns 100
 */
const turns = Number(process.env['LAWS_TURNS'] ?? '4')

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

const own = '{ me ownCollection { edges { node { id } } } }'
const disturbances = ['{ fails }', '{ sleeps }', '{ floods }', 'mutation { taints }', 'mutation { taints __typename }']

const service = forSuite(
  openAskedBothWays,
  { sql, statementTimeout: 1_000 },
  [own, ...disturbances],
  ['anon', 'authenticated'],
)

describe('four connections, and requests of every fate', () => {
  it.each([
    ['general service', 'graphql', turns],
    ['service of compiled documents', 'alone', Math.ceil(turns / 2)],
  ] as const)(
    'answer each caller of a %s with what is theirs',
    async (_, way, count) => {
      const ask = async (n: number): Promise<void> => {
        const role = n % 2 === 0 ? 'anon' : 'authenticated'
        const answer = await service[way](own, { role, claims: { sub: `user${n}` } })
        expect(dataOf(answer)).toEqual({ me: `${role} user${n} `, ownCollection: { edges: [{ node: { id: n } }] } })
      }
      const disturb = async (query: string): Promise<void> => {
        const answer = await service[way](query, { role: 'authenticated', claims: { sub: 'user1', extra: 'mine' } })
        if (query.startsWith('{')) messagesOf(answer)
      }
      for (let turn = 0; turn < count; turn += 1) {
        await Promise.all([
          ...Array.from({ length: 40 }, (_none, index) => ask(index + 1)),
          ...[...disturbances, '{ unknown }'].map(disturb),
        ])
      }
    },
    60_000 + turns * 5_000,
  )
})
