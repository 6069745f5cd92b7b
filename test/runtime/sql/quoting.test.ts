import { expect, test } from 'vitest'
import { ident } from '../../../runtime/sql/ident.ts'
import { literal } from '../../../runtime/sql/tree.ts'
import { createDatabase } from '../../support/database.ts'
import { forSuite } from '../../support/for-suite.ts'

const db = forSuite(createDatabase)

test.each(['on', 'off'])(
  'each name and each constant is quoted when standard_conforming_strings is %s',
  async (setting) => {
    const odd = `a'b\\'c"d\\`
    await db.query(`set standard_conforming_strings = ${setting}`)
    const { rows, fields } = await db.query(`select ${literal(odd)} as ${ident(odd)}`)
    expect([fields[0]?.name, rows]).toEqual([odd, [{ [odd]: odd }]])
  },
)
