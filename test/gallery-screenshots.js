/**
 * Takes the pictures of docs/gallery.md: each example as a user installs it, on a stack of its own, and one operation of its tool. Run
 * it from the checkout's root, after a build: `node test/gallery-screenshots.js`, or with the names of some examples.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createJiti } from 'jiti';
import { isWanted, open, PicturedStack, tabsOf, withPage } from './screenshots.js';

const jiti = createJiti(import.meta.url);

/**
 * A call of each example's tool, and the state in which its picture is taken. `prepare` makes what it works on; it may return a process,
 * which ends with the stack.
 */
const PICTURES = {
  'migrate-repositories': {
    tool: 'migrate_repositories',
    async prepare(project) {
      const { makeRepositories } = await jiti.import(join(project, 'demo/repositories.ts'));
      makeRepositories(join(project, 'demo-repositories'));
    },
    args: {
      repositories: ['orders-api', 'feed-reader', 'legacy-billing'].map(
        (name) => `demo-repositories/${name}`,
      ),
      parallel: 3,
      author: 'Ada <ada@example.com>',
    },
    status: 'input_required',
  },
  'onboard-vendor': {
    tool: 'onboard_vendor',
    async prepare(project) {
      const service = spawn(process.execPath, ['--import', 'jiti/register', 'service/main.ts'], {
        cwd: project,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      await once(service.stdout, 'data');
      return service;
    },
    args: JSON.parse(readFileSync('examples/onboard-vendor/vendor.json', 'utf8')),
    status: 'input_required',
  },
  'research-topic': {
    tool: 'research_topic',
    // Documents of the first data folder.
    args: { topic: 'What happens to running work when a worker is killed?', ask: true },
    settings: { LONGHAUL_DATA_FOLDERS: resolve('docs') },
    status: 'input_required',
  },
  'review-by-agents': {
    tool: 'review_diff',
    async prepare(project) {
      const { makeRepository } = await jiti.import(join(project, 'sample/repository.ts'));
      const before = process.cwd();
      process.chdir(project);
      await makeRepository('output').finally(() => process.chdir(before));
    },
    args: { folder: 'output/repository', diff: 'output/change.diff', maxFiles: 8 },
    status: 'completed',
  },
  'run-test-suite': { tool: 'run_test_suite', args: { folder: 'samples/node' }, status: 'completed' },
  'screen-molecules': {
    tool: 'screen_molecules',
    async prepare(project) {
      const { writeLibrary } = await import(join(project, 'lib/enumerate.js'));
      await writeLibrary(join(project, 'output/library.smi'), 2_000);
    },
    args: { path: 'output/library.smi', query: 'NC(=O)c1ccc(N2CCOCC2)cc1', minSimilarity: 0.4, top: 3 },
    status: 'completed',
  },
};

const { installExample, removeExample } = await jiti.import('./examples/support.ts');
for (const [name, picture] of Object.entries(PICTURES)) if (isWanted(name)) await takePicture(name, picture);

async function takePicture(name, { tool, prepare, args, settings, status, height = 960 }) {
  const project = await installExample(name);
  const service = await prepare?.(project);
  const home = mkdtempSync(join(tmpdir(), 'longhaul-gallery-'));
  const stack = await PicturedStack.start(home, settings, project);
  try {
    const token = await stack.longhaul(['call', tool, '--detach', '--args', '-'], JSON.stringify(args));
    await stack.until(token, status);
    await withPage(async (page) => {
      const tab = await tabsOf(page, `${stack.workflows}/${token}`);
      await open(page, name, 'Event History', tab('history'), height);
    });
  } finally {
    await stack.stop();
    service?.kill();
    removeExample(project);
  }
}
