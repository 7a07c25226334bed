import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { CLIENTS } from './clients.js';
import { pinnedVersion } from './environments.js';

test("docs/clients.md has each client's pinned version, its revisions, and how it was driven", () => {
  const lines = readFileSync('docs/clients.md', 'utf8').replaceAll(/ +/g, ' ').split('\n');
  const heading = lines.indexOf('| client | version | revision | how |');
  const rows = lines.slice(heading + 2);
  expect(rows.slice(0, rows.indexOf(''))).toEqual(
    CLIENTS.map(({ name, packages, environment, protocol, ways }) => {
      const versions = packages.map((one) => `${one} ${pinnedVersion(environment, one)}`).join(', ');
      return `| ${name} | ${versions} | ${protocol} | ${[...new Set(ways)].join(', ')} |`;
    }),
  );
});
