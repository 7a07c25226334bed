/** The package as npm packs it, installed elsewhere, on Node in the versions that users run beside the oldest. */
import { mkdirSync, readdirSync, readlinkSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { PackedProject } from '../authoring/packed.js';
import { eventually, kill, readText, TestHome } from '../stack/cli-process.js';
import { inSetUp, temporaryFolder } from '../support/for-all-tests.js';
import { installNodeVersions } from './install.js';

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

let home: TestHome | undefined;
const root = temporaryFolder('node-versions');
const [nodes, packed] = await inSetUp(Promise.all([installNodeVersions(), PackedProject.create(root)]));
afterEach(async () => {
  await home?.remove();
  home = undefined;
});

test.each(['22', '24'] as const)(
  "the stack starts on Node %s, serves a user's tool and a call through kills, and resumes a failed pipeline",
  async (version) => {
    home = await TestHome.create({ node: nodes[version], program: packed.main });
    const folder = join(home.path, 'pipelines');
    mkdirSync(folder);
    writeFileSync(join(folder, 'three-steps.yml'), PIPELINE);
    await home.up({ LONGHAUL_PROJECT: packed.folder, LONGHAUL_PIPELINE_FOLDERS: folder });
    for (const pid of [home.parts().server, home.parts().worker])
      expect(realpathSync(readlinkSync(`/proc/${pid}/exe`))).toBe(realpathSync(nodes[version]));

    const logs = join(home.path, 'compressed');
    mkdirSync(logs);
    writeFileSync(join(logs, '1.log'), 'a line\n'.repeat(1_000));
    const asking = await output(home, ['call', 'compress_folder', '--folder', logs, '--detach']);
    await eventually('it asks', async () =>
      (await output(home!, ['status', asking])).includes('Delete the originals?'),
    );
    await output(home, ['answer', asking, '--field', 'delete=true']);
    await output(home, ['watch', asking]);
    expect(JSON.parse(await output(home, ['result', asking]))).toMatchObject({ originalsDeleted: true });
    expect(readdirSync(logs)).toEqual(['1.log.gz']);

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
