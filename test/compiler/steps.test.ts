import { describe, expect, it } from 'vitest'
import { manifestDigest } from '../../compiler/emit/emit.ts'
import { createMemo, withoutMemory } from '../../runtime/lib/memo/memo.ts'
import type { Steps } from '../../runtime/lib/steps.ts'
import { catalog, table } from '../support/catalog-literal.ts'
import { annotate, buildModel } from '../support/with-additions.ts'

const names = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `t${index}`)
const ofSize = (count: number) => catalog({ relations: names(count).map((name) => table(name)) })

function counted<T>(steps: Steps<T>): { readonly steps: number; readonly value: T } {
  for (let count = 0; ; count += 1) {
    const next = steps.next()
    if (next.done === true) return { steps: count, value: next.value }
  }
}

/** The steps of each pass. */
function passesOf(size: number, memo = withoutMemory): Readonly<Record<string, number>> {
  const noted = counted(annotate(ofSize(size), memo))
  const built = counted(buildModel(noted.value.annotated, memo))
  const told = counted(built.value.diagnose())
  const digest = counted(manifestDigest(memo, built.value.model.manifest))
  return { comments: noted.steps, model: built.steps, told: told.steps, digest: digest.steps }
}

describe('a compile', () => {
  it.each(['without', 'with'])('is left after each relation in each pass, %s a memory', (memory) => {
    const few = passesOf(10, memory === 'with' ? createMemo() : withoutMemory)
    for (const [pass, steps] of Object.entries(passesOf(110, memory === 'with' ? createMemo() : withoutMemory)))
      expect(steps - (few[pass] ?? 0), pass).toBeGreaterThanOrEqual(100)
  })
})
