/** Reporter of vitest: a line for each event, on descriptor 3. */
import { writeSync } from 'node:fs';

const write = (event) => void writeSync(3, JSON.stringify(event) + '\n');
const cut = (text) => String(text).slice(0, 8192);
const messageOf = (errors) => cut(errors.map(({ stack, message }) => stack || message).join('\n'));
const fileOf = (test) => test.module.moduleId;

export default class {
  onTestCaseReady(test) {
    write({ event: 'start', file: fileOf(test), name: test.fullName });
  }

  onTestCaseResult(test) {
    const { state, errors } = test.result();
    write({
      event: 'end',
      file: fileOf(test),
      name: test.fullName,
      status: state === 'passed' || state === 'failed' ? state : 'skipped',
      ms: Math.round(test.diagnostic()?.duration ?? 0),
      ...(state === 'failed' && { message: messageOf(errors) }),
    });
  }

  onTestModuleEnd(module) {
    const file = module.moduleId;
    // A file that can't be loaded has errors of its own.
    const errors = module.errors();
    if (errors.length > 0)
      write({ event: 'end', file, name: '(the file)', status: 'failed', ms: 0, message: messageOf(errors) });
    write({ event: 'file', file });
  }

  onTestRunEnd() {
    write({ event: 'done' });
  }
}
