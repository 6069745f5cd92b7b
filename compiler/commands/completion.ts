import { didYouMean } from '../../runtime/lib/text.ts'
import { exitCodes, misuse, type Command } from './command.ts'

/** A script for a shell, made from the table of commands. */
type Shell = (commands: readonly Command[]) => string

const shells: Readonly<Record<string, Shell>> = { bash: bashScript, zsh: zshScript, fish: fishScript }

/** @param load the commands that are completed */
export const completionOf = (load: () => Promise<readonly Command[]>): Command => ({
  name: 'completion',
  summary: 'Print a script that completes commands and options in a shell.',
  description: [
    'For each new shell, where the command is on the path:',
    '  bash: eval "$(catalograph completion bash)" in ~/.bashrc',
    '  zsh:  eval "$(catalograph completion zsh)" in ~/.zshrc, after compinit',
    '  fish: catalograph completion fish > ~/.config/fish/completions/catalograph.fish',
  ].join('\n'),
  options: {},
  takes: 'bash|zsh|fish',
  words: Object.keys(shells),
  run: async (_given, terminal, [name = '', ...more]) => {
    const shell = Object.hasOwn(shells, name) ? shells[name] : undefined
    if (shell === undefined || more.length > 0)
      throw misuse(`completion takes ${Object.keys(shells).join(', ')}${didYouMean(name, Object.keys(shells))}`)
    terminal.print(shell(await load()))
    return exitCodes.done
  },
})

interface Word {
  readonly text: string
  readonly help: string
}

const optionsOf = ({ options }: Command): readonly Word[] => [
  ...Object.entries(options).map(([name, { help }]) => ({ text: `--${name}`, help })),
  { text: '--help', help: 'Explain this command.' },
]

/** Options that a value follows, which is mostly the name of a file. */
const valuedOf = ({ options }: Command): readonly string[] =>
  Object.entries(options).flatMap(([name, { value }]) => (value === null ? [] : `--${name}`))

const namesOf = (commands: readonly Command[]): string => commands.map(({ name }) => name).join(' ')

const shellWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

function bashScript(commands: readonly Command[]): string {
  const cases = commands.map((command) => {
    const words = [...(command.words ?? []), ...optionsOf(command).map(({ text }) => text)]
    return `      ${command.name}) words='${words.join(' ')}'; valued=' ${valuedOf(command).join(' ')} ' ;;`
  })
  return [
    '_catalograph() {',
    '  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}" words= valued=',
    '  if [ "$COMP_CWORD" -eq 1 ]; then',
    `    words='${namesOf(commands)} help --help --version'`,
    '  else',
    '    case "${COMP_WORDS[1]}" in',
    `      help) words='${namesOf(commands)}' ;;`,
    ...cases,
    '    esac',
    '  fi',
    '  case "$valued" in *" $previous "*) words= ;; esac',
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    '}',
    'complete -o default -F _catalograph catalograph',
  ].join('\n')
}

/** `_describe` separates a word from its help by a colon. */
function zshScript(commands: readonly Command[]): string {
  const described = (words: readonly Word[]): string =>
    words.map(({ text, help }) => shellWord(`${text}:${help.replaceAll(':', '\\:')}`)).join(' ')
  const names = described(commands.map(({ name, summary }) => ({ text: name, help: summary })))
  return [
    '#compdef catalograph',
    '_catalograph() {',
    '  local -a words_of options_of',
    '  if (( CURRENT == 2 )) || [[ $words[2] == help ]]; then',
    `    words_of=(${names})`,
    '  else',
    '    case $words[2] in',
    ...commands.map(
      (command) =>
        `      ${command.name}) words_of=(${(command.words ?? []).join(' ')}); options_of=(${described(optionsOf(command))}) ;;`,
    ),
    '    esac',
    '  fi',
    '  (( $#words_of )) && _describe word words_of',
    '  if [[ $PREFIX == -* ]]; then _describe -o option options_of; else _files; fi',
    '}',
    'compdef _catalograph catalograph',
  ].join('\n')
}

function fishScript(commands: readonly Command[]): string {
  const rows = commands.flatMap((command) => [
    `complete -c catalograph -n __fish_use_subcommand -a ${command.name} -d ${shellWord(command.summary)}`,
    ...(command.words ?? []).map((word) => `${ofCommand(command)} -a ${word}`),
    ...Object.entries(command.options).map(
      ([name, { value, help }]) =>
        `${ofCommand(command)} -l ${name}${value === null ? '' : ' -r'} -d ${shellWord(help)}`,
    ),
  ])
  return [...rows, `complete -c catalograph -n '__fish_seen_subcommand_from help' -a '${namesOf(commands)}'`].join('\n')
}

const ofCommand = ({ name }: Command): string => `complete -c catalograph -n '__fish_seen_subcommand_from ${name}'`
