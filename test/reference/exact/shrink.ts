import type { World } from '../interpreter/world.ts'
import type { Case } from './case.ts'
import type { Disagreement } from '../judge-answer.ts'
import { judgeCase, type Asked } from './judge.ts'
import { smallerQuestions } from '../smaller-questions.ts'
import { emptierWorlds, simplerWorlds } from './shrink-world.ts'
import { openStage, type OpenStage, type Stage } from './stage.ts'

/**
 * Shrinks a failing case until the deadline: first the document and the rows, on the existing database, then the
 * catalogue. A case that fails differently, or cannot be asked any more, is not the same.
 */
export async function shrinkCase(
  failing: Case,
  found: Disagreement,
  deadline: number,
  open: OpenStage = openStage,
): Promise<Case> {
  let current = failing
  for (;;) {
    const smaller = await shrinkOnStage(current, found, deadline, open)
    const simpler = await shrinkCatalogue(smaller, found, deadline, open)
    if (simpler === null) return smaller
    current = simpler
  }
}

const isSame = (a: Disagreement, b: Disagreement | null): b is Disagreement =>
  b !== null && a.kind === b.kind && a.code === b.code

/** Null if the case cannot be asked: a candidate may name a missing object. */
const attempt = (stage: Stage, asked: Asked): Promise<Disagreement | null> => judgeCase(stage, asked).catch(() => null)

async function shrinkOnStage(failing: Case, found: Disagreement, deadline: number, open: OpenStage): Promise<Case> {
  const stage = await open(failing.world)
  let current = failing
  const first = <T>(candidates: Iterable<T>, toCase: (candidate: T) => Case): Promise<Case | null> =>
    firstFailing(candidates, deadline, async (candidate) => {
      const next = toCase(candidate)
      const again = await attempt(await stage.holding(next.world), next)
      return isSame(found, again) ? { ...next, message: again.message } : null
    })
  try {
    for (;;) {
      const { world, question } = current
      const next =
        (await first(question === null ? [] : smallerQuestions(question), (smaller) => ({
          ...current,
          question: smaller,
        }))) ?? (await first(emptierWorlds(world), (smaller) => ({ ...current, world: smaller })))
      if (next === null) return current
      current = next
    }
  } finally {
    await stage.close()
  }
}

const shrinkCatalogue = (failing: Case, found: Disagreement, deadline: number, open: OpenStage): Promise<Case | null> =>
  firstFailing(simplerWorlds(failing.world), deadline, async (world) => {
    const again = await judgeNew(world, failing, open)
    return isSame(found, again) ? { ...failing, world, message: again.message } : null
  })

async function firstFailing<T>(
  candidates: Iterable<T>,
  deadline: number,
  check: (candidate: T) => Promise<Case | null>,
): Promise<Case | null> {
  for (const candidate of candidates) {
    if (Date.now() > deadline) return null
    const failing = await check(candidate)
    if (failing !== null) return failing
  }
  return null
}

/** Judges on a separate database. */
export async function judgeNew(world: World, asked: Asked, open: OpenStage = openStage): Promise<Disagreement | null> {
  const stage = await open(world).catch(() => null)
  if (stage === null) return null
  try {
    return await attempt(stage, asked)
  } finally {
    await stage.close()
  }
}
