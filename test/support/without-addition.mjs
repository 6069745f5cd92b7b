import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

// npm run test:without -- NAME ... | --all: deletes an addition on a copy of the tree, type-checks what remains, and runs tests
// of the core. An addition is its folder and its rows in the files beside it.

const root = join(import.meta.dirname, '../..')
const folders = readdirSync(join(root, 'compiler/additions'), { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? [entry.name] : [],
)
const folderOf = (name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

const coreTests = ['filters', 'node-and-keys', 'relations'].map((name) => `test/runtime/graphql/${name}.test.ts`)

/** @param names of folders, or of keys */
const given = process.argv.slice(2)
const wanted = given.includes('--all') ? folders : given.map(folderOf)
const unknown = wanted.filter((name) => !folders.includes(name))
if (wanted.length === 0 || unknown.length > 0) {
  console.error(`npm run test:without -- NAME ... | --all, where NAME is one of ${folders.join(', ')}`)
  process.exit(2)
}
const failed = wanted.filter((folder) => !holdsWithout(folder))
console.log(failed.length === 0 ? 'The core stands without each of them.' : `It does not without ${failed.join(', ')}.`)
process.exit(failed.length === 0 ? 0 : 1)

function holdsWithout(folder) {
  const copy = mkdtempSync(join(tmpdir(), `catalograph-without-${folder}-`))
  try {
    copyTree(copy)
    remove(copy, folder)
    const run = (...command) => {
      const { status } = spawnSync('npx', ['--no-install', ...command], { cwd: copy, stdio: 'inherit' })
      console.log(`${folder}: ${command.join(' ')}: ${status === 0 ? 'passed' : 'FAILED'}`)
      return status === 0
    }
    return (
      // The build, too: a thread answers introspection.
      run('tsc', '-p', 'tsconfig.json', '--incremental', 'false') &&
      run('tsc', '-p', 'runtime/console/page', '--incremental', 'false') &&
      run(
        'vitest',
        ...'run --config test/vitest.config.ts --reporter dot --test-timeout 120000'.split(' '),
        ...coreTests,
      )
    )
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

function copyTree(copy) {
  const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root })
  // Git ignores node_modules as a folder, not as a link to one.
  const files = list
    .toString()
    .split('\0')
    .filter((file) => file !== '' && file !== 'node_modules')
  for (const file of files) if (existsSync(join(root, file))) cpSync(join(root, file), join(copy, file))
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
}

/** The folder, its rows, and the tests and cases that are named after it. */
function remove(copy, folder) {
  rmSync(join(copy, 'compiler/additions', folder), { recursive: true })
  const name = folder.replace(/-(\w)/g, (_, letter) => letter.toUpperCase())
  const isRow = (line) => line.includes(`'./${folder}/`) || new RegExp(`^  ${name}(: true)?,$`).test(line)
  for (const file of readdirSync(join(copy, 'compiler/additions')).filter((file) => file.endsWith('.ts'))) {
    const path = join(copy, 'compiler/additions', file)
    const lines = readFileSync(path, 'utf8').split('\n')
    writeFileSync(path, lines.filter((line) => !isRow(line)).join('\n'))
  }
  const named = (path) => path.split('/').some((part) => part === folder || part.startsWith(`${folder}.`))
  for (const top of ['test', 'fixtures']) {
    for (const path of readdirSync(join(copy, top), { recursive: true }).filter(named)) {
      if (existsSync(join(copy, top, dirname(path)))) rmSync(join(copy, top, path), { recursive: true, force: true })
    }
  }
}
