import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { RunRecord } from '../support/record.ts'
import { figure, median, ratios, spreadText } from '../support/statistics.ts'
import type { Row } from '../support/table.ts'
import type { Worktree } from '../../test/support/worktree.ts'

const execute = promisify(execFile)
const tsc = 'node_modules/typescript/bin/tsc'

type Figures = Readonly<Record<string, number>>

/** Runs a revision's own benchmark of translation: it measures functions, which may have other names there. */
const runOnce = async ({ folder }: Worktree): Promise<Figures> => {
  const file = join(folder, '..', 'translate.json')
  const args = ['--expose-gc', 'bench/dist/bench/translate.js', '--tables', '20', '--json', file]
  await execute(process.execPath, args, { cwd: folder })
  return (JSON.parse(await readFile(file, 'utf8')) as RunRecord).figures as Figures
}

const hasBench = ({ folder }: Worktree): boolean => existsSync(join(folder, 'bench/translate.ts'))

/** Translation and compile on 20 tables, revisions alternately; no rows if one of them cannot measure it. */
export const compareTranslations = async (a: Worktree, b: Worktree, rounds: number): Promise<readonly Row[]> => {
  if (!hasBench(a) || !hasBench(b)) return []
  for (const { folder } of [a, b]) await execute(process.execPath, [tsc, '-p', 'bench/tsconfig.json'], { cwd: folder })
  const [ofA, ofB]: [Figures[], Figures[]] = [[], []]
  for (let round = 0; round < rounds; round += 1) {
    ofA.push(await runOnce(a))
    ofB.push(await runOnce(b))
  }
  const series = (figures: readonly Figures[], name: string): readonly number[] =>
    figures.map((of) => of[name] ?? Number.NaN)
  return Object.keys(ofA[0] ?? {}).map((name) => ({
    figure: name,
    [a.name]: figure(median(series(ofA, name))),
    [b.name]: figure(median(series(ofB, name))),
    [`× ${a.name}`]: spreadText(ratios(series(ofB, name), series(ofA, name))),
  }))
}
