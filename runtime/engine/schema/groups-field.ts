import { GraphQLList, type GraphQLInputType, type GraphQLOutputType } from 'graphql'
import type { EntityFacts } from '../../contract/manifest.ts'
import { scalars } from './scalars.ts'
import { field, listOf, nonNull, type Fields, type SchemaTypes } from './types.ts'

/** `groups` of a connection (spec/graphql.md 17.2), if the relation has them and a possible key. */
export function groupsField(entity: EntityFacts, types: SchemaTypes): Fields {
  const by = entity.groups === true ? (types.part(entity, 'groupBy') as GraphQLInputType | undefined) : undefined
  if (by === undefined) return {}
  const widths = types.part(entity, 'groupWidths') as GraphQLInputType | undefined
  const input = (part: 'having' | 'groupOrder'): GraphQLInputType => types.part(entity, part) as GraphQLInputType
  const groups = field(
    listOf(types.part(entity, 'grouped') as GraphQLOutputType),
    { kind: 'member', member: 'groups', pages: entity },
    'The rows that match, on all pages together, in groups of those with the same key. They are sorted by their key.',
    {
      by: {
        type: nonNull(new GraphQLList(nonNull(by))),
        description: 'What rows of a group have in common: values of fields, or the time in which they lie.',
      },
      ...(widths && {
        widths: {
          type: widths,
          description:
            'How far groups of numbers reach that are grouped by VALUE, from 0 on. Default: each its own group.',
        },
      }),
      having: { type: input('having'), description: 'Conditions that the groups must meet. Default: none.' },
      orderBy: {
        type: new GraphQLList(nonNull(input('groupOrder'))),
        description: 'What to sort the groups by, the most important first. Groups that tie are sorted by their key.',
      },
      first: {
        type: scalars.Int,
        description: `How many groups to take; at most ${entity.maxRows}, which is also the default.`,
      },
      after: { type: scalars.Cursor, description: 'Take groups that come after this cursor.' },
      offset: { type: scalars.Int, description: 'How many groups to leave out at the start. Default 0.' },
      timeZone: {
        type: scalars.String,
        description:
          'The time zone in which days and longer times begin, such as "Europe/Oslo". Default: that of the database.',
      },
    },
  )
  return { groups }
}
