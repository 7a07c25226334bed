import { mkdirSync, readlinkSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { eventually, kill, readText, TestHome } from '../stack/cli-process.js';
import { OUTAGE_MS } from '../support/limits.js';
import { installNodeVersions } from './install.js';

jest.setTimeout(OUTAGE_MS);

const PIPELINE = `
name: three_steps
inputs: { properties: { ledger: { type: string } }, required: [ledger] }
jobs:
  work:
    steps:
      - { name: One, run: 'echo one >> "$INPUT_LEDGER"' }
      - name: Two
        run: |
          echo two >> "$INPUT_LEDGER"
          while [ ! -e "$INPUT_LEDGER.continue" ]; do sleep 0.1; done
      - { name: Three, run: 'echo three >> "$INPUT_LEDGER"; test -e "$INPUT_LEDGER.fixed"' }
`;

let nodes: Awaited<ReturnType<typeof installNodeVersions>>;
let home: TestHome | undefined;
beforeAll(async () => {
  nodes = await installNodeVersions();
}, OUTAGE_MS);
afterEach(async () => {
  await home?.remove();
  home = undefined;
});

test.each(['22', '24'] as const)(
  'the stack starts on Node %s, serves a call through kills of server and worker, and resumes a failed pipeline',
  async (version) => {
    home = await TestHome.create({ node: nodes[version] });
    const folder = join(home.path, 'pipelines');
    mkdirSync(folder);
    writeFileSync(join(folder, 'three-steps.yml'), PIPELINE);
    await home.up({ LONGHAUL_PIPELINE_FOLDERS: folder });
    for (const pid of [home.parts().server, home.parts().worker])
      expect(realpathSync(readlinkSync(`/proc/${pid}/exe`))).toBe(realpathSync(nodes[version]));

    const ledger = join(home.path, 'ledger');
    const lines = () => readText(ledger).trim().split('\n');
    const token = await output(home, ['call', 'three_steps', '--ledger', ledger, '--detach']);
    await eventually('the second step runs', () => lines().includes('two'));
    const { server, worker } = home.parts();
    kill(server);
    kill(worker);
    await eventually('there is another worker', () => ![undefined, worker].includes(home!.state().workerPid));
    await eventually('a call would work', () => home!.isReady());
    writeFileSync(`${ledger}.continue`, '');
    const watched = home.run(['watch', token]);
    expect(await watched.ended).not.toBe(0);
    expect(watched.stderr()).toContain('step "Three" failed');

    writeFileSync(`${ledger}.fixed`, '');
    const resumed = home.run(['resume', token]);
    expect({ code: await resumed.ended, said: resumed.stderr() }).toMatchObject({ code: 0 });
    expect(lines()).toEqual(['one', 'two', 'three', 'three']);
  },
);

/** Standard output of a command that succeeds. */
async function output(home: TestHome, args: string[]): Promise<string> {
  const run = home.run(args);
  const code = await run.ended;
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${run.stderr()}`);
  return run.stdout().trim();
}
