import { describe, expect, it } from 'vitest'
import { tenantIn } from '../../../compiler/model/distributed.ts'

const claim = `((current_setting('request.jwt.claims'::text, true))::json ->> 'tenant'::text)`

describe('the tenant of a policy', () => {
  it.each([
    [`(tenant_id = (${claim})::bigint)`, 'bigint', `(${claim})::bigint`],
    [`((${claim})::bigint = tenant_id)`, 'bigint', `(${claim})::bigint`],
    [`((deleted IS NULL) AND (tenant_id = (${claim})::bigint))`, 'bigint', `(${claim})::bigint`],
    [`(tenant_id = ${claim})`, 'text', claim],
    ['(tenant_id = auth.uid())', 'uuid', 'auth.uid()'],
  ])('is found in %s', (condition, type, expression) => {
    expect(tenantIn(condition, 'tenant_id', type)).toBe(expression)
  })

  it.each([
    ['another column', `(owner_id = (${claim})::bigint)`],
    ['another type', `(tenant_id = (${claim})::integer)`],
    ['one of two conditions', `((tenant_id = (${claim})::bigint) OR shared)`],
    ['another comparison', `(tenant_id >= (${claim})::bigint)`],
    ['a column', '(tenant_id = (project_id)::bigint)'],
    ['a function of the owner', '(tenant_id = (current_tenant())::bigint)'],
    ['a setting of the session', `(tenant_id = (current_setting('app.tenant'::text))::bigint)`],
    ['a sub-select', '(tenant_id = (( SELECT m.tenant_id FROM member m))::bigint)'],
    ['a constant that looks like it', `(name = ' AND (tenant_id = 1::bigint)'::text)`],
    ['nothing', ''],
  ])('is not found in %s', (_, condition) => {
    expect(tenantIn(condition, 'tenant_id', 'bigint')).toBeNull()
  })
})
