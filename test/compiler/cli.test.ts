import { spawnSync } from 'node:child_process'
import { mkdtemp, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { completionOf } from '../../compiler/commands/completion.ts'
import { type Command, CommandFailure } from '../../compiler/commands/command.ts'
import { keysCommand } from '../../compiler/commands/keys.ts'
import { ensureLocalSecret } from '../../compiler/commands/start.ts'
import { builtCli } from '../support/built-cli.ts'
import { runCommand } from '../support/command.ts'
import { settingsCommand } from '../../compiler/commands/settings.ts'
import { createTokenVerifier } from '../../runtime/identity/jwt.ts'

const secret = 'a secret that has more than thirty-two characters'

/** A command that shows what it was given. */
const echo: Command = {
  name: 'echo',
  summary: 'Say it again.',
  description: 'It says what it heard.',
  options: { loud: { value: null, help: 'Shout.' }, text: { value: 'TEXT', help: 'What to say.' } },
  run: async (given, terminal) => {
    terminal.print(JSON.stringify(given))
    return 0
  },
}

const breaking: Command = {
  ...echo,
  name: 'break',
  run: async ({ loud }) => {
    throw loud === true ? new CommandFailure('it cannot be done') : new TypeError('unforeseen')
  },
}

const run = (args: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
  runCommand([echo, breaking, keysCommand, settingsCommand], args, { environment })

describe('the command line', () => {
  it.each([['--help'], ['-h'], ['help']])('%s lists every command', async (arg) => {
    const { exitCode, printed, noted } = await run([arg])
    expect([exitCode, noted]).toEqual([0, ''])
    for (const part of ['echo', 'keys', 'settings', 'Say it again.', '--version']) expect(printed).toContain(part)
  })

  const asking = [[['help', 'echo']], [['echo', '--help']], [['echo', '--loud', '-h']]]
  it.each(asking)('%j explains one command', async (args) => {
    const { exitCode, printed } = await run(args)
    expect(exitCode).toBe(0)
    expect(printed).toMatch(/Usage: catalograph echo \[options\][^]*It says what it heard\./)
    expect(printed).toMatch(/--text TEXT +What to say\./)
  })

  it('has a help that a screen holds', () => {
    const { stdout } = spawnSync(process.execPath, [builtCli, 'help'], { encoding: 'utf8' })
    expect(stdout).toContain('  serve ')
    expect(stdout.split('\n').length).toBeLessThanOrEqual(36)
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([])
  })

  it.each([['--version'], ['-v'], ['version']])('%s prints the version of the package', async (arg) => {
    expect(await run([arg])).toMatchObject({ exitCode: 0, printed: expect.stringMatching(/^\d+\.\d+\.\d+/) })
  })

  it('without a command shows the help and counts as misused', async () => {
    const { exitCode, printed, noted } = await run([])
    expect([exitCode, printed]).toEqual([2, ''])
    expect(noted).toContain('Commands:')
  })

  it.each<[readonly string[], string]>([
    [['setings'], 'unknown command setings; did you mean settings?'],
    [['help', 'kyes'], 'unknown command kyes; did you mean keys?'],
    [['frobnicate'], 'unknown command frobnicate'],
    [['--verbose'], 'unknown command --verbose'],
    [['echo', '--lout'], 'echo has no option --lout; did you mean --loud?'],
    [['echo', '-x'], 'echo has no option -x'],
    [['echo', '--__proto__'], 'echo has no option --__proto__'],
    [['echo', 'more'], 'echo takes no argument "more"'],
    [['echo', '--text'], '--text needs a value: TEXT'],
    [['echo', '--text='], '--text needs a value: TEXT'],
    [['echo', '--loud=yes'], '--loud takes no value'],
  ])('%j is refused with a sentence and exit code 2', async (args, sentence) => {
    const about = args[0] === 'echo' ? ' echo' : ''
    const { exitCode, printed, noted } = await run(args)
    expect([exitCode, printed]).toEqual([2, ''])
    expect(noted).toBe(`catalograph: ${sentence}\nTry: catalograph help${about}`)
  })

  it('hands options over', async () => {
    expect((await run(['echo', '--text', 'a', '--loud'])).printed).toBe('{"text":"a","loud":true}')
    expect((await run(['echo', '--text=--x'])).printed).toBe('{"text":"--x"}')
  })

  it('ends a failed command with one sentence and exit code 1', async () => {
    expect(await run(['break', '--loud'])).toMatchObject({ exitCode: 1, noted: 'catalograph: it cannot be done' })
    expect(await run(['break'])).toMatchObject({ exitCode: 1, noted: 'catalograph: unforeseen' })
  })
})

describe('catalograph completion', () => {
  it('prints a script that completes commands, subcommands and options in bash', () => {
    const asked = [
      ['ser'],
      ['keys', 're'],
      ['serve', '--art'],
      ['help', 'doc'],
      ['completion', ''],
      ['schema', '--out', ''],
    ]
    const sets = asked.map((words) => {
      const set = `COMP_WORDS=(catalograph ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}`
      return `${set}; _catalograph; echo "\${COMPREPLY[*]}"`
    })
    const script = ['eval "$("$0" "$1" completion bash)"', ...sets].join('\n')
    const { stdout, stderr } = spawnSync('bash', ['-c', script, process.execPath, builtCli], { encoding: 'utf8' })
    // A file follows `--out`, which bash completes.
    expect([stderr, stdout.split('\n')]).toEqual([
      '',
      ['serve', 'revoke', '--artifacts', 'doctor', 'bash zsh fish --help', '', ''],
    ])
  })

  it.each([
    ['zsh', /^#compdef catalograph$[^]*'keys:Print the keys[^]* echo\) words_of=\(\); options_of=\('--loud:Shout\.'/m],
    ['fish', /^complete -c catalograph -n '__fish_seen_subcommand_from echo' -l text -r -d 'What to say\.'$/m],
  ])('prints one for %s', async (shell, row) => {
    const completion = completionOf(async () => [echo, keysCommand])
    const { exitCode, printed } = await runCommand([completion], ['completion', shell])
    expect([exitCode, printed]).toEqual([0, expect.stringMatching(row)])
  })

  it.each([[[]], [['csh']], [['bash', 'zsh']]])('refuses %j', async (args) => {
    const { exitCode, noted } = await runCommand([completionOf(async () => [])], ['completion', ...args])
    expect([exitCode, noted]).toEqual([2, expect.stringContaining('completion takes bash, zsh, fish')])
  })
})

describe('catalograph settings', () => {
  it('shows everything but secrets', async () => {
    const { exitCode, printed } = await run(['settings'], { JWT_SECRET: secret, PORT: '8080' })
    expect(exitCode).toBe(0)
    expect(printed).toMatch(/PORT +8080\n/)
    expect(printed).toMatch(/HOST +127\.0\.0\.1 {2}\(default\)/)
    expect(printed).not.toContain(secret)
  })

  it('fails when a setting is unusable, naming it', async () => {
    const { exitCode, noted } = await run(['settings'], { PORT: 'x', JWT_SECRET: 'hunter2' })
    expect(exitCode).toBe(1)
    expect(noted).toContain('PORT must be')
    expect(noted).toContain('JWT_SECRET must have')
    expect(noted).not.toContain('hunter2')
  })
})

describe('catalograph keys', () => {
  it('prints the same two keys each time', async () => {
    const { exitCode, printed } = await run(['keys'], { JWT_SECRET: secret })
    expect(exitCode).toBe(0)
    expect((await run(['keys'], { JWT_SECRET: secret })).printed).toBe(printed)
    const verify = createTokenVerifier({ secret, now: Date.now })
    const verdicts = await Promise.all(printed.split('\n').map((line) => verify(line.split(/ +/)[1] ?? '')))
    expect(verdicts).toMatchObject([{ caller: { role: 'anon' } }, { caller: { role: 'service_role' } }])
  })

  it('needs a secret, which the embedded set-up makes once and keeps to its owner', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'catalograph-cli-'))
    const environment = { CATALOGRAPH_DATA: folder }
    const without = await run(['keys'], environment)
    expect(without).toMatchObject({ exitCode: 1, noted: expect.stringContaining('JWT_SECRET') })
    const made = await ensureLocalSecret(folder)
    expect(made.length).toBeGreaterThanOrEqual(43)
    expect(await ensureLocalSecret(folder)).toBe(made)
    expect((await stat(join(folder, 'jwt-secret'))).mode & 0o777).toBe(0o600)
    expect((await run(['keys'], environment)).exitCode).toBe(0)
  })
})
