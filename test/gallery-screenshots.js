/**
 * Takes the pictures of docs/gallery.md: each example as a user installs it, on a stack of its own, and one operation of its tool. Run
 * it from the checkout's root, after a build: `node test/gallery-screenshots.js`, or with the names of some examples.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { createJiti } from 'jiti';
import { isWanted, open, PicturedStack, tabsOf, withPage } from './screenshots.js';

/** A call of each example's tool, and the state and text in which its picture is taken. */
const PICTURES = {
  'research-topic': {
    tool: 'research_topic',
    // Documents of the first data folder.
    args: { topic: 'What happens to running work when a worker is killed?', ask: true },
    status: 'input_required',
    text: 'Event History',
  },
};

const { installExample } = await createJiti(import.meta.url).import('./examples/support.ts');
for (const [name, picture] of Object.entries(PICTURES)) if (isWanted(name)) await takePicture(name, picture);

async function takePicture(name, { tool, args, status, text, height = 960 }) {
  const project = await installExample(name);
  const home = mkdtempSync(join(tmpdir(), 'longhaul-gallery-'));
  const stack = await PicturedStack.start(home, {
    LONGHAUL_PROJECT: project,
    LONGHAUL_DATA_FOLDERS: [resolve('docs'), project].join(delimiter),
  });
  try {
    const token = await stack.longhaul(
      ['call', tool, '--detach', '--args', '-'],
      JSON.stringify(typeof args === 'function' ? args(project) : args),
    );
    await stack.until(token, status);
    await withPage(async (page) => {
      const tab = await tabsOf(page, `${stack.workflows}/${token}`);
      await open(page, name, text, tab('history'), height);
    });
  } finally {
    await stack.stop();
    rmSync(dirname(project), { recursive: true, force: true });
  }
}
