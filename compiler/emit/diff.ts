import { join } from 'node:path'
import { currentFile } from '../../runtime/contract/artifact.ts'
import type { Artifacts } from './artifacts.ts'
import { localDisk, currentText } from './disk.ts'
import { structuredPatch } from 'diff'

/** The difference that writing the artifacts would make in one file. */
interface FileDifference {
  /** Path inside the revision's folder, or `current.json`. */
  readonly path: string
  readonly kind: 'added' | 'removed' | 'changed'
  /** Unified diff of the texts, without a header. */
  readonly diff: string
}

/**
 * Compares artifacts with the files in `out`, in the order of paths; empty without differences. Files are compared
 * under the same path in differently named revisions, so one changed table shows as one.
 */
export async function diffArtifacts(out: string, { revision, files }: Artifacts): Promise<readonly FileDifference[]> {
  const before = await localDisk.read(join(out, currentFile))
  const folder = join(out, revisionNamed(before) ?? revision.id)
  const present = before === null ? [] : await localDisk.files(folder)
  const paths = [...new Set([...present, ...Object.keys(files)])].sort()
  const found: FileChange[] = [{ path: currentFile, before, after: currentText(revision.id) }]
  for (const path of paths) {
    const text = present.includes(path) ? await localDisk.read(join(folder, path)) : null
    found.push({ path, before: text, after: Object.hasOwn(files, path) ? (files[path] ?? null) : null })
  }
  return found.filter(isChange).map(fileDifference)
}

/** The differences as one text, each with a header like that of `diff -u`. */
export const printDifferences = (differences: readonly FileDifference[]): string =>
  differences.map(({ path, kind, diff }) => `--- ${path} (${kind})\n${diff}`).join('\n')

/** The present and the wanted text of a file; null: absent. */
export interface FileChange {
  readonly path: string
  readonly before: string | null
  readonly after: string | null
}

export const isChange = ({ before, after }: FileChange): boolean => before !== after

export const fileDifference = ({ path, before, after }: FileChange): FileDifference => ({
  path,
  kind: before === null ? 'added' : after === null ? 'removed' : 'changed',
  diff: diffLines(before ?? '', after ?? ''),
})

function revisionNamed(text: string | null): string | null {
  const id = /"revision":\s*"([0-9a-f]{16})"/.exec(text ?? '')?.[1]
  return id ?? null
}

/** The lines of context around a change. */
const context = 2

/**
 * The difference of two texts, by lines: hunks of changed lines with some context, `@@ line @@` before each. Empty if
 * the texts are equal.
 */
export function diffLines(before: string, after: string): string {
  const { hunks } = structuredPatch('', '', ended(before), ended(after), '', '', { context })
  const printed = hunks.flatMap(({ newStart, lines }) => [`@@ ${newStart} @@`, ...lines])
  return printed.map((line) => `${line}\n`).join('')
}

/** A missing newline at the end is not a difference. */
const ended = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`)
