/** Reporter of jest: a line for each event, on descriptor 3. */
import { writeSync } from 'node:fs';

const write = (event) => void writeSync(3, JSON.stringify(event) + '\n');
const cut = (text) => String(text).slice(0, 8192);
const STATUS = { passed: 'passed', failed: 'failed' };

const nameOf = ({ ancestorTitles, title }) => [...ancestorTitles, title].join(' > ');

export default class {
  onTestCaseStart(test, start) {
    write({ event: 'start', file: test.path, name: nameOf(start) });
  }

  onTestCaseResult(test, result) {
    write({
      event: 'end',
      file: test.path,
      name: nameOf(result),
      status: STATUS[result.status] ?? 'skipped',
      ms: Math.round(result.duration ?? 0),
      ...(result.status === 'failed' && { message: cut(result.failureMessages.join('\n')) }),
    });
  }

  onTestFileResult(test, { testExecError, failureMessage }) {
    const { path: file } = test;
    // A file that can't be loaded has no tests.
    if (testExecError) {
      const message = cut(failureMessage ?? testExecError.message);
      write({ event: 'end', file, name: '(the file)', status: 'failed', ms: 0, message });
    }
    write({ event: 'file', file });
  }

  onRunComplete() {
    write({ event: 'done' });
  }
}
