import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { drawFrom } from '../../reference/questions/draw.ts'
import { projectKeys } from '../../../runtime/identity/project-keys.ts'
import { enabled, secret, storeSettings, type SettingTexts } from '../auth.ts'
import { createDatabase } from '../database.ts'
import { startInstance } from '../auth-instance.ts'
import { judge } from './judge.ts'
import { createPerson } from './person.ts'
import { play, type Place, type Played } from './play.ts'
import { createStage } from './stage.ts'
import type { Plan } from './steps.ts'

/** Two processes on a database of their own, and the stage on which their requests are put in order. */
export interface Theatre {
  /** Lets clients do what they shall, in the order that is drawn, and judges what came of it. */
  readonly run: (plan: Plan, turns: readonly number[]) => Promise<Outcome>
  /** Deadlocks that Postgres had to end. */
  readonly deadlocks: () => Promise<number>
  readonly close: () => Promise<void>
}

export interface Outcome extends Played {
  readonly problems: readonly string[]
  /** The same for runs in which the same steps met in the same order. */
  readonly fingerprint: string
}

/** An old token is older than the reuse interval; no token of a run is. */
const unhurried = { mail_cooldown: '0', refresh_reuse_interval: '60' }

const mostAttempts = 40

/** spec/auth.md 7: a refresh is refused after five seconds in which others did. */
const lostPatience = ({ events }: Played): boolean => events.some(({ code }) => code === 'conflict')

/** No actor waits for a connection that another, which waits for its turn, holds. */
const poolSize = 6

/** `settings` on top of those that every theatre has. */
export async function openTheatre(settings: SettingTexts = {}): Promise<Theatre> {
  const db = await createDatabase({ prepare: 'auth' })
  const stage = createStage({ blocked: async () => (await db.query(waitingForLocks)).rows[0].count })
  const start = () => startInstance({ databaseUrl: db.ownerUrl, stage, poolSize })
  const instances = [await start(), await start()] as const
  await storeSettings(instances[0].tools.database.run, { ...enabled, ...unhurried, ...settings })
  const place: Place = { instances, stage, anon: (await projectKeys(secret)).anon }
  return {
    run: async (plan, turns) => {
      // A run for which the machine was too slow shows nothing: it is repeated. An order may also let one client try, again and again, for
      // a connection whose holder gets no turn to return it: each attempt has turns of its own.
      for (let attempt = 1; attempt <= mostAttempts; attempt += 1) {
        const person = await createPerson(db, instances[0].tools, plan)
        const turnsNow = turns.map((turn, index) => turn + (attempt - 1) * index)
        const played = await play(place, person, plan, drawFrom(turnsNow).int)
        if (played === null || lostPatience(played)) continue
        const problems = await judge(place, db, person, played)
        return { ...played, problems, fingerprint: fingerprint({ plan, order: played.order }) }
      }
      throw new Error(`In ${mostAttempts} attempts it took too long: ${JSON.stringify(plan)}`)
    },
    deadlocks: async () => {
      await sleep(toldMs)
      return (await db.query(deadlocksSoFar)).rows[0].count
    },
    close: async () => {
      for (const { stop } of instances) await stop()
      await db.drop()
    },
  }
}

const waitingForLocks = `select count(*)::int as count from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock'`

/** A connection reports what it met once a second. */
const toldMs = 1_100

const deadlocksSoFar = 'select deadlocks::int as count from pg_stat_database where datname = current_database()'

const fingerprint = (of: object): string => createHash('sha256').update(JSON.stringify(of)).digest('base64')
