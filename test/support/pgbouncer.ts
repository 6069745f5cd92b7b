import { spawn } from 'node:child_process'
import { accessSync, chownSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../runtime/embedded-postgres/free-port.ts'
import { serverAccount } from '../../runtime/embedded-postgres/postgres-account.ts'

const program = '/usr/sbin/pgbouncer'

export const hasPgbouncer = (): boolean => {
  try {
    accessSync(program, constants.X_OK)
    return true
  } catch {
    return false
  }
}

export interface Pgbouncer {
  readonly port: number
  readonly close: () => Promise<void>
}

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })

/** A pooler before a server on loopback that trusts everybody. */
export const startPgbouncer = async (serverPort: number, mode: 'transaction' | 'session'): Promise<Pgbouncer> => {
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'catalograph-pgbouncer-'))
  const config = join(folder, 'pgbouncer.ini')
  const users = join(folder, 'users.txt')
  writeFileSync(users, '"authenticator" ""\n"postgres" ""\n')
  writeFileSync(
    config,
    `[databases]\n* = host=127.0.0.1 port=${serverPort}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${port}\n` +
      `auth_type = trust\nauth_file = ${users}\npool_mode = ${mode}\ndefault_pool_size = 5\nunix_socket_dir =\nignore_startup_parameters = options\n`,
  )
  const account = await serverAccount()
  if (account !== null) for (const path of [folder, config, users]) chownSync(path, account.uid, account.gid)
  const process = spawn(program, [config], { stdio: 'ignore', ...(account !== null && account) })
  const ended = new Promise<void>((resolve) => process.once('exit', () => resolve()))
  for (let tries = 0; !(await answers(port)); tries += 1) {
    if (tries === 100) throw new Error('pgbouncer does not answer')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return {
    port,
    close: async () => {
      process.kill('SIGINT')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
