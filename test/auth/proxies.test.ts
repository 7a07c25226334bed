/** The client's address behind proxies: their headers count only if the connection comes from one that is trusted. */
import { Hono } from 'hono';
import { describe, expect, test } from '@jest/globals';
import { behindProxies, clientAddress, clientOf, networkOf } from '../../platform/http/client-address.js';
import { loadSettings } from '../../platform/settings/index.js';

const TRUSTED = ['10.0.0.0/8', '192.0.2.7', '2001:db8:1::/48'];

async function clientSeen(peer: string, headers: Record<string, string>, trusted = TRUSTED, isTls = false) {
  const app = new Hono();
  app.use(behindProxies(trusted));
  app.get('/', (c) => c.json({ ...clientOf(c), same: clientAddress(c) }));
  const socket = { remoteAddress: peer, ...(isTls ? { encrypted: true } : {}) };
  const response = await app.request(
    '/',
    { headers: { host: 'inner:7411', ...headers } },
    { incoming: { socket } },
  );
  const { same, ...client } = (await response.json()) as { same: string; address: string };
  expect(same).toBe(client.address);
  return client;
}

const addressSeen = async (...args: Parameters<typeof clientSeen>) => (await clientSeen(...args)).address;

describe('headers of a proxy that is not trusted are ignored', () => {
  const headers = {
    forwarded: 'for=203.0.113.9;proto=https;host=evil.example',
    'x-forwarded-for': '203.0.113.9',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'evil.example',
  };
  test.each([
    ['by default', '127.0.0.1', []],
    ['from another address', '198.51.100.1', TRUSTED],
    ['from another IPv6 network', '2001:db8:2::1', TRUSTED],
  ])('%s', async (_what, peer, trusted) => {
    expect(await clientSeen(peer, headers, trusted)).toEqual({
      address: peer,
      protocol: 'http',
      host: 'inner:7411',
    });
  });
});

test.each<[string, string, Record<string, string>, string]>([
  ['one hop', '10.1.1.1', { 'x-forwarded-for': '203.0.113.9' }, '203.0.113.9'],
  ['over IPv6', '::ffff:10.1.1.1', { 'x-forwarded-for': '::ffff:203.0.113.9' }, '203.0.113.9'],
  [
    'the rightmost one that is no proxy',
    '10.1.1.1',
    { 'x-forwarded-for': '1.2.3.4, 203.0.113.9, 10.2.2.2' },
    '203.0.113.9',
  ],
  ['only proxies', '10.1.1.1', { 'x-forwarded-for': '10.3.3.3, 10.2.2.2' }, '10.3.3.3'],
  ['with a port', '192.0.2.7', { 'x-forwarded-for': '203.0.113.9:4711' }, '203.0.113.9'],
  ['no address', '10.1.1.1', { 'x-forwarded-for': 'unknown' }, '10.1.1.1'],
  ['text before a proxy', '10.1.1.1', { 'x-forwarded-for': '1.2.3.4, nonsense, 10.2.2.2' }, '10.2.2.2'],
  ['an empty header', '10.1.1.1', { 'x-forwarded-for': '' }, '10.1.1.1'],
  [
    'RFC 7239',
    '2001:db8:1::1',
    { forwarded: 'for=1.2.3.4, For="[2001:db8::17]:4711";proto=https' },
    '2001:db8::17',
  ],
  ['RFC 7239, a hidden client', '10.1.1.1', { forwarded: 'for=_hidden, for=10.2.2.2' }, '10.2.2.2'],
  ['RFC 7239, quotes', '10.1.1.1', { forwarded: 'for="1.2.3.4, for=9.9.9.9"' }, '10.1.1.1'],
  [
    'both, the same',
    '10.1.1.1',
    { forwarded: 'for=203.0.113.9', 'x-forwarded-for': '203.0.113.9' },
    '203.0.113.9',
  ],
  // A client can send the header that its proxy doesn't know.
  ['both, another', '10.1.1.1', { forwarded: 'for=1.2.3.4', 'x-forwarded-for': '203.0.113.9' }, '10.1.1.1'],
])('the address of a trusted proxy: %s', async (_what, peer, headers, address) => {
  expect(await addressSeen(peer, headers)).toBe(address);
});

test('scheme and host are those that the client called', async () => {
  const usual = {
    'x-forwarded-for': '203.0.113.9',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'jobs.example:8443',
  };
  const seen = { address: '203.0.113.9', protocol: 'https', host: 'jobs.example:8443' };
  expect(await clientSeen('10.1.1.1', usual)).toEqual(seen);
  const standard = {
    forwarded: 'for=203.0.113.9;proto=https;host="jobs.example:8443", for=10.2.2.2;proto=http;host=inner',
  };
  expect(await clientSeen('10.1.1.1', standard)).toEqual(seen);
  expect(await clientSeen('10.1.1.1', { 'x-forwarded-proto': 'https' })).toEqual({
    address: '10.1.1.1',
    protocol: 'https',
    host: 'inner:7411',
  });
  const odd = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'gopher', 'x-forwarded-host': 'a/b' };
  expect(await clientSeen('10.1.1.1', odd, TRUSTED, true)).toEqual({
    address: '203.0.113.9',
    protocol: 'https',
    host: 'inner:7411',
  });
});

test.each([
  ['203.0.113.9', '203.0.113.9'],
  ['::ffff:203.0.113.9', '203.0.113.9'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:0001:2::', '2001:db8:1:2::/64'],
  ['2001:db8::3:4:5:6', '2001:db8:0:0::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['', ''],
])('the network of %s is %s', (address, network) => expect(networkOf(address)).toBe(network));

test('entries that are no addresses are refused', async () => {
  const load = (trustedProxies: string) => loadSettings({ trustedProxies }, {}, '/');
  expect((await load('10.0.0.0/8,::1,2001:db8::/32')).trustedProxies).toEqual([
    '10.0.0.0/8',
    '::1',
    '2001:db8::/32',
  ]);
  for (const bad of ['proxy.example', '10.0.0.0/33', '10.0.0.0/', '::/129', '10.0.0.0/8/8', '10.0.0.1 '])
    await expect(load(bad)).rejects.toThrow(/^--trusted-proxies: expected addresses or networks/);
});
