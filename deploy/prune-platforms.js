/**
 * Removes native programs of other platforms from node_modules, for the image: Temporal's SDK brings those of five.
 *
 * Usage: node deploy/prune-platforms.js amd64|arm64
 */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const RELEASES = 'node_modules/@temporalio/core-bridge/releases';
const TARGETS = { amd64: 'x86_64-unknown-linux-gnu', arm64: 'aarch64-unknown-linux-gnu' };

const target = TARGETS[process.argv[2]];
if (!target)
  throw new Error(`expected one of ${Object.keys(TARGETS).join(', ')}; got ${process.argv[2] ?? 'nothing'}`);
const found = readdirSync(RELEASES);
if (!found.includes(target)) throw new Error(`${RELEASES}: expected ${target}; got ${found.join(', ')}`);
for (const name of found) if (name !== target) rmSync(join(RELEASES, name), { recursive: true });
