/** Three small repositories with code of 2014: one is ready, one leaves work to people, one doesn't build. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

type Files = Record<string, string>;

const manifest = (name: string, more: object = {}) =>
  `${JSON.stringify({ name, version: '1.0.0', private: true, scripts: { build: 'node build.js', test: 'node --test' }, ...more }, null, 2)}\n`;

const ORDERS: Files = {
  'package.json': manifest('orders-api'),
  '.gitignore': 'dist\n',
  'build.js': `const fs = require('fs');
fs.mkdirSync('dist', { recursive: true });
for (const file of fs.readdirSync('src')) fs.copyFileSync('src/' + file, 'dist/' + file);
console.log('built');
`,
  'src/token.js': `// The token of a request, as in an Authorization header.
exports.encode = (user, secret) => new Buffer(\`\${user}:\${secret}\`).toString('base64');

exports.decode = (token) => {
  const [user, secret] = new Buffer(String(token), 'base64').toString().split(':');
  return { user, secret };
};

exports.blank = () => new Buffer(16);
`,
  'src/store.js': `const fs = require('fs');

// Reads an order, or gives undefined if there is none.
exports.read = (path, done) => {
  fs.exists(path, function (exists) {
    if (!exists) return done(null, undefined);
    fs.readFile(path, 'utf8', (error, text) => done(error, text && JSON.parse(text)));
  });
};

exports.has = (path, done) => fs.exists(path, done);
`,
  'src/lines.js': `const util = require('util');

exports.lines = (order) => (util.isArray(order.lines) ? order.lines : [order.lines]);
`,
  'scripts/report.js': `const util = require('util');

module.exports = (name) => {
  if (!util.isString(name)) throw new TypeError('expected a name');
  return 'Report of ' + name;
};
`,
  'test/orders.test.js': `const assert = require('node:assert');
const { test } = require('node:test');
const { join } = require('node:path');
const { decode, encode, blank } = require('../src/token.js');
const { has, read } = require('../src/store.js');
const { lines } = require('../src/lines.js');

test('tokens', () => {
  assert.deepStrictEqual(decode(encode('ada', 's3cret')), { user: 'ada', secret: 's3cret' });
  assert.strictEqual(blank().length, 16);
});
test('an order that is not there', (_, done) => read('/not/there.json', (error, order) => done(error || order)));
test('a file that is there', (_, done) => has(join(__dirname, '../package.json'), (is) => done(is ? null : new Error())));
test('lines', () => assert.deepStrictEqual([lines({ lines: 1 }), lines({ lines: [2] })], [[1], [2]]));
`,
};

const FEEDS: Files = {
  'package.json': manifest('feed-reader', { type: 'module', scripts: { test: 'node --test' } }),
  'src/feed.js': `import url from 'url';

/** Host of a feed's address. */
export const hostOf = (address) => url.parse(address).host;

/** @param {string} text */
export const digest = (text) => new Buffer(text).toString('hex').slice(0, 8);

/** Bytes of anything that a caller has. */
export const bytesOf = (content) => new Buffer(content);
`,
  'src/cache.js': `import fs from 'node:fs';

export const isCached = (path) => new Promise((resolve) => fs.exists(path, resolve));
`,
  'test/feed.test.js': `import assert from 'node:assert';
import { test } from 'node:test';
import { isCached } from '../src/cache.js';
import { bytesOf, digest, hostOf } from '../src/feed.js';

test('a feed', async () => {
  assert.strictEqual(hostOf('https://example.com/feed'), 'example.com');
  assert.strictEqual(digest('feed'), '66656564');
  assert.strictEqual(bytesOf('ab').length, 2);
  assert.strictEqual(await isCached('/not/there'), false);
});
`,
};

const BILLING: Files = {
  'package.json': manifest('legacy-billing'),
  'build.js': `const rates = require('./config/rates.json');
console.log(rates);
`,
  'src/invoice.js': `module.exports = (text) => new Buffer(String(text));
`,
};

/** Makes the repositories in an empty folder. @returns their paths */
export function makeRepositories(folder: string): string[] {
  rmSync(folder, { recursive: true, force: true });
  const paths = Object.entries({ 'orders-api': ORDERS, 'feed-reader': FEEDS, 'legacy-billing': BILLING }).map(
    ([name, files]) => makeRepository(join(folder, name), files),
  );
  // Uncommitted work.
  writeFileSync(join(folder, 'feed-reader', 'NOTES.md'), 'Feeds to add: ...\n');
  return paths;
}

/** A repository with one commit, by an author of its own. */
export function makeRepository(path: string, files: Files): string {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(path, file)), { recursive: true });
    writeFileSync(join(path, file), text);
  }
  const git = (...args: string[]) => execFileSync('git', ['-C', path, ...args]);
  git('init', '--quiet', '--initial-branch=main');
  git('config', 'user.name', 'Ada Example');
  git('config', 'user.email', 'ada@example.com');
  git('add', '.');
  git('-c', 'commit.gpgSign=false', 'commit', '--quiet', '--message', 'Everything so far');
  return path;
}
