import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { isOldNode, oldestNode } from '../../../compiler/commands/advise/doctor/oldest-node.ts'
import { builtCli } from '../../support/built-cli.ts'

/** Makes Node say that it is older, and lack all that is imported by name: who needs any of it is not even linked. */
const aged = (version: string): string => {
  const lacking = `export const resolve = (name, context, next) => {
    if (context.parentURL?.startsWith('file:') && !name.startsWith('.')) throw new Error('there is no ' + name)
    return next(name, context)
  }`
  const program = `import { register } from 'node:module'
    Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })
    register('data:text/javascript,${encodeURIComponent(lacking).replaceAll("'", '%27')}')`
  return `data:text/javascript,${encodeURIComponent(program)}`
}

describe('a Node that is too old', () => {
  it.each(['18.20.8', '20.18.3'])('is refused in one sentence by every command: %s', async (version) => {
    for (const args of [['start'], ['serve'], []]) {
      const run = promisify(execFile)(process.execPath, ['--import', aged(version), builtCli, ...args])
      await expect(run).rejects.toMatchObject({
        code: 1,
        stdout: '',
        stderr: `catalograph: Node ${version} is too old; use Node 20.19 or newer\n`,
      })
    }
  })

  it('is one that package.json refuses, and none that a package of ours refuses is taken', () => {
    const root = fileURLToPath(new URL('../../../', import.meta.url))
    const { packages } = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8')) as {
      readonly packages: Readonly<
        Record<string, { readonly dev?: true; readonly engines?: { readonly node?: string } }>
      >
    }
    expect(packages['']?.engines).toEqual({ node: `>=${oldestNode}` })
    const wanted = Object.values(packages).flatMap(({ dev, engines }) =>
      dev === true ? [] : (/^>= ?(\d+\.\d+)/.exec(engines?.node ?? '')?.slice(1) ?? []),
    )
    expect(wanted).toContain(oldestNode)
    expect(wanted.filter((version) => !isOldNode(version) && version !== oldestNode)).toEqual([])
    expect(['20.19.0', '22.0.0', '24.1.0'].filter(isOldNode)).toEqual([])
  })
})
