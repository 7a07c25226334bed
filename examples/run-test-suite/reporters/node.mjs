/** Reporter of node:test: a line for each event, on descriptor 3. */
import { writeSync } from 'node:fs';

const write = (event) => void writeSync(3, JSON.stringify(event) + '\n');
const cut = (text) => String(text).slice(0, 8192);

// node:test prints what a reporter yields: nothing.
// eslint-disable-next-line require-yield
export default async function* (source) {
  /** Names of the open tests of each file, by depth, and those that have subtests. */
  const files = new Map();
  for await (const { type, data } of source) {
    const { name, nesting, file } = data;
    // A file is a test too, until its own tests are known.
    const isFile = name === file;
    if (type === 'test:dequeue' && !isFile) write({ event: 'start', file, name });
    if (type === 'test:complete' && isFile) write({ event: 'file', file });
    if (type === 'test:start') {
      if (!files.has(file)) files.set(file, []);
      const open = files.get(file);
      open.length = nesting;
      open.forEach((parent) => (parent.hasChildren = true));
      open.push({ name, hasChildren: false });
    }
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const open = (files.get(file) ?? []).slice(0, nesting + 1);
    const error = data.details?.error;
    const isSuite = data.details?.type === 'suite' || open[nesting]?.hasChildren;
    // A parent fails by itself only in a hook or its own code.
    const isParent = isSuite && (type === 'test:pass' || error?.failureType === 'subtestsFailed');
    const cause = error?.cause ?? error;
    write({
      event: 'end',
      file,
      name: isFile ? '(the file)' : open.map((one) => one.name).join(' > '),
      startedAs: name,
      isParent,
      status:
        data.skip !== undefined || data.todo !== undefined
          ? 'skipped'
          : type === 'test:pass'
            ? 'passed'
            : 'failed',
      ms: Math.round(data.details?.duration_ms ?? 0),
      ...(type === 'test:fail' && {
        message: cut(
          isFile ? `exit code ${error?.exitCode ?? error?.signal}: ${cause}` : (cause?.stack ?? cause),
        ),
      }),
    });
  }
  write({ event: 'done' });
}
