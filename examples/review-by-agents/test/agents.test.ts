/** The parent and its children, as processes: a calm review, kills, absent children, bad input. */
import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { TestToolEnvironment } from 'longhaul/testing';
import { startTeam, type Team } from '../agents/team.js';
import { makeRepository, type Repository } from '../sample/repository.js';

const OUTPUT = 'output/test-agents';
const REVIEWERS = ['reviewer-1', 'reviewer-2', 'reviewer-3'];

let environment: TestToolEnvironment;
let repository: Repository;
let calm: string;
before(async () => {
  repository = await makeRepository(OUTPUT);
  environment = await TestToolEnvironment.create();
});
after(async () => {
  await environment?.close();
  await rm(OUTPUT, { recursive: true, force: true });
});

interface Options {
  diff?: string;
  absent?: string[];
  patienceSeconds?: number;
  onLine?: (line: string, team: Team) => void;
}

let count = 0;

async function review({ diff = repository.diff, absent, patienceSeconds = 60, onLine }: Options = {}) {
  const lines: string[] = [];
  const { folder } = repository;
  const team = startTeam(
    environment.url,
    {
      review: `test-${(count += 1)}`,
      folder,
      diff,
      maxFiles: 5,
      reviewers: REVIEWERS,
      checkAll: true,
      leaseSeconds: 6,
      patienceSeconds,
    },
    (line) => {
      lines.push(line);
      onLine?.(line, team);
    },
    absent,
  );
  return { ...(await team.finished), lines: lines.join('\n') };
}

test('three children review one aspect each, and ask the parent', async () => {
  const { code, review: text, lines } = await review();
  assert.equal(code, 0, lines);
  calm = text;
  assert.match(text, /7 error {3}',' expected. \(parse; lint, types\)/);
  assert.match(text, /errors: 6, warnings: 11, notes: 1\nlogo.png was not checked: binary\n$/);
  for (const reviewer of REVIEWERS) assert.match(lines, new RegExp(`${reviewer} asks: 7 files`));
});

test('a child and the worker are killed: the parent collects the operation, and the review is the same', async () => {
  let restart: Promise<unknown> | undefined;
  const {
    code,
    review: text,
    lines,
  } = await review({
    onLine(line, team) {
      if (!line.includes('reviewer-2 started') || restart) return;
      team.reviewers.get('reviewer-2')!.kill('SIGKILL');
      restart = environment.killWorker().then(() => environment.startWorker());
    },
  });
  await restart;
  assert.equal(code, 0, lines);
  assert.match(lines, /types: no sign of reviewer-2 for 6 s/);
  assert.match(lines, /types: collected 5 findings/);
  assert.equal(text, calm);
});

test('a child that never comes: another one takes its part', async () => {
  const { code, review: text, lines } = await review({ absent: ['reviewer-3'], patienceSeconds: 10 });
  assert.equal(code, 0, lines);
  assert.match(lines, /hygiene: nobody took it; given to another/);
  assert.equal(text, calm);
});

test('without any child the parts are reported as missing', async () => {
  const { code, review: text } = await review({ absent: REVIEWERS, patienceSeconds: 1 });
  assert.equal(code, 1);
  assert.match(text, /MISSING: nobody reviewed lint.\nMISSING: nobody reviewed types./);
});

test('a diff that can not be read is reported for each part', async () => {
  const diff = join(OUTPUT, 'prose.diff');
  await writeFile(diff, 'Looks good to me.\n');
  const { code, lines, review: text } = await review({ diff });
  assert.equal(code, 1);
  assert.match(lines, /lint: failed: .*it is no unified diff/);
  assert.match(text, /MISSING: nobody reviewed hygiene/);
});
