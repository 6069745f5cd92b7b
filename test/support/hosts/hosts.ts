import { execFile, execFileSync } from 'node:child_process'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { messageOf } from '../../../runtime/lib/text.ts'
import type { Host } from '../cluster.ts'
import { unlessThere } from '../programs.ts'

/**
 * Hosts on one machine: network namespaces of Linux, each with an address and a loopback of its own, on one bridge. They need root
 * and `ip`.
 */
export interface Hosts<Name extends string> {
  readonly named: (name: Name) => Host
  /** Of this process as they see it. */
  readonly address: string
  readonly close: () => Promise<void>
}

const run = promisify(execFile)
const ip = async (...args: readonly string[]): Promise<void> => {
  await run('ip', args)
}

/** Names of interfaces have at most 15 characters. */
const prefix = `cg${process.pid}`
const network = `10.${200 + (process.pid % 50)}.${Math.floor(process.pid / 50) % 250}`

/** Why there are none here; null: there are. */
export function noHosts(): string | null {
  const absent = unlessThere('ip', '-V')
  if (absent !== null) return absent
  const bridge = `${prefix}t`
  const tries = [
    ['netns', 'add', bridge],
    ['link', 'add', bridge, 'type', 'bridge'],
    ['link', 'delete', bridge],
    ['netns', 'delete', bridge],
  ]
  try {
    for (const args of tries) execFileSync('ip', args, { stdio: 'pipe' })
    return null
  } catch (error) {
    return `Run it as root where iproute2 is installed and network namespaces are allowed (${messageOf(error)}).`
  }
}

const isThere = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Removes what is left of processes that were killed; with a namespace its interfaces go. */
const sweep = async (): Promise<void> => {
  const found = async (args: readonly string[], pattern: RegExp): Promise<readonly string[]> =>
    [...(await run('ip', args)).stdout.matchAll(pattern)]
      .filter(([, , pid]) => !isThere(Number(pid)))
      .map(([, name]) => name ?? '')
  for (const name of await found(['netns', 'list'], /^(cg(\d+)-\w+)/gm))
    await ip('netns', 'delete', name).catch(() => undefined)
  for (const name of await found(['-o', 'link', 'show', 'type', 'bridge'], /^\d+: (cg(\d+)b):/gm))
    await ip('link', 'delete', name).catch(() => undefined)
}

const attach = async (bridge: string, namespace: string, number: number): Promise<string> => {
  const address = `${network}.${number + 2}`
  const [here, there] = [`${prefix}h${number}`, `${prefix}n${number}`]
  await ip('netns', 'add', namespace)
  await ip('link', 'add', here, 'type', 'veth', 'peer', 'name', there, 'netns', namespace)
  await ip('link', 'set', here, 'master', bridge, 'up')
  await ip('-n', namespace, 'addr', 'add', `${address}/24`, 'dev', there)
  await ip('-n', namespace, 'link', 'set', there, 'up')
  await ip('-n', namespace, 'link', 'set', 'lo', 'up')
  return address
}

export async function openHosts<Name extends string>(names: readonly Name[]): Promise<Hosts<Name>> {
  const bridge = `${prefix}b`
  const address = `${network}.1`
  const namespaces = names.map((name) => `${prefix}-${name}`)
  const scripts = await mkdtemp(join(tmpdir(), 'catalograph-hosts-'))
  await chmod(scripts, 0o755)
  const close = async (): Promise<void> => {
    for (const namespace of namespaces) await ip('netns', 'delete', namespace).catch(() => undefined)
    await ip('link', 'delete', bridge).catch(() => undefined)
    await rm(scripts, { recursive: true, force: true })
  }
  try {
    await sweep()
    await ip('link', 'add', bridge, 'type', 'bridge')
    await ip('addr', 'add', `${address}/24`, 'dev', bridge)
    await ip('link', 'set', bridge, 'up')
    const hosts = new Map<Name, Host>()
    let scriptsMade = 0
    for (const [number, name] of names.entries()) {
      const namespace = namespaces[number] ?? ''
      hosts.set(name, {
        address: await attach(bridge, namespace, number),
        launcher: async (program, account) => {
          // Of each start, since no script can be written that runs.
          const file = join(scripts, `${name}-${(scriptsMade += 1)}`)
          const as =
            account === null ? [] : ['setpriv', `--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups']
          // Each of them becomes the next one, so that signals reach the program.
          const command = ['exec', 'ip', 'netns', 'exec', namespace, ...as, `'${program}'`, '"$@"']
          await writeFile(file, `#!/bin/sh\n${command.join(' ')}\n`, { mode: 0o755 })
          return file
        },
      })
    }
    const named = (name: Name): Host => {
      const host = hosts.get(name)
      if (host === undefined) throw new Error(`There is no host ${name}.`)
      return host
    }
    return { named, address, close }
  } catch (error) {
    await close()
    throw error
  }
}
