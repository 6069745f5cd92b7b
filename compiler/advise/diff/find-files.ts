import { stat } from 'node:fs/promises'
import { normalize } from 'node:path'
import { glob, isDynamicPattern } from 'tinyglobby'

/**
 * Paths of the files that a pattern names, sorted: `*` and `?` stand for characters within a segment, `**` for any
 * segments, `{a,b}` for either. Rejects with the file system's error where the folder before the first of these is not
 * there.
 */
export async function findFiles(pattern: string): Promise<readonly string[]> {
  if (!isDynamicPattern(pattern)) return [normalize(pattern)]
  const segments = pattern.split('/')
  const fixed = segments
    .slice(
      0,
      segments.findIndex((segment) => isDynamicPattern(segment)),
    )
    .join('/')
  await stat(fixed === '' && !pattern.startsWith('/') ? '.' : fixed || '/')
  const found = await glob(pattern, { absolute: pattern.startsWith('/'), expandDirectories: false })
  return found.map(normalize).sort()
}
