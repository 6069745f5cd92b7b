import { describe, it } from 'vitest'
import { assertHistories, modelSeed as seed } from '../support/auth-models/commands.ts'
import { beginChange, changeCommands, type Rules } from '../support/auth-models/email-change.ts'
import { beginSlot, scenes, slotCommands, type SceneName } from '../support/auth-models/mailed-tokens.ts'
import { startProject } from '../support/auth-models/project.ts'
import { beginChain, chainCommands } from '../support/auth-models/refresh-tokens.ts'
import { forSuite } from '../support/for-suite.ts'
import { sized } from '../support/whole.ts'

/**
 * Promise: whatever clients do with refresh tokens, codes, links and changes of addresses (issue, use, replay, let
 * expire, race, restart a process), each answer is the one of a model that is small enough to be checked by reading the
 * specification. MODEL_SEED repeats all choices, MODEL_COUNT makes more of them.
 */
const longest = 14
const count = Number(process.env['MODEL_COUNT'] ?? sized(6, 2))

describe(`histories (MODEL_SEED=${seed})`, () => {
  const project = forSuite(startProject, { anonymous_enabled: 'on' })

  it('of refresh tokens are as spec/auth.md 7 has them', { timeout: 60_000 + count * 1_000 }, () =>
    assertHistories({ commands: chainCommands, begin: () => beginChain(project), seed, count, longest: 20 }),
  )

  it.each(Object.keys(scenes) as readonly SceneName[])(
    'of codes and links are as spec/auth.md 9.2 has them: %s',
    { timeout: 60_000 + count * 1_000 },
    (scene) =>
      assertHistories({ commands: slotCommands(scene), begin: () => beginSlot(project, scene), seed, count, longest }),
  )
})

describe.each<Rules>([
  { secure: true, autoconfirm: false },
  { secure: false, autoconfirm: false },
  { secure: true, autoconfirm: true },
])(`histories of changed addresses (MODEL_SEED=${seed}), %j`, (rules) => {
  const project = forSuite(startProject, {
    anonymous_enabled: 'on',
    secure_email_change: rules.secure ? 'on' : 'off',
    autoconfirm: rules.autoconfirm ? 'on' : 'off',
  })

  it.each(['guest', 'member'] as const)(
    'are as spec/auth.md 5.4 has them: %s',
    { timeout: 60_000 + count * 1_000 },
    (who) => {
      const begin = () => beginChange(project, rules, who)
      return assertHistories({ commands: changeCommands, begin, seed, count, longest })
    },
  )
})
