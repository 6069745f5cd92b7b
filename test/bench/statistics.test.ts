import { expect, test } from 'vitest'
import { exponentOf } from '../../bench/support/statistics.ts'

test.each([0, 0.5, 1, 2])('the exponent of a power law is found again: %d', (exponent) => {
  const points = [1, 10, 300, 10_000].map((size) => [size, 7 * size ** exponent] as const)
  expect(exponentOf(points)).toBeCloseTo(exponent)
})

test('a series that follows no line exactly has the slope of least squares', () => {
  const points = [
    [1, 1],
    [10, 1],
    [100, 100],
  ] as const
  expect(exponentOf(points)).toBeCloseTo(1)
})

test('one size has no slope', () => {
  expect(exponentOf([[5, 3]])).toBeNaN()
})
