import fc from 'fast-check'
import { parse } from 'node:querystring'
import { describe, expect, it, test } from 'vitest'
import { mailKinds, templateKinds } from '../../../../runtime/auth/mails/kinds.ts'
import type { MailVariables } from '../../../../runtime/auth/mails/mailer.ts'
import { faultOf, parseHtml, parseSubject, render, renderSubject } from '../../../../runtime/auth/mails/template.ts'

const variables: MailVariables = {
  ConfirmationURL: 'https://p.example/auth/v1/verify?token=ab&type=signup&redirect_to=https%3A%2F%2Fapp.example',
  Token: '012345',
  TokenHash: 'ab',
  SiteURL: 'https://app.example',
  Email: 'a@example.com',
  NewEmail: 'b@example.com',
  RedirectTo: 'https://app.example/next?x=1',
  SendingTo: 'c@example.com',
  Data: { name: 'N', deep: { n: 5 }, link: 'https://other.example' },
}
const html = (source: string, more: Partial<MailVariables> = {}): string =>
  render(parseHtml(source), { ...variables, ...more })
const link = '<a href="{{ .ConfirmationURL }}">go</a>'
const fault = (source: string, subject = 'S'): string | null => faultOf({ subject, html: source })

describe('a template', () => {
  it('facts 45, 46: fills every variable, however it is spaced', () => {
    expect(
      html(
        '{{.Token}} {{ .Token}} {{   .TokenHash\n}} {{ .SiteURL }} {{ .Email }} {{ .NewEmail }} {{ .SendingTo }} {{ .Data.name }}{{ .Data.deep.n }}{{ .Data.none.x }}{{/* no */}}',
      ),
    ).toBe('012345 012345 ab https://app.example a@example.com b@example.com c@example.com N5')
    expect(html(link)).toBe(`<a href="${variables.ConfirmationURL.replaceAll('&', '&amp;')}">go</a>`)
    expect(html('<a href="https://x.example/?to={{ .RedirectTo }}">')).toBe(
      '<a href="https://x.example/?to=https%3A%2F%2Fapp.example%2Fnext%3Fx%3D1">',
    )
  })

  test.each([
    ['<p>{{ .Token }}</p>', /ConfirmationURL \}\} is missing/],
    ['<!-- {{ .ConfirmationURL }} -->', /is missing/],
    ['{{/* {{ .ConfirmationURL }} */}}', /./],
    ['{{ if false }}{{ .ConfirmationURL }}{{ end }}', /is not a variable/],
    [`${link}{{ .Nothing }}`, /is not a variable/],
    [`${link}{{ .Data }}`, /needs a key/],
    [`${link}{{ .Token.x }}`, /has no keys/],
    [`${link}{{ .Data.constructor`, /has no \}\}/],
    [`${link}{{ printf "%s" .Token }}`, /is not a variable/],
    [`${link}{{ template "x" }}`, /is not a variable/],
    [`${link}<script>{{ .Data.name }}</script>`, /where no variable may/],
    [`${link}<style>{{ .Data.name }}</style>`, /where no variable may/],
    [`${link}<p onclick="{{ .Data.name }}">`, /where no variable may/],
    [`${link}<p style="{{ .Data.name }}">`, /where no variable may/],
    [`${link}<p {{ .Data.name }}>`, /where no variable may/],
    [`${link}<{{ .Data.name }}>`, /where no variable may/],
    [`${link}</{{ .Data.name }}>`, /where no variable may/],
    [`${link}<!{{ .Data.name }}>`, /where no variable may/],
    [`${link}<scr{{/**/}}ipt>{{ .Data.name }}`, /where no variable may/],
    [`${link}<title></{{ .Data.name }}>`, /where no variable may/],
    [`${link}<a href={{ .Data.link }}>`, /where no variable may/],
    [`${link}<a href="javascript:{{ .Data.link }}">`, /^\{\{ \.Data\.link \}\} stands where no variable may/],
    [`${link}<p title="`, /ends within/],
  ])('facts 44, attack 28: is refused: %s', (source, problem) => {
    expect(fault(source)).toMatch(problem)
  })

  it('of a subject is one line, as it is written', () => {
    const subject = renderSubject(parseSubject('Hi {{ .Data.name }} & co'), {
      ...variables,
      Data: { name: 'A<b>\r\nBcc: x@y.z\u2028\0' },
    })
    expect(subject).toBe('Hi A<b> Bcc: x@y.z  & co')
    expect([fault(link, '  '), fault(link, '{{ .X }}')]).toEqual([expect.any(String), expect.any(String)])
  })

  it.each(templateKinds)('facts 36, 48: of %s is good by default', (kind) => {
    expect(faultOf(mailKinds[kind])).toBeNull()
    const made = html(mailKinds[kind].html)
    expect(made.match(/<a href="https:\/\/p\.example[^"]*"/g)).toHaveLength(2)
    expect(made).toContain('012345')
    expect(made).toContain('https://app.example</a>')
  })
})

