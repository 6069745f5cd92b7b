import { renderSettings } from '../../runtime/settings/startup-report.ts'
import type { Environment } from '../../runtime/settings/sources.ts'
import type { Command } from './command.ts'

/** The help of the whole program. Values of secrets are not shown. */
export function renderHelp(commands: readonly Command[], environment: Environment): string {
  return [
    'catalograph: a GraphQL API compiled from the catalogue of a Postgres database',
    '',
    'Usage: catalograph <command> [options]',
    '',
    'Commands:',
    ...columns(commands.map(({ name, summary }) => [name, summary])),
    ...columns([['help COMMAND', 'Explain one command.']]),
    '',
    'Options:',
    ...columns([
      ['--help', 'Show this text.'],
      ['--version', 'Show the version.'],
    ]),
    '',
    'Settings (environment variables):',
    renderSettings(environment),
  ].join('\n')
}

/** The help of one command. */
export function renderCommandHelp(command: Command): string {
  const options = Object.entries(command.options).map(([name, option]): readonly [string, string] => [
    option.value === null ? `--${name}` : `--${name} ${option.value}`,
    option.help,
  ])
  return [
    `Usage: catalograph ${command.name}${options.length === 0 ? '' : ' [options]'}${takes(command)}`,
    '',
    command.summary,
    ...(command.description === '' ? [] : ['', command.description]),
    ...(options.length === 0 ? [] : ['', 'Options:', ...columns(options)]),
  ].join('\n')
}

const takes = ({ takes: args }: Command): string => (args === undefined ? '' : ` ${args}`)

function columns(rows: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(12, ...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
}
