import type pg from 'pg'
import { didYouMean } from '../../lib/text.ts'
import { ParameterFault, type ConnectionParameters } from './parameters.ts'

/** Selects the intended server among those that answer (PostgreSQL manual, chapter libpq, target_session_attrs). */

interface SessionFacts {
  readonly isStandby: boolean
  readonly isReadOnly: boolean
}

const factsSql = `select pg_catalog.pg_is_in_recovery() as "isStandby",
  pg_catalog.current_setting('transaction_read_only') = 'on' as "isReadOnly"`

/** A condition on a session, and the message if it is not met. */
interface Demand {
  readonly holds: (facts: SessionFacts) => boolean
  readonly otherwise: string
}

const readWrite: Demand = { holds: ({ isReadOnly }) => !isReadOnly, otherwise: 'the session is read-only' }
const readOnly: Demand = { holds: ({ isReadOnly }) => isReadOnly, otherwise: 'the session is not read-only' }
const primary: Demand = { holds: ({ isStandby }) => !isStandby, otherwise: 'the server is a standby' }
const standby: Demand = { holds: ({ isStandby }) => isStandby, otherwise: 'the server is not a standby' }

/** target_session_attrs -> condition; if no host meets it, the next one. Null: none. */
const targets = {
  any: [null],
  'read-write': [readWrite],
  'read-only': [readOnly],
  primary: [primary],
  standby: [standby],
  'prefer-standby': [standby, null],
} as const satisfies Readonly<Record<string, readonly (Demand | null)[]>>

type Target = keyof typeof targets

/** @throws ParameterFault */
export const targetOf = ({ target_session_attrs: target = 'any' }: ConnectionParameters): Target => {
  if (Object.hasOwn(targets, target)) return target as Target
  const names = Object.keys(targets)
  throw new ParameterFault(`target_session_attrs=${target} is none of ${names.join(', ')}${didYouMean(target, names)}`)
}

/** Rejects if a connection leads to a server that does not meet the condition. */
export type CheckTarget = (client: pg.ClientBase) => Promise<void>

const checkOf =
  (demand: Demand, target: Target): CheckTarget =>
  async (client) => {
    const { rows } = await client.query<SessionFacts>(factsSql)
    if (rows[0] === undefined || !demand.holds(rows[0]))
      throw new Error(`${demand.otherwise}, and target_session_attrs is ${target}`)
  }

/** One check for each round over all hosts; null: any host that answers is accepted. */
export const checksOf = (target: Target): readonly (CheckTarget | null)[] =>
  targets[target].map((demand) => demand && checkOf(demand, target))