const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc
    .array(
      fc.constantFrom(
        '<',
        '>',
        '"',
        "'",
        '&',
        '-->',
        '--!>',
        '</p>',
        '<script>',
        ' onload=x',
        'javascript:',
        '\r\n',
        '{{ .Token }}',
        '#',
        '?',
        '%',
      ),
      { maxLength: 8 },
    )
    .map((parts) => parts.join('')),
)

describe('whatever the data holds', () => {
  it('attack 27: it stays text: no markup, no attribute and no scheme comes of it', () => {
    fc.assert(
      fc.property(hostile, (name) => {
        const data = { Data: { name }, Email: name }
        const made = html(
          '<p title="{{ .Data.name }}">{{ .Email }}</p><!-- {{ .Data.name }} --><a href="{{ .Data.name }}">',
          data,
        )
        const parts = /^<p title="([^"<>]*)">([^<>]*)<\/p><!-- ([^<>]*) --><a href="([^"<>]*)">$/.exec(made)
        expect(parts).not.toBeNull()
        expect(parts?.[3]).not.toContain('-')
        expect(parts?.[4]).toMatch(/^(#|https?:\/\/.*)$/i)
        expect(made).not.toContain('012345')
      }),
    )
  })

  it('attack 27: it is one value of the query that it was put into', () => {
    fc.assert(
      fc.property(hostile, (name) => {
        const made = html('<a href="https://x.example/?a={{ .Data.name }}&amp;b=1">', { Data: { name } })
        const query = /\?(.*)">$/s.exec(made)?.[1]?.replaceAll('&#39;', "'").replaceAll('&amp;', '&') ?? ''
        expect({ ...parse(query) }).toEqual({ a: name, b: '1' })
      }),
    )
  })

  it('the subjects have no control characters', () => {
    fc.assert(
      fc.property(hostile, (name) => {
        expect(renderSubject(parseSubject('{{ .Data.name }}'), { ...variables, Data: { name } })).not.toMatch(
          /[\p{Cc}\u2028\u2029]/u,
        )
      }),
    )
  })
})

describe('whatever is saved', () => {
  const bits = fc.constantFrom(
    '{{',
    '}}',
    '{{ .Token }}',
    link,
    '<',
    '>',
    '"',
    "'",
    '<!--',
    '-->',
    '<a href="',
    '<script>',
    '</script>',
    ' x=',
    '/',
    'text',
    '{{ .Data.a }}',
    "<p title='",
  )
  it('attack 28: is refused with a sentence, or renders data as data', () => {
    fc.assert(
      fc.property(fc.array(bits, { maxLength: 14 }), (parts) => {
        const source = parts.join('')
        const problem = fault(source)
        if (problem !== null) {
          expect(problem.length).toBeGreaterThan(0)
          return
        }
        const evil = html(source, { Data: { a: '"\'><img src=x>' } })
        expect(evil).not.toContain('<img')
      }),
    )
  })

  /** All that makes markup of text. */
  const markup = (text: string): string => text.replace(/[^<>"']/g, '')
  const place = fc.constantFrom('{{ .Data.a }}', '{{ .Email }}', '{{ .NewEmail }}', '{{ .SendingTo }}')
  const around = fc.constantFrom(
    (value: string) => value,
    (value: string) => `<p title="${value}">`,
    (value: string) => `<a href='${value}'>`,
    (value: string) => `<a href="https://x.example/${value}?q=${value}#${value}">`,
    (value: string) => `<!-- ${value} -->`,
    (value: string) => `<title>${value}</title>`,
    (value: string) => `<img alt="${value}" src="${value}">`,
    (value: string) => `<p>${value}<`,
  )
  const written = fc.oneof(
    bits,
    fc.tuple(around, place).map(([put, variable]) => put(variable)),
  )

  it('attack 27: has the markup of its template and no other, whatever the values are', () => {
    fc.assert(
      fc.property(fc.array(written, { maxLength: 10 }), hostile, (parts, value) => {
        const source = parts.join('') + link
        fc.pre(fault(source) === null)
        const [evil, plain] = [value, 'x'].map((text) =>
          html(source, { Data: { a: text }, Email: text, NewEmail: text, SendingTo: text }),
        )
        expect(markup(evil ?? '')).toBe(markup(plain ?? ''))
        expect(evil).toContain(variables.ConfirmationURL.replaceAll('&', '&amp;'))
      }),
      { numRuns: 1000 },
    )
  })

  it('attack 27: leads nowhere that a browser would run, whatever the values are', () => {
    fc.assert(
      fc.property(around, place, hostile, (put, variable, text) => {
        const evil = html(put(variable) + link, { Data: { a: text }, Email: text, NewEmail: text, SendingTo: text })
        expect(evil).not.toMatch(/(href|src)=["']\s*(javascript|data|vbscript):/i)
      }),
      { numRuns: 500 },
    )
  })
})
