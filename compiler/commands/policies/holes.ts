import { groupBy } from '../../../runtime/lib/steps.ts'
import { conditionOf, reachOf, type RowCommand } from '../../../runtime/console/admin/reach.ts'
import {
  type DefinerFunction,
  roleFactsOf,
  relationName,
  policyPrivileges,
  type PolicyFacts,
  type SecuredRelation,
  type GrantedRole,
  writableIn,
} from './secured-relations.ts'

/** All that is open although no line of the file says so. Each kind is a row of the table at the end. */

export interface PolicyHole {
  readonly hole: string
  readonly on: string
  readonly says: string
  readonly fix: string
}

export interface HoleFacts {
  readonly relations: readonly SecuredRelation[]
  readonly definers: readonly DefinerFunction[]
  /** Roles of callers, which row-level security should concern. */
  readonly roles: readonly { readonly name: string; readonly bypasses: boolean }[]
  /** Whether guests sign in, whose role is `authenticated`. */
  readonly guests: boolean
}

type Found = Omit<PolicyHole, 'hole'>

const writes = ['insert', 'update', 'delete'] as const satisfies readonly RowCommand[]

const isPlainTable = ({ kind }: SecuredRelation): boolean => kind === 'table'

const callersIn = ({ roles }: HoleFacts): readonly string[] => roles.map(({ name }) => name)

const grantedOf = ({ usage, ...privileges }: GrantedRole): readonly RowCommand[] =>
  usage ? (['select', ...writes] as const).filter((command) => privileges[command]) : []

/** Roles with a grant, and their commands. */
function grantsText(relation: SecuredRelation, roles: readonly string[]): string {
  const granted = roles.flatMap((role) => {
    const facts = roleFactsOf(relation, role)
    const commands = facts === undefined ? '' : grantedOf(facts).join(', ')
    return commands === '' ? [] : [{ role, commands }]
  })
  return [...groupBy(granted, ({ commands }) => commands)]
    .map(([commands, group]) => `${group.map(({ role }) => role).join(' and ')} may ${commands}`)
    .join('; ')
}

