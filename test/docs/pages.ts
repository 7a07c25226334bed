/** Needs of each page's commands: a project, names that stand for others, and questions in a terminal. */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { PackedProject } from '../authoring/packed.js';
import { freePort } from '../stack/cli-process.js';
import { CertificateAuthority } from '../support/certificates.js';
import { newNamespace } from '../support/namespace.js';
import { writeFiles } from '../support/write-files.js';
import { blocksOf, fileIn } from './blocks.js';
import { PageRun, type PageOptions } from './page-run.js';

/** Opens each page that has commands to run. */
export const OPENERS: Record<string, () => Promise<PageRun>> = {
  'README.md': async () => {
    const run = await PageRun.open({ folder: resolve('.') });
    // The packages are installed, since this test runs.
    run.names.set('npm ci && ', '');
    return run;
  },

  'docs/running.md': async () => {
    const run = await PageRun.open({ stack: 'longhaul up' });
    const authority = new CertificateAuthority(run.root);
    authority.issue('tls');
    const address = process.env['TEMPORAL_ADDRESS'];
    set(run, {
      'npm start': `npm start --prefix ${resolve('.')}`,
      '/etc/longhaul/tls.pem': authority.path('tls.pem'),
      '/etc/longhaul/tls.key': authority.path('tls.key'),
      'temporal.internal:7233 TEMPORAL_NAMESPACE=agents': `${address} TEMPORAL_NAMESPACE=${await newNamespace('documented')}`,
      'temporal operator ': `TEMPORAL_ADDRESS=${address} temporal operator `,
      '--namespace agents': `--namespace documented-${randomUUID()}`,
    });
    writeFiles(run.folder, { 'pipelines/nightly_report.yml': NIGHTLY });
    return run;
  },

  'docs/metrics.md': async () => {
    const [port, second, third] = [await freePort(), await freePort(), await freePort()];
    const up = 'longhaul up --health-address 127.0.0.1:9464';
    const run = await withTeam(up, {
      '127.0.0.1:9464': `127.0.0.1:${port}`,
      '10.0.0.5:9464': `127.0.0.1:${second}`,
      '10.0.0.6:9465': `127.0.0.1:${third}`,
      'HOST:9464': `127.0.0.1:${port}`,
      'HOST:9465': `127.0.0.1:${port + 1}`,
    });
    run.names.set('~/.longhaul', run.home.path);
    run.names.set('TOOL', 'release');
    run.names.set('TOKEN', await run.othersOperation('release', 'failed'));
    return run;
  },

  'docs/replay.md': async () => {
    const run = await withTeam('longhaul up');
    const token = await run.othersOperation('release', 'failed');
    run.setUp(`TOKEN=${token}`);
    run.names.set('0f8b...', token);
    return run;
  },

  'docs/backup.md': async () => {
    const run = await PageRun.open({ stack: 'longhaul up' });
    set(run, { '/backups/': `${run.root}/`, '/srv/longhaul-2': join(run.root, 'longhaul-2') });
    return run;
  },

  'docs/pipelines.md': async () => {
    const run = await PageRun.open({ stack: 'longhaul up' });
    writeFiles(run.folder, { ...filesOf('docs/pipelines.md'), 'bad.yml': BAD });
    run.names.set('/tmp/demo-logs', join(run.root, 'demo-logs'));
    run.asks.set('longhaul call backup_folder --folder', 'Dismiss');
    return run;
  },

  'docs/writing-a-tool.md': async () => {
    const run = await PageRun.open({ stack: 'longhaul up' });
    const { folder } = await PackedProject.create(run.root);
    run.moveTo(folder);
    run.names.set('/tmp/demo-logs', join(run.root, 'demo-logs'));
    run.asks.set('longhaul call compress_folder', 'Delete the originals?');
    return run;
  },
};

/** A stack with authentication: an operator of the tenant runs the page's commands, and another caller has operations. */
async function withTeam(up: string, names: Record<string, string> = {}): Promise<PageRun> {
  const options: PageOptions = { stack: `${up} --authentication keys --policy ../policy.yml` };
  const run = await PageRun.open(options);
  set(run, names);
  writeFiles(run.folder, { 'pipelines/release.yml': RELEASE });
  writeFileSync(join(run.root, 'policy.yml'), POLICY);
  const key = async (subject: string) => (await run.shell(`longhaul keys add ${subject}`)).text.trim();
  run.keys = { operator: await key('olga'), other: await key('ann') };
  run.setUp(`export LONGHAUL_API_KEY=${run.keys.operator}`);
  return run;
}

function set(run: PageRun, names: Record<string, string>): void {
  for (const [name, value] of Object.entries(names)) run.names.set(name, value);
}

function filesOf(page: string): Record<string, string> {
  return Object.fromEntries(blocksOf(page).flatMap((block) => [fileIn(block) ?? []].filter((one) => one[0])));
}

const POLICY = `roles:
  operator: { members: [{ tenant: default, subject: olga }], tools: ['*'], own: [operate], tenant: [operate] }
  caller: { members: [everyone], tools: ['*'], own: [operate] }
`;

const NIGHTLY = `description: Writes the report of the night.
inputs: { properties: { folder: { type: string } } }
jobs: { report: { steps: [{ name: report, run: 'ls "$INPUT_FOLDER"' }] } }
`;

/** The pipeline that docs/replay.md speaks of. */
const RELEASE = `jobs:
  build:
    steps:
      - { name: Compile, run: echo compiled }
      - { name: Publish, run: 'echo no remote >&2; exit 1', retry: { attempts: 2 } }
`;

const BAD = `name: bad
description: Packs a folder, as GitHub Actions would.

inputs:
  properties:
    folder: { type: string }
  required: [folder]

# A job of GitHub Actions needs a machine, which
# Longhaul's jobs don't name.



jobs:
  backup:
    runs-on: ubuntu-latest


    steps:
      # Expressions
      - { name: pack, run: "tar -czf a.tgz \${{ inputs.folder }}" }
      - { name: keep, run: 'echo "A=1" >> $GITHUB_ENV' }
`;
