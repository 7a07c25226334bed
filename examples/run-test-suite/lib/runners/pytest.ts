/** pytest, with a plugin from `reporters/`. */
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { REPORTERS } from './reporters.js';
import type { RunnerAdapter } from './index.js';

export const pytest: RunnerAdapter = {
  list: async (choice, capture) => {
    const argv = [...(await command(choice.folder)), '--collect-only', '-q', ...selected(choice.filter)];
    const { events } = await capture([...argv, ...choice.runnerArgs], pytest.environment);
    // Files that can't be loaded fail once more as they are run.
    const files = events.flatMap((event) => {
      if (event.event === 'plan') return event.files ?? [];
      return event.event === 'end' ? [event.file] : [];
    });
    return [...new Set(files)];
  },
  hasListedShards: true,
  run: async ({ folder, filter, runnerArgs }, { files = [] }) => [
    ...(await command(folder)),
    ...selected(filter),
    ...runnerArgs,
    ...files,
  ],
  rerun: async ({ folder, runnerArgs }, tests) => [
    ...(await command(folder)),
    ...runnerArgs,
    ...tests.map(({ file, name }) => (name === '(the file)' ? file : `${file}::${name}`)),
  ],
  environment: { PYTHONPATH: REPORTERS, PYTHONUNBUFFERED: '1', PYTHONDONTWRITEBYTECODE: '1' },
  // No test was selected: of a filter, in one shard of several.
  harmlessExitCodes: [5],
};

const selected = (filter: string | undefined) => (filter === undefined ? [] : [`-k${filter}`]);

/** The virtual environment's Python, else that of the PATH. */
async function command(folder: string): Promise<string[]> {
  const environments = ['.venv', 'venv'].map((name) => join(folder, name, 'bin', 'python'));
  const there = await Promise.all(
    environments.map((path) =>
      access(path).then(
        () => true,
        () => false,
      ),
    ),
  );
  const python = environments.find((_path, index) => there[index]) ?? 'python3';
  return [python, '-m', 'pytest', '-p', 'longhaul_pytest', '-p', 'no:cacheprovider'];
}
