import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { evaluateModule } from '../../../runtime/engine/load.ts'
import { entityModule } from '../../../compiler/emit/builders.ts'
import { column, entity } from '../../compiler/emit/models.ts'

describe('evaluateModule', () => {
  it('gives what the module exports', () => {
    expect(evaluateModule('module.exports = (a) => a + 1', 'm')).toBeTypeOf('function')
    expect((evaluateModule('module.exports = (a) => a + 1', 'm') as (a: number) => number)(1)).toBe(2)
  })

  it.each([
    'typeof process',
    'typeof require',
    'typeof Buffer',
    'typeof fetch',
    'typeof setTimeout',
    "typeof module.constructor.constructor('return 1')",
    "typeof (() => {}).constructor('return process')",
    'typeof eval("process")',
    'typeof globalThis.process',
  ])('gives no way out: %s', (expression) => {
    const text = `try { module.exports = ${expression} } catch { module.exports = 'undefined' }`
    expect(evaluateModule(text, 'm')).toBe('undefined')
  })

  it('refuses text that is not the body of a function, naming the module', () => {
    expect(() => evaluateModule('}); (() => {', 'odd-module')).toThrow(/Unexpected token/)
    const thrown = (() => {
      try {
        return evaluateModule('throw new Error("no")', 'odd-module')
      } catch (error) {
        return error as Error
      }
    })() as Error
    expect(thrown.stack).toContain('odd-module:1')
  })

  it('holds nothing of a thousand revisions', { timeout: 60_000 }, () => {
    const columns = Array.from({ length: 50 }, (_, index) => column(`c${index}`, `varchar(${index})`))
    const evaluateMany = (from: number, count: number): void => {
      for (let index = from; index < from + count; index++)
        evaluateModule(entityModule(entity('public', `t${index}`, { columns })), `t${index}`)
    }
    setFlagsFromString('--expose-gc')
    // As the server sets it: since Node 22 V8 would keep them all.
    setFlagsFromString('--no-compilation-cache')
    const collect = runInNewContext('gc') as () => void
    const heap = (): number => {
      collect()
      return process.memoryUsage().heapUsed
    }
    evaluateMany(0, 300)
    const before = heap()
    evaluateMany(300, 1_000)
    expect((heap() - before) / 1e6).toBeLessThan(4)
  })
})
