import { stat } from 'node:fs/promises'
import { normalize } from 'node:path'
import { glob, isDynamicPattern } from 'tinyglobby'

/**
 * Paths of the files that a pattern matches, sorted: `*` and `?` match characters within a segment, `**` any segments,
 * `{a,b}` either. Rejects with the file system's error if the folder before the first of these does not exist.
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
