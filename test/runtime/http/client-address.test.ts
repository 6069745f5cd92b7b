import type { FastifyRequest } from 'fastify'
import { describe, expect, it, test } from 'vitest'
import { clientAddress, createSourceOf, limitSource } from '../../../runtime/http/request-context.ts'

const request = (headers: Record<string, string | string[]>, remoteAddress = '10.0.0.1'): FastifyRequest =>
  ({ headers, socket: { remoteAddress } }) as unknown as FastifyRequest

describe('the address of a client', () => {
  test.each([
    [null, {}, '10.0.0.1'],
    [null, { 'x-forwarded-for': '1.2.3.4', 'x-real-ip': '1.2.3.4' }, '10.0.0.1'],
    ['x-real-ip', { 'x-real-ip': '1.2.3.4' }, '1.2.3.4'],
    ['x-real-ip', { 'x-forwarded-for': '1.2.3.4' }, '10.0.0.1'],
    ['x-forwarded-for', { 'x-forwarded-for': '6.6.6.6, 1.2.3.4' }, '1.2.3.4'],
    ['x-forwarded-for', { 'x-forwarded-for': ['6.6.6.6', '1.2.3.4'] }, '1.2.3.4'],
    ['x-real-ip', { 'x-real-ip': 'nonsense' }, '10.0.0.1'],
    ['x-real-ip', { 'x-real-ip': '[2001:db8::1]' }, '2001:db8::1'],
    ['x-real-ip', { 'x-real-ip': '::ffff:1.2.3.4' }, '1.2.3.4'],
    ['x-real-ip', { 'x-real-ip': '::ffff:102:304' }, '1.2.3.4'],
    ['x-real-ip', { 'x-real-ip': '0:0:0:0:0:FFFF:0102:0304' }, '1.2.3.4'],
    ['x-real-ip', { 'x-real-ip': '[::ffff:a00:1]' }, '10.0.0.1'],
    ['x-real-ip', { 'x-real-ip': '2001:db8::ffff:102:304' }, '2001:db8::ffff:102:304'],
  ])('with trust in %s and %j is %s', (header, headers, expected) => {
    expect(clientAddress(request(headers), header)).toBe(expected)
  })
})

it.each([
  ['1.2.3.4', '1.2.3.4'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::9', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  [null, 'unknown'],
])('the limits count %s as %s', (address, source) => {
  expect(limitSource(address)).toBe(source)
})

it('an address is remembered for the headers that named it, and never for others', () => {
  const sourceOf = createSourceOf('x-real-ip')
  const asked = (told: string, remoteAddress: string): string => {
    const socket = { remoteAddress }
    return sourceOf({ headers: { 'x-real-ip': told }, socket, raw: { socket } } as unknown as FastifyRequest)
  }
  const told = [
    ['1.2.3.4', '10.0.0.1'],
    ['1.2.3.4', '10.0.0.2'],
    ['nonsense', '10.0.0.1'],
    ['nonsense', '10.0.0.2'],
  ]
  expect(told.map(([header = '', address = '']) => asked(header, address))).toEqual([
    '1.2.3.4',
    '1.2.3.4',
    '10.0.0.1',
    '10.0.0.2',
  ])
})
