import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The texts of all files below a folder whose names end so, without those whose path in it begins with one of `without`. */
export const filesIn = (folder: string, end: string, without: readonly string[] = []): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(end) && !without.some((start) => name.startsWith(start)))
    .map((name) => readFileSync(join(folder, name), 'utf8'))

/** The same as one text. */
export const textsIn = (...place: Parameters<typeof filesIn>): string => filesIn(...place).join('\n')
