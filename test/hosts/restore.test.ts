import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, isRunning, kill, TestHome } from '../stack/cli-process.js';
import { linesOf, writePipelines } from '../pipelines/support.js';
import { OUTAGE_MS } from '../support/limits.js';
import { WireClient } from '../support/mcp.js';

const folder = mkdtempSync(join(tmpdir(), 'longhaul-restore-'));
const ledger = join(folder, 'ledger');
const PIPELINE = `
inputs: { properties: { ledger: { type: string } }, required: [ledger] }
outputs: { sum: work.sum }
jobs:
  work:
    artifacts: [made.txt]
    outputs: [sum]
    steps:
      - { name: make, run: 'echo made > made.txt; echo make >> "$INPUT_LEDGER"' }
      - { name: ask, approval: { message: 'Continue?' } }
      - { name: use, run: 'echo "sum=$(cat made.txt)" >> "$LONGHAUL_OUTPUT"; echo use >> "$INPUT_LEDGER"' }
  endless:
    steps:
      - { name: before, run: 'echo before >> "$INPUT_LEDGER"' }
      - name: cut off
        idempotent: true
        run: |
          echo run >> "$INPUT_LEDGER"
          if [ -e "$INPUT_LEDGER.go" ]; then exit 0; fi
          exec sleep 600
`;
const environment = {
  LONGHAUL_PIPELINE_FOLDERS: join(folder, 'pipelines'),
  LONGHAUL_SHIPPED_TOOLS: 'false',
  LONGHAUL_MAX_STEPS: '4',
};

const homes: TestHome[] = [];

async function newHome(): Promise<TestHome> {
  const home = await TestHome.create();
  homes.push(home);
  return home;
}

beforeAll(() => {
  mkdirSync(join(folder, 'pipelines'));
  writePipelines(join(folder, 'pipelines'), { restored: PIPELINE });
});
afterAll(async () => {
  for (const home of homes) await home.remove();
  rmSync(folder, { recursive: true, force: true });
});

const lines = () => linesOf(ledger).sort();

test.each(['down', 'SIGKILL'])(
  'a copy of a home, made after %s, continues with its open pipelines on another machine',
  async (end) => {
    const [original, restored] = [await newHome(), await newHome()];
    rmSync(ledger, { force: true });
    rmSync(`${ledger}.go`, { force: true });
    const up = await original.up(environment);
    const token = await new WireClient(`${original.url}/mcp`).start('restored', { ledger });
    await new WireClient(`${original.url}/mcp`).until(token, 'input_required');
    await eventually('the other job runs', () => lines().includes('run'));
    if (end === 'down') expect(await original.run(['down']).ended).toBe(0);
    else {
      kill(up.pid);
      for (const pid of Object.values(original.parts()))
        await eventually('it has ended', () => !isRunning(pid));
    }
    rmSync(restored.path, { recursive: true, force: true });
    expect(spawnSync('cp', ['-a', original.path, restored.path]).status).toBe(0);

    await restored.up(environment);
    const client = new WireClient(`${restored.url}/mcp`);
    await eventually(
      'the job that was cut off runs again',
      () => lines().filter((line) => line === 'run').length === 2,
    );
    const [key] = Object.keys((await client.until(token, 'input_required')).inputRequests) as [string];
    await client.answer(token, key, { action: 'accept', content: { approve: true } });
    await eventually('the approved step has run', () => lines().includes('use'));
    writeFileSync(`${ledger}.go`, '');
    await client.request('tasks/get', { taskId: token });
    expect(await restored.run(['down']).ended).toBe(0);
    await restored.up(environment);
    const { result } = await client.until(token, 'completed');
    expect(JSON.stringify(result)).toContain('made');
    expect(lines()).toEqual(['before', 'make', 'run', 'run', 'run', 'use']);
    expect(await restored.run(['down']).ended).toBe(0);
  },
  OUTAGE_MS,
);
