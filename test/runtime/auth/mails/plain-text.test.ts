import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { mailKinds, templateKinds } from '../../../../runtime/auth/mails/kinds.ts'
import type { MailVariables } from '../../../../runtime/auth/mails/mailer.ts'
import { plainText } from '../../../../runtime/auth/mails/plain-text.ts'
import { faultOf, parseHtml, render } from '../../../../runtime/auth/mails/template.ts'

const variables: MailVariables = {
  ConfirmationURL: "https://p.example/auth/v1/verify?token=ab12&type=signup&redirect_to=https%3A%2F%2Fapp.example'",
  Token: '012345',
  TokenHash: 'ab12',
  SiteURL: 'https://app.example',
  Email: 'a@example.com',
  NewEmail: 'b@example.com',
  RedirectTo: 'https://app.example/next?x=1',
  SendingTo: 'c@example.com',
  Data: { name: 'N' },
}
const textOf = (template: string, more: Partial<MailVariables> = {}): Promise<string> =>
  plainText(render(parseHtml(template), { ...variables, ...more }))
const link = '<a href="{{ .ConfirmationURL }}">go</a>'

describe('the text of a mail', () => {
  it.each(templateKinds)('has link, code and site of %s by default', async (kind) => {
    const text = await textOf(mailKinds[kind].html)
    for (const said of [variables.ConfirmationURL, '012345', variables.SiteURL]) expect(text).toContain(said)
    expect(text).not.toMatch(/<[a-z/]/)
  })

  it('is nothing but what is read', async () => {
    const page = `<html><head><title>T</title><style>p { color: red }</style></head><body><!-- no -->
      <table><tr><td>One</td><td>Two</td></tr></table><ul><li>${link}</li></ul><p>A&nbsp;&lt;b&gt; &amp; c</p></body></html>`
    expect(await textOf(page)).toMatch(/^One ?Two\s+\* go \(https:[^)]*\)\s+A\s<b> & c$/)
  })

  test.each([
    ['a place that is not shown', '<textarea>{{ .ConfirmationURL }}</textarea>'],
    ['a form', '<form action="{{ .ConfirmationURL }}"><button>Go</button></form>'],
    ['a title', '<p title="{{ .ConfirmationURL }}">Go</p>'],
    ['what is nested too deeply', `${'<b>'.repeat(5_000)}${link}${'</b>'.repeat(5_000)}`],
  ])('has the link also where it stands in %s', async (_place, template) => {
    expect(faultOf({ subject: 'S', html: template })).toBeNull()
    expect(await textOf(template)).toContain(variables.ConfirmationURL)
  })

  it('is read as text: nothing of what people chose ends a line or steers a terminal', async () => {
    const text = await textOf(`<p>{{ .Data.name }}</p>${link}`, { Data: { name: 'A\r\n\u001b[2J\u0007<b>\u0085' } })
    expect(text).toMatch(/^A \[2J <b>\n\ngo \(/)
    expect(text).not.toMatch(/[^\P{Cc}\n]/u)
  })

  it('has the link of every template that may be used', async () => {
    const piece = fc.constantFrom(
      ...['<p>', '</p>', '<div hidden>', '</div>', '<table><tr><td>', '</td></tr></table>', '<br>', ' x ', '<pre>'],
      ...[
        '</pre>',
        '<title>',
        '</title>',
        '<ul><li>',
        '</li></ul>',
        '<img alt="',
        '" src="',
        '">',
        '<a href="',
        '</a>',
      ],
      ...[
        '{{ .ConfirmationURL }}',
        '{{ .ConfirmationURL }}',
        '{{ .Token }}',
        '{{ .Data.name }}',
        '<!--',
        '-->',
        '&lt;',
      ],
    )
    const template = fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join(''))
    let used = 0
    await fc.assert(
      fc.asyncProperty(template, async (html) => {
        if (faultOf({ subject: 'S', html }) !== null) return
        used += 1
        expect(await textOf(html)).toContain(variables.ConfirmationURL)
      }),
      { numRuns: 2_000 },
    )
    expect(used).toBeGreaterThan(100)
  })
})