/** Whether the policies for visitors demand a claim, which a visitor lacks. */
function needsAccount(relation: SecuredRelation, command: RowCommand): boolean {
  const facts = roleFactsOf(relation, 'anon')
  if (facts === undefined || !facts.restricted) return false
  const condition = conditionOf(
    policyPrivileges(relation, facts).policies,
    command,
    command === 'insert' ? 'new' : 'old',
  )
  return condition !== null && /\bauth\.\w+\(|\bcurrent_setting\(/.test(condition) && !/\bor\b/i.test(condition)
}

const reaches = (relation: SecuredRelation, role: string, command: RowCommand): boolean => {
  const facts = roleFactsOf(relation, role)
  if (facts === undefined) return false
  const { kind } = reachOf(policyPrivileges(relation, facts), command)
  return kind === 'rows' || kind === 'new-rows'
}

/**
 * Whether an expression depends on the caller: by a claim or a role, or by a function or a table of the project, which may
 * depend on them.
 */
const mentionsCaller = (sql: string | null): boolean =>
  sql !== null && /\bcurrent_setting\(|\b(?:current|session)_user\b|\b[\w"]+\.[\w"]+\(|\bfrom\b/i.test(sql)

interface Concerned {
  readonly relation: SecuredRelation
  readonly policy: PolicyFacts
  readonly role: string
  readonly facts: GrantedRole
  readonly on: string
}

/** Each policy with each role that it concerns and that it gives rows, once for all of its roles. */
const policiesOf = ({ relations }: HoleFacts, roles: readonly string[]): readonly Concerned[] =>
  relations.flatMap((relation) =>
    relation.policies.flatMap((policy) => {
      const concerned = roles.flatMap((role) => {
        const facts = roleFactsOf(relation, role)
        const applies = facts?.restricted === true && facts.concerning.includes(policy.name)
        return applies ? [{ relation, policy, role, facts, on: `${relationName(relation)}: ${policy.name}` }] : []
      })
      return concerned
    }),
  )

const oncePerObject = (found: readonly Found[]): readonly Found[] => [
  ...new Map(found.map((one) => [one.on, one])).values(),
]

const commandsOf = ({ command }: PolicyFacts): readonly RowCommand[] =>
  command === 'all' ? ['select', ...writes] : [command]

const restrictive = ({ relation, facts }: Concerned, command: RowCommand): string =>
  policyPrivileges(relation, facts)
    .policies.filter((policy) => !policy.permissive && [command, 'all'].includes(policy.command))
    .map(({ using, check }) => `${using} ${check ?? using}`)
    .join(' ')

/** Roles of callers to whom policies grant, without those that see everything anyway. */
const signedIn = 'authenticated'

const finders: Readonly<Record<string, (facts: HoleFacts) => readonly Found[]>> = {
  'no-rls': (facts) =>
    facts.relations.flatMap((relation) => {
      const granted = grantsText(relation, callersIn(facts))
      if (!isPlainTable(relation) || relation.secured || granted === '') return []
      const on = relationName(relation)
      return [
        { on, says: `row-level security is off, and ${granted}`, fix: `alter table ${on} enable row level security;` },
      ]
    }),

  'anon-writes': (facts) =>
    facts.relations.flatMap((relation) => {
      const open = writes.filter((command) => reaches(relation, 'anon', command) && !needsAccount(relation, command))
      if (open.length === 0 || !callersIn(facts).includes('anon')) return []
      const on = relationName(relation)
      return [
        {
          on,
          says: `anyone without an account may ${open.join(', ')}`,
          fix: `revoke ${open.join(', ')} on ${on} from anon;`,
        },
      ]
    }),

  'open-write': (facts) =>
    oncePerObject(
      policiesOf(
        facts,
        callersIn(facts).filter((role) => role !== 'anon'),
      ).flatMap((concerned) => {
        const { policy, role, facts: own, on } = concerned
        const open = writes.filter((command) => {
          const condition = command === 'insert' ? (policy.check ?? policy.using) : policy.using
          const concerns = policy.permissive && commandsOf(policy).includes(command) && own[command] && own.usage
          return concerns && condition === 'true' && restrictive(concerned, command) === ''
        })
        if (open.length === 0) return []
        return [
          {
            on,
            says: `${role} may ${open.join(', ')} every row`,
            fix: 'write a condition on the row in place of true',
          },
        ]
      }),
    ),

  'hand-over': (facts) =>
    oncePerObject(
      changing(facts).flatMap(({ policy: { using, check }, role, on, columns }) =>
        mentionsCaller(using) && check !== null && !mentionsCaller(check)
          ? [
              {
                on,
                says: `${role} may give rows to others, since the new row need not meet the condition of the old one (${columns})`,
                fix: 'leave out WITH CHECK, so that USING holds for the new row as well',
              },
            ]
          : [],
      ),
    ),

  'take-over': (facts) =>
    oncePerObject(
      changing(facts).flatMap(({ policy: { using, check }, role, on, columns }) =>
        !mentionsCaller(using) && mentionsCaller(check)
          ? [
              {
                on,
                says: `${role} may take rows of others, since only the new row must meet a condition on the caller (${columns})`,
                fix: 'write the condition of WITH CHECK into USING',
              },
            ]
          : [],
      ),
    ),

  'user-metadata': (facts) =>
    oncePerObject(
      policiesOf(facts, callersIn(facts)).flatMap(({ policy, on }) =>
        /user_metadata|raw_user_meta_data/.test(`${policy.using} ${policy.check}`)
          ? [
              {
                on,
                says: 'the policy reads user_metadata, which users set themselves',
                fix: 'read app_metadata, or a table that users cannot write',
              },
            ]
          : [],
      ),
    ),

  'own-flag': (facts) =>
    oncePerObject(
      policiesOf(facts, callersIn(facts)).flatMap(({ policy, role, on }) =>
        policy.others.flatMap(({ schema, name, column }) => {
          const read = facts.relations.find((other) => other.schema === schema && other.name === name)
          if (read === undefined || !isOwnFlag(read, role, column, `${policy.using} ${policy.check}`)) return []
          return [
            {
              on,
              says: `the policy reads ${schema}.${name}.${column}, which ${role} may change in the own row`,
              fix: `revoke update on ${schema}.${name} from ${role}; grant update (...) on ${schema}.${name} to ${role};`,
            },
          ]
        }),
      ),
    ),

  'guests-pass': (facts) =>
    oncePerObject(
      policiesOf(facts, facts.guests ? [signedIn] : []).flatMap((concerned) => {
        const { relation, policy, facts: own, on } = concerned
        const forAll = roleFactsOf(relation, 'anon')?.concerning.includes(policy.name) === true
        const open = commandsOf(policy).filter((command) => {
          const conditions = `${policy.using} ${policy.check} ${restrictive(concerned, command)}`
          return own.usage && own[command] && !mentionsCaller(conditions)
        })
        if (!policy.permissive || forAll || open.length === 0) return []
        return [
          {
            on,
            says: `guests, whose role is ${signedIn}, pass it too: ${open.join(', ')}`,
            fix: `add: and not coalesce((auth.jwt() ->> 'is_anonymous')::boolean, false)`,
          },
        ]
      }),
    ),

  'open-function': ({ definers }) =>
    definers.flatMap(({ signature, owner, roles }) =>
      roles.includes('anon')
        ? [
            {
              on: signature,
              says: `anyone may call it, and it runs as ${owner}`,
              fix: `revoke execute on function ${signature} from public, anon;`,
            },
          ]
        : [],
    ),

  'owner-view': (facts) =>
    facts.relations.flatMap((relation) => {
      const granted = grantsText(relation, callersIn(facts))
      if (relation.kind !== 'view' || relation.bypassed.length === 0 || granted === '') return []
      const on = relationName(relation)
      return [
        {
          on,
          says: `the view reads ${relation.bypassed.join(', ')} as its owner, whom no policy concerns, and ${granted}`,
          fix: `alter view ${on} set (security_invoker = true);`,
        },
      ]
    }),

  'outside-rls': (facts) =>
    facts.relations.flatMap((relation) => {
      const granted = grantsText(relation, callersIn(facts))
      if (isPlainTable(relation) || relation.kind === 'view' || granted === '') return []
      const on = relationName(relation)
      return [
        {
          on,
          says: `a ${relation.kind} cannot have policies, and ${granted}`,
          fix: `revoke all on ${on} from ${callersIn(facts).join(', ')};`,
        },
      ]
    }),

  'nothing-visible': (facts) =>
    facts.relations.flatMap((relation) => {
      const granted = grantsText(relation, callersIn(facts))
      const isOpen = callersIn(facts).some((role) =>
        (['select', ...writes] as const).some((command) => reaches(relation, role, command)),
      )
      if (!relation.secured || granted === '' || isOpen) return []
      const on = relationName(relation)
      return [
        {
          on,
          says: `${granted}, and no policy gives any of them a row`,
          fix: `create a policy, or revoke all on ${on} from ${callersIn(facts).join(', ')};`,
        },
      ]
    }),

  'bypasses-rls': ({ roles }) =>
    roles.flatMap(({ name, bypasses }) =>
      bypasses
        ? [
            {
              on: name,
              says: 'row-level security does not concern this role',
              fix: `alter role ${name} nosuperuser nobypassrls;`,
            },
          ]
        : [],
    ),
}

/** Update policies of which the role may change a column that they mention. */
const changing = (facts: HoleFacts): readonly (Concerned & { readonly columns: string })[] =>
  policiesOf(facts, callersIn(facts)).flatMap((concerned) => {
    const { policy, relation, facts: own } = concerned
    const columns = policy.columns.filter((column) => writableIn(relation, own, 'update').includes(column))
    const concerns =
      policy.permissive && commandsOf(policy).includes('update') && reaches(relation, concerned.role, 'update')
    const covered = mentionsCaller(restrictive(concerned, 'update'))
    return concerns && !covered && columns.length > 0 ? [{ ...concerned, columns: columns.join(', ') }] : []
  })

const callerText = '(?:[\\w"]+\\.[\\w"]+|current_setting)\\('

/** Whether a unique column is compared with the caller, so that the row is the caller's own. */
const isOwnRow = ({ unique }: SecuredRelation, sql: string): boolean =>
  unique.some((key) =>
    [
      `\\b${key}\\b\\)? = \\(*(?: ?SELECT )?${callerText}`,
      `${callerText}[^()]*\\)(?: AS \\w+)?\\)* = \\(*(?:\\w+\\.)?${key}\\b`,
    ].some((form) => new RegExp(form).test(sql)),
  )

/** A column of a table with one row for each user, which the user may change there. */
function isOwnFlag(relation: SecuredRelation, role: string, column: string, policy: string): boolean {
  const facts = roleFactsOf(relation, role)
  if (facts === undefined || !facts.restricted || !isOwnRow(relation, policy)) return false
  const { policies } = policyPrivileges(relation, facts)
  return (
    isOwnRow(relation, conditionOf(policies, 'update', 'old') ?? '') &&
    !relation.unique.includes(column) &&
    writableIn(relation, facts, 'update').includes(column) &&
    !new RegExp(`\\b${column}\\b`).test(conditionOf(policies, 'update', 'new') ?? '')
  )
}

export const findHoles = (facts: HoleFacts): readonly PolicyHole[] =>
  Object.entries(finders).flatMap(([hole, find]) => find(facts).map((found) => ({ hole, ...found })))
