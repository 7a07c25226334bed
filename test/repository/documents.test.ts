/** Root documents name files that exist, and ARCHITECTURE.md names every room. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { STATUS_NAMES } from '../../operations/status-names.js';
import { PROOF } from '../proof.js';

const { rooms } = createRequire(import.meta.url)('../../.dependency-cruiser.cjs') as { rooms: string[] };
const DOCUMENTS = ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'test/README.md'];
const MORE_DOCUMENTS = ['CHANGELOG.md', 'SECURITY.md', '.github/pull_request_template.md'];
/** Made by the build, and by a run of all tests. */
const MADE = ['dist/', 'test/last-full-run.json'];
/** Folders and files of the root that are not rooms. */
const TOP = [...rooms, 'bench', 'dist', 'docs', 'examples', 'test'].join('|');
/** A path in backticks, from the root: it begins with a folder of the root, or has no folder and a name of the root's files. */
const PATH = new RegExp(
  `\`((?:${TOP})/[\\w./-]*|[\\w.-]+\\.(?:cjs|json|md)|jest\\.config\\.js|index\\.ts)\``,
  'g',
);

const withoutBlocks = (text: string) => text.replace(/```[\s\S]*?```/g, '');

describe.each(DOCUMENTS)('%s', (document) => {
  const text = withoutBlocks(readFileSync(document, 'utf8'));

  test('every path in backticks exists', () => {
    const paths = [...text.matchAll(PATH)].map(([, path]) => path!);
    expect(paths.length).toBeGreaterThan(5);
    expect(paths.filter((path) => !MADE.includes(path) && !existsSync(path))).toEqual([]);
  });
});

test.each([...DOCUMENTS, ...MORE_DOCUMENTS])('every link of %s leads to a file', (document) => {
  const links = [...withoutBlocks(readFileSync(document, 'utf8')).matchAll(/\]\((?!https?:)([^)#]+)/g)];
  const broken = links.map(([, link]) => link!).filter((link) => !existsSync(join(dirname(document), link)));
  expect(broken).toEqual([]);
});

test('ARCHITECTURE.md has a row for every room', () => {
  const text = readFileSync('ARCHITECTURE.md', 'utf8');
  expect(rooms.filter((room) => !text.includes(`| \`${room}/\``))).toEqual([]);
});

test('test/README.md shows the promises of test/proof.ts and their files', () => {
  const [, section] = /<!-- promises[^>]*-->([\s\S]*)<!-- end of promises -->/.exec(
    readFileSync('test/README.md', 'utf8'),
  )!;
  const rows = section!.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| ---'));
  expect(rows.slice(1).map((row) => row.split('|')[1]!.trim())).toEqual(PROOF.map(({ promise }) => promise));
  expect(rows.slice(1).map((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, file]) => file))).toEqual(
    PROOF.map(({ files }) => files),
  );
});

test('the table of statuses in ARCHITECTURE.md says what the code does', () => {
  const text = readFileSync('ARCHITECTURE.md', 'utf8');
  const rows = text.split('\n').filter((line) => line.startsWith('| '));
  const statuses = Object.entries(STATUS_NAMES).filter(
    ([status]) => !['unknown', 'expired'].includes(status),
  );
  expect(statuses.length).toBeGreaterThan(5);
  for (const [status, { task, olderTask, sep1391, job, plain, twoStage }] of statuses) {
    const row = rows.find((line) => line.startsWith(`| ${status} `)) ?? `no row for ${status}`;
    const names = row.split('|').map((cell) => /^\w+/.exec(cell.trim())?.[0]);
    expect(names.slice(1, 8)).toEqual([status, task, olderTask, sep1391, job, plain, twoStage]);
  }
});
