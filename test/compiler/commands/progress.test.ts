import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createStage } from '../../../compiler/commands/progress.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('progress names a stage once it lasts longer than a second, and then how long it does', () => {
  const told: string[] = []
  const stage = createStage((line) => told.push(line))
  stage('Reading')
  vi.advanceTimersByTime(900)
  stage('Comparing')
  expect(told).toEqual([])
  vi.advanceTimersByTime(1_000)
  vi.advanceTimersByTime(20_000)
  expect(told).toEqual(['Comparing ...', 'Comparing ... 11 s', 'Comparing ... 21 s'])
})
