import { textList } from '../../../runtime/auth/settings/parsers.ts'
import { settingsOf } from '../../../runtime/auth/settings/load.ts'
import { storedSettings } from '../../../runtime/auth/settings/store.ts'
import { CommandFailure, misuse } from '../command.ts'
import { save, type AuthSubcommand } from './subcommand.ts'

const changes: Readonly<Record<string, (present: readonly string[], given: readonly string[]) => readonly string[]>> = {
  add: (present, given) => [...new Set([...present, ...given])],
  remove: (present, given) => {
    const unknown = given.find((address) => !present.includes(address))
    if (unknown !== undefined) throw new CommandFailure(`${unknown} is not on the list`)
    return present.filter((address) => !given.includes(address))
  },
}

export const redirects: AuthSubcommand = {
  usage: 'redirects [list] | redirects add URL... | redirects remove URL...',
  summary: 'Redirect targets beside the site URL; * within a segment, ** over segments.',
  most: 1000,
  run: async (work) => {
    const [act = 'list', ...given] = work.args
    const present = settingsOf(await storedSettings(work.database.run)).redirect_allow_list ?? []
    const change = Object.hasOwn(changes, act) ? changes[act] : undefined
    if (change === undefined && act !== 'list') throw misuse(`redirects takes list, add or remove, not "${act}"`)
    if ((given.length === 0) !== (act === 'list')) throw misuse(`usage: catalograph auth ${redirects.usage}`)
    const wanted = change === undefined ? present : change(present, given)
    if (change !== undefined) await save(work, { redirect_allow_list: addressesText(wanted) })
    for (const address of wanted) work.terminal.print(address)
  },
}

/** One per line. An address that would be split on reading is refused. */
function addressesText(addresses: readonly string[]): string {
  const text = addresses.join('\n')
  const read = textList(text)
  if (read.kind === 'value' && read.value.join('\n') === text) return text
  throw new CommandFailure('an address may hold neither blanks around it nor a comma outside braces')
}
