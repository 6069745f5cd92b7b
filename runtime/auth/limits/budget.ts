import type { RunStatement, StatementsDatabase } from '../../db/pool/statements.ts'
import { refuse } from '../protocol/errors.ts'

/**
 * The time limit of a call (spec/auth.md 2.3). 504 means that nothing was kept and nothing will be: after the limit no
 * statement of the call begins and none of its transactions commits. A commit that is in progress, or done, cannot be
 * stopped: then the call is answered with its result, however late.
 */
export interface Budget {
  readonly database: StatementsDatabase
  readonly check: () => void
  /** Resolves with the work's result, or throws 504 `request_timeout` if the limit passes before anything was kept. */
  readonly within: <T>(work: () => Promise<T>) => Promise<T>
}

/** The commit of some statements: after `begin` it cannot be stopped, after `settle` it is over. */
interface Commits {
  readonly begin: () => void
  readonly settle: () => void
}

/** A single statement commits with itself: a call that ends right after it is answered with its result. */
const afterStatementMs = 100

export function createBudget(database: StatementsDatabase, ms: number): Budget {
  let state: 'in time' | 'late' | 'kept' = 'in time'
  let underWay = 0
  let giveUp: () => void = () => undefined
  const check = (): void => {
    if (state === 'late') throw refuse('request_timeout')
  }
  const leave = (): void => {
    underWay -= 1
    if (state === 'late' && underWay === 0) setTimeout(giveUp, afterStatementMs).unref()
  }
  const run: RunStatement = async (statement, values) => {
    check()
    underWay += 1
    try {
      return await database.run(statement, values)
    } finally {
      leave()
    }
  }
  /** Runs work that commits. It may run again after a conflict, and then begins with `settle`. */
  const keeping = async <T>(work: (commits: Commits) => Promise<T>): Promise<T> => {
    check()
    let committing = false
    const settle = (): void => {
      if (committing) leave()
      committing = false
    }
    const begin = (): void => {
      check()
      committing = true
      underWay += 1
    }
    try {
      const value = await work({ settle, begin })
      state = 'kept'
      return value
    } finally {
      settle()
    }
  }
  const transaction: StatementsDatabase['transaction'] = (work) =>
    keeping((commit) =>
      database.transaction(async (inner) => {
        commit.settle()
        const made = await work(async (statement, values) => {
          check()
          return inner(statement, values)
        })
        commit.begin()
        return made
      }),
    )
  const together: StatementsDatabase['together'] = (ask) =>
    keeping((commit) =>
      database.together((inner) => {
        commit.settle()
        commit.begin()
        return ask(inner)
      }),
    )
  const onTime = (): void => {
    if (state !== 'in time') return
    state = 'late'
    if (underWay === 0) giveUp()
  }
  return {
    database: { ...database, run, transaction, together },
    check,
    within: (work) =>
      new Promise((resolve, reject) => {
        giveUp = () => reject(refuse('request_timeout'))
        const timer = setTimeout(onTime, ms)
        void work()
          .then(resolve, reject)
          .finally(() => clearTimeout(timer))
      }),
  }
}
