import { projectKeys } from '../../../runtime/identity/project-keys.ts'
import {
  call,
  enabled,
  mailsTo,
  secret,
  storeSettings,
  type Answer,
  type CallOptions,
  type SettingTexts,
} from '../auth.ts'
import { startInstance, type Instance } from '../auth-instance.ts'
import { createDatabase, type TestDatabase } from '../database.ts'

/** A project on two processes: calls go to them in turn, and one after the other is replaced by a new one. */
export interface Project {
  readonly db: TestDatabase
  readonly serviceRole: string
  readonly call: (method: string, path: string, options?: CallOptions) => Promise<Answer>
  readonly mails: (address: string) => ReturnType<typeof mailsTo>
  /** A new process takes the place of the one that runs longest; nothing is left of what that one remembered. */
  readonly restart: () => Promise<void>
  readonly stop: () => Promise<void>
}

export async function startProject(settings: SettingTexts): Promise<Project> {
  const db = await createDatabase({ prepare: 'auth' })
  const { anon, serviceRole } = await projectKeys(secret)
  const start = (): Promise<Instance> => startInstance({ databaseUrl: db.ownerUrl, stage: null, poolSize: 10 })
  let processes: readonly Instance[] = [await start(), await start()]
  await storeSettings((processes[0] as Instance).tools.database.run, { ...enabled, mail_cooldown: '0', ...settings })
  let calls = 0
  return {
    db,
    serviceRole,
    call: (method, path, options) => {
      calls += 1
      return call((processes[calls % 2] as Instance).url, anon, method, path, options)
    },
    mails: (address) => mailsTo(db, address),
    restart: async () => {
      const [oldest, other] = processes as [Instance, Instance]
      processes = [other, await start()]
      await oldest.stop()
    },
    stop: async () => {
      for (const { stop } of processes) await stop()
      await db.drop()
    },
  }
}

/** The same request several times at once, on real connections to both processes. */
export const atOnce = (times: number, ask: () => Promise<Answer>): Promise<readonly Answer[]> =>
  Promise.all(Array.from({ length: times }, ask))
