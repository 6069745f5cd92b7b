import type { Attack } from './arms.ts'
import { abandoned } from './attacks/abandon.ts'
import { cancels } from './attacks/cancels.ts'
import { database } from './attacks/database.ts'
import { documents } from './attacks/documents.ts'
import { holding } from './attacks/hold.ts'
import { identity, type StandingKey } from './attacks/identity.ts'
import { leftovers } from './attacks/leftovers.ts'
import { readers } from './attacks/readers.ts'
import { sharing } from './attacks/sharing.ts'
import { sockets } from './attacks/sockets.ts'

/** Every attack. To add one, add a row to its kind. */
export const allAttacks = (standing: StandingKey): readonly Attack[] => [
  ...abandoned,
  ...holding,
  ...sharing,
  ...documents,
  ...readers,
  ...sockets,
  ...cancels,
  ...leftovers,
  ...identity(standing),
  ...database,
]
