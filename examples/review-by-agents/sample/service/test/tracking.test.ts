import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stateOf } from '../src/tracking.ts';

test('the latest scan counts', () => {
  const scans = [
    { at: '2026-11-02T10:00:00Z', place: 'Bern', state: 'delivered' as const },
    { at: '2026-11-01T10:00:00Z', place: 'Basel', state: 'in_transit' as const },
  ];
  assert.equal(stateOf(scans), 'delivered');
  assert.equal(stateOf([]), 'registered');
});
