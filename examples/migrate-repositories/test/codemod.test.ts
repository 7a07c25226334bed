/** The codemod, on text that it changes and text that it leaves alone. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { CodemodOrder, CodemodResult } from '../codemod/main.js';
import { temporaryFolder } from './support.js';

const BEFORE = `const fs = require('fs');
const util = require('util');
const url = require('url');
const { exists } = require('fs');
const bytes = [new Buffer('abc', 'utf8'), new Buffer(10), Buffer([1, 2]), new Buffer(Buffer.alloc(1))];
function unknown(x) { return [new Buffer(x), new Buffer(x, 'hex')]; }
function nested(x) {
  if (!util.isString(x) && util.isArray(x.y || x.z)) return util.isObject(x) + util.isNull(x.a || x.b);
  return new Buffer(util.isString(x) ? x : 'no');
}
fs.exists('/a', (there) => nested(there));
fs.exists('/a', function (there) {
  if (there) fs.exists('/b', (other) => { nested(other); });
});
fs.exists('/a', nested);
fs.exists('/a', (there) => { there = 1; nested(there); });
exists('/a', nested);
util.promisify(fs.exists);
url.parse('http://x');
{ class Buffer {} new Buffer(5); }
`;

const AFTER = `const fs = require('fs');
const util = require('util');
const url = require('url');
const { exists } = require('fs');
const bytes = [Buffer.from('abc', 'utf8'), Buffer.alloc(10), Buffer.from([1, 2]), Buffer.from(Buffer.alloc(1))];
function unknown(x) { return [new Buffer(x), Buffer.from(x, 'hex')]; }
function nested(x) {
  if (typeof x !== 'string' && Array.isArray(x.y || x.z)) return (x !== null && typeof x === 'object') + ((x.a || x.b) === null);
  return Buffer.from(typeof x === 'string' ? x : 'no');
}
fs.access('/a', (error) => { const there = !error; return nested(there); });
fs.access('/a', function (error) {
  const there = !error;
  if (there) fs.access('/b', (error) => { const other = !error; nested(other); });
});
fs.access('/a', (error) => nested(!error));
fs.exists('/a', (there) => { there = 1; nested(there); });
exists('/a', nested);
util.promisify(fs.exists);
url.parse('http://x');
{ class Buffer {} new Buffer(5); }
`;

const MODULE = `import * as util from 'node:util';
import { Buffer as Bytes } from 'node:buffer';

export const a = (v: string | number, w: string | Uint8Array) => [new Bytes(v as string), new Bytes(v), new Bytes(w)];
export const b = (v: unknown) => util.isFunction(v) && util.isUndefined(v);
`;

const MODULE_AFTER = `import { Buffer as Bytes } from 'node:buffer';

export const a = (v: string | number, w: string | Uint8Array) => [Bytes.from(v as string), new Bytes(v), Bytes.from(w)];
export const b = (v: unknown) => typeof v === 'function' && v === undefined;
`;

test('replaces calls that are sure to mean the same, and reports the others', () => {
  const folder = temporaryFolder();
  try {
    writeFileSync(join(folder, 'a.js'), BEFORE);
    writeFileSync(join(folder, 'b.ts'), MODULE);
    const order: CodemodOrder = { folder, files: ['a.js', 'b.ts'], result: join(folder, 'result.json') };
    writeFileSync(join(folder, 'order.json'), JSON.stringify(order));
    execFileSync(process.execPath, ['codemod/run.js', join(folder, 'order.json')]);
    assert.equal(readFileSync(join(folder, 'a.js'), 'utf8'), AFTER);
    assert.equal(readFileSync(join(folder, 'b.ts'), 'utf8'), MODULE_AFTER);
    const { left } = JSON.parse(readFileSync(order.result, 'utf8')) as CodemodResult;
    assert.deepEqual(
      left.map((place) => place.split(':').slice(0, 2).join(':')),
      ['a.js:6', 'a.js:16', 'a.js:17', 'a.js:18', 'a.js:19', 'b.ts:4'],
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
