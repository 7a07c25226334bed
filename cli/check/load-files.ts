/** Loads the project's files for a check, which has to end although a file never ends. */
import { Worker } from 'node:worker_threads';
import { ProjectModules } from '../../platform/project/modules.js';

/** Processor time, which a busy machine doesn't use up. */
const LIMIT_SECONDS = 20;

/** Ends the process, since its own thread is blocked. */
const WATCHDOG = `
const { parentPort } = require('node:worker_threads');
const usedMs = () => process.cpuUsage().user / 1000;
let [file, startMs] = [];
parentPort.on('message', (path) => ([file, startMs] = [path, usedMs()]));
setInterval(() => {
  if (!file || usedMs() - startMs < ${LIMIT_SECONDS * 1000}) return;
  require('node:fs').writeSync(1, file + ': the file is still being loaded after ${LIMIT_SECONDS} s of work; is there an endless loop at its top? Do such work in a function\\n');
  process.kill(process.pid, 'SIGKILL');
}, 500);`;

export class CheckedModules extends ProjectModules {
  readonly #watchdog = new Worker(WATCHDOG, { eval: true });

  constructor() {
    super();
    this.#watchdog.unref();
  }

  override async import(path: string): Promise<unknown> {
    this.#watchdog.postMessage(path);
    try {
      return await super.import(path);
    } finally {
      this.#watchdog.postMessage(undefined);
    }
  }
}
