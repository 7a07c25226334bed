/** Formats as ordinary authors write them with zod, and JSON Schema's own, on good, bad and hostile values. */
import { format as libraryFormats } from '@cfworker/json-schema';
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineTool } from '../../index.js';
import { check } from '../../operations/tool/schema.js';

const HOST_253 = `${['a', 'b', 'c'].map((letter) => letter.repeat(63)).join('.')}.${'d'.repeat(61)}`;

test.each<[string, z.ZodType, string[], string[]]>([
  ['email', z.email(), ['ada@example.org', "o'neil+x@a-b.co"], ['.a@b.cd', 'a..b@c.de', 'a@b', 'a b@c.de']],
  [
    'html5 email',
    z.email({ pattern: z.regexes.html5Email }),
    ['ada@example.org'],
    ['@example.org', 'a@-b.de'],
  ],
  [
    'uuid',
    z.uuid(),
    ['3f2504e0-4f89-41d3-9a0c-0305e82c3301'],
    ['3f2504e0-4f89-91d3-9a0c-0305e82c3301', '3f2504e04f8941d39a0c0305e82c3301'],
  ],
  ['uuidv7', z.uuidv7(), ['01890a5d-ac96-774b-bcce-b302099a8057'], ['3f2504e0-4f89-41d3-9a0c-0305e82c3301']],
  ['guid', z.guid(), ['3f2504e0-4f89-91d3-0a0c-0305e82c3301'], ['3f2504e0']],
  ['url', z.url(), ['https://example.org/a?b#c', 'mailto:a@b.de'], ['example.org', 'http://a b']],
  ['hostname', z.hostname(), ['example.org', 'localhost', HOST_253], ['-a.de', 'a_b.de', `${HOST_253}d`, '']],
  ['base64', z.base64(), ['', 'aGk=', 'aGlo'], ['aGk', 'a*==']],
  ['base64url', z.base64url(), ['aGk', 'a-_o'], ['aGk=', 'a+/o']],
  ['hex', z.hex(), ['00fF'], ['0x1']],
  ['nanoid', z.nanoid(), ['V1StGXR8_Z5jdHi6B-myT'], ['short']],
  ['cuid', z.cuid(), ['cjld2cjxh0000qzrmn831i7rn'], ['xjld2cjxh0000qzrmn831i7rn']],
  ['cuid2', z.cuid2(), ['tz4a98xxat96iws9zmbrgj3a'], ['tz4a-8xx']],
  ['ulid', z.ulid(), ['01ARZ3NDEKTSV4RRFFQ69G5FAV'], ['01ARZ3NDEKTSV4RRFFQ69G5FAI']],
  ['xid', z.xid(), ['9m4e2mr0ui3e8a215n4g'], ['9m4e2mr0ui3e8a215n4z']],
  ['ksuid', z.ksuid(), ['0ujtsYcgvSTl8PAuAdqWYSMnLOv'], ['0ujtsYcgvSTl8PAuAdqWYSMnLO']],
  ['ipv4', z.ipv4(), ['192.0.2.1'], ['256.0.0.1', '1.2.3']],
  ['ipv6', z.ipv6(), ['2001:db8::1', '::'], ['2001:db8::1::2', '12345::']],
  ['mac', z.mac(), ['00:1A:2B:3C:4D:5E'], ['00:1A:2B:3C:4D', '00:1a:2B:3C:4D:5E']],
  ['cidrv4', z.cidrv4(), ['192.0.2.0/24'], ['192.0.2.0/33']],
  ['cidrv6', z.cidrv6(), ['2001:db8::/32'], ['2001:db8::/129']],
  ['e164', z.e164(), ['+4915112345678'], ['015112345678', '+0123456']],
  ['date', z.iso.date(), ['2024-02-29'], ['2023-02-29', '2024-2-9']],
  ['time', z.iso.time(), ['23:59', '12:00:00.5'], ['24:00', '12']],
  [
    'datetime',
    z.iso.datetime(),
    ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.123Z'],
    ['2026-01-31T12:00:00+01:00', '2026-02-30T12:00:00Z', '2026-01-31'],
  ],
  [
    'datetime with offset',
    z.iso.datetime({ offset: true }),
    ['2026-01-31T12:00:00+01:00'],
    ['2026-01-31T12:00:00'],
  ],
  ['local datetime', z.iso.datetime({ local: true }), ['2026-01-31T12:00:00'], ['2026-01-31 12:00:00']],
  ['duration', z.iso.duration(), ['P1Y2M3DT4H5M6S', 'P3W', 'PT36H'], ['P', 'PT', 'P1DT', '1D', 'P1W2D']],
  ['sha256', z.hash('sha256'), ['0'.repeat(64)], ['0'.repeat(63)]],
  ['starts', z.string().startsWith('a.b/'), ['a.b/c'], ['axb/c']],
  ['ends', z.string().endsWith('$x'), ['a$x'], ['ax']],
  ['includes', z.string().includes('a[b'), ['-a[b-'], ['ab']],
  ['lowercase', z.string().lowercase(), ['é1'], ['aB']],
  [
    'template',
    z.templateLiteral(['v', z.number(), z.enum(['-rc', ''])]),
    ['v1.5-rc', 'v2'],
    ['1', 'v1-beta'],
  ],
])('zod: %s', (name, format, good, bad) => {
  const { inputSchema } = defineTool({
    name: 'formatted',
    description: { does: 'Takes a text.' },
    input: z.object({ text: format }),
    estimate: { seconds: 1 },
  });
  const accepts = (text: string) => check(inputSchema, { text }, name).length === 0;
  expect(good.filter((text) => !accepts(text))).toEqual([]);
  expect(bad.filter(accepts)).toEqual([]);
  // The table itself is right: zod agrees.
  expect(good.filter((text) => !format.safeParse(text).success)).toEqual([]);
  expect(bad.filter((text) => format.safeParse(text).success)).toEqual([]);
});

