import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

interface Component {
  readonly purl: string
  readonly licenses?: readonly unknown[]
}

interface Locked {
  readonly version?: string
  readonly link?: boolean
}

const root = new URL('../..', import.meta.url).pathname

const purlOf = (name: string, { version }: Locked): string => `pkg:npm/${name.replace('@', '%40')}@${version}`

it('`npm run sbom` names every package of the lock file with its licence', { timeout: 60_000 }, async () => {
  const { stdout } = await promisify(execFile)('npm', ['run', '--silent', 'sbom'], { cwd: root, maxBuffer: 2 ** 26 })
  const { components } = JSON.parse(stdout) as { readonly components: readonly Component[] }
  const lock = JSON.parse(await readFile(`${root}package-lock.json`, 'utf8')) as {
    readonly packages: Readonly<Record<string, Locked>>
  }
  const installed = Object.entries(lock.packages).filter(([path, { link }]) => path.includes('node_modules/') && !link)
  const wanted = installed.map(([path, locked]) => purlOf(path.split('node_modules/').at(-1) ?? '', locked))
  expect(wanted.length).toBeGreaterThan(200)
  const licensed = new Set(components.filter(({ licenses = [] }) => licenses.length > 0).map(({ purl }) => purl))
  expect(wanted.filter((purl) => !licensed.has(purl))).toEqual([])
})
