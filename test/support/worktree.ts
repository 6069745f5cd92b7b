import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { packageFolder } from '../../runtime/lib/package.ts'

const execute = promisify(execFile)
const projectFolder = packageFolder()

/** A revision of the project, built in a folder of its own. */
export interface Worktree {
  /** The requested revision, and its commit. */
  readonly name: string
  readonly folder: string
  readonly remove: () => Promise<void>
}

const git = async (...args: readonly string[]): Promise<string> =>
  (await execute('git', args, { cwd: projectFolder })).stdout.trim()

const lockOf = (folder: string): Promise<string> => readFile(join(folder, 'package-lock.json'), 'utf8')

/** Our own packages if the revision has the same dependencies. */
const install = async (folder: string): Promise<void> => {
  if ((await lockOf(folder)) === (await lockOf(projectFolder))) {
    await symlink(join(projectFolder, 'node_modules'), join(folder, 'node_modules'))
    return
  }
  await execute('npm', ['ci', '--ignore-scripts'], { cwd: folder })
}

const tsc = 'node_modules/typescript/bin/tsc'
const bundle = 'compiler/bundle.mjs'

/** Checks a revision out beside the working copy and builds it. Rejects for an unknown revision and a failed build. */
export const openWorktree = async (revision: string): Promise<Worktree> => {
  const commit = await git('rev-parse', '--short=10', '--verify', `${revision}^{commit}`)
  const parent = await mkdtemp(join(tmpdir(), 'catalograph-revision-'))
  // Root starts Postgres as another account, which must reach its programs.
  await chmod(parent, 0o755)
  const folder = join(parent, commit)
  const remove = async (): Promise<void> => {
    await git('worktree', 'remove', '--force', folder).catch(() => undefined)
    await rm(parent, { recursive: true, force: true })
  }
  try {
    await git('worktree', 'add', '--detach', folder, commit)
    await install(folder)
    await execute(process.execPath, [tsc, '-p', 'tsconfig.json'], { cwd: folder })
    // Older revisions run the output of tsc.
    if (existsSync(join(folder, bundle))) await execute(process.execPath, [bundle], { cwd: folder })
  } catch (error) {
    await remove()
    throw error
  }
  return { name: revision === commit ? commit : `${revision} ${commit}`, folder, remove }
}