test("zod's e-mail pattern of versions before 4.6 counts as the format", () => {
  const pattern = String.raw`^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$`;
  const schema = { type: 'string', pattern };
  expect(check(schema, 'ada@example.org', '')).toEqual([]);
  for (const bad of ['.ada@example.org', 'ada..x@example.org', 'ada.@example.org'])
    expect(check(schema, bad, '')).toHaveLength(1);
});

describe("JSON Schema's formats", () => {
  test('url takes what the library takes', () => {
    const hosts = [
      ...'example.org a-b.example.org:8080/x?y#z 8.8.8.8/ 10.0.0.1 127.0.0.1 192.168.1.1 172.16.0.1'.split(
        ' ',
      ),
      ...'169.254.1.1 a a--b.de -a.de a-.de ä.de a.d @a.de a@b@c.de/x@y a.de:1 a.de:123456'.split(' '),
      ...'a..de 224.1.1.1 1.2.3.255 é.éé'.split(' '),
      ...['a b.de', 'a.de/ x', 'a.de\n'],
    ];
    const others = ['https://example.org', 'ftp://user:pw@example.org/', 'HTTP://A.DE', 'x://a.de', ''];
    const texts = [...hosts.map((host) => `http://${host}`), ...others];
    const differing = texts.filter(
      (text) => libraryFormats['url']!(text) !== (check({ format: 'url' }, text, '').length === 0),
    );
    expect(differing).toEqual([]);
  });

  const long = (part: string) => part.repeat(Math.floor((128 * 1024) / part.length));
  test.each(Object.keys(libraryFormats))('%s comes to an end with hostile texts', (format) => {
    const parts = 'a a. a- 1. 0: : a@ @b.co/ %41 /a {a, {a. ~0 1Y T ( \\Z'.split(' ');
    for (const before of ['', 'x:', 'http://', 'x://', 'a@', '"', '#/', '/', 'P', '10:10:10.'])
      for (const part of parts) check({ format }, `${before}${long(part)} `, '');
  });

  test('a format that nobody knows says nothing about the text', () => {
    expect(check({ format: 'constructor' }, 'x', '')).toEqual([]);
    expect(check({ format: 'nonesuch' }, 'x', '')).toEqual([]);
  });
});
