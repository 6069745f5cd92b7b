import { readdir } from 'node:fs/promises'
import { join, normalize, sep } from 'node:path'

/**
 * Paths of the files that a pattern names, sorted: `*` and `?` stand for characters within a segment, `**` for any
 * segments, `{a,b}` for either. Rejects with the file system's error where the folder before the first of these is not
 * there.
 */
export async function findFiles(pattern: string): Promise<readonly string[]> {
  const segments = normalize(pattern).split(sep)
  const fixed = segments.findIndex((segment) => /[*?{]/.test(segment))
  if (fixed < 0) return [normalize(pattern)]
  const folder = segments.slice(0, fixed).join(sep) || (pattern.startsWith(sep) ? sep : '.')
  const wanted = patternOf(segments.slice(fixed).join('/'))
  const entries = await readdir(folder, { withFileTypes: true, recursive: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) =>
      wanted.test(
        path
          .slice(folder === '.' ? 0 : join(folder, sep).length)
          .split(sep)
          .join('/'),
      ),
    )
    .sort()
}

const replacements: Readonly<Record<string, string>> = { '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*', '?': '[^/]' }

function patternOf(glob: string): RegExp {
  const source = glob.replace(
    /\*\*\/|\*\*|\*|\?|\{([^{}]*)\}|[.+^$()|[\]\\}{]/g,
    (found, either: string | undefined) => {
      if (either === undefined) return replacements[found] ?? `\\${found}`
      return `(?:${either
        .split(',')
        .map((part) => patternOf(part).source.slice(1, -1))
        .join('|')})`
    },
  )
  return new RegExp(`^${source}$`)
}
