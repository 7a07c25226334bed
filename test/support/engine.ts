/** Engines of the test's own process, beside the servers' as processes. */
import { Engine, TemporalClient } from '../../engine/index.js';
import type { Tool } from '../../operations/tool/index.js';
import { createLogger } from '../../platform/observe/log.js';
import { loadSecret } from '../../platform/home/secret.js';
import { openStorage } from '../../platform/storage/index.js';
import { Tools } from '../../platform/project/tools.js';
import { eventually } from '../stack/cli-process.js';

export interface EngineOptions {
  /** Default: none, which suffices for reading. */
  tools?: Tool[];
  /** Default: that of the run's home. */
  secret?: Buffer;
  /** Default: that of the run's home. */
  storage?: ReturnType<typeof openStorage>;
  /** Whether its operations take answers without a signature. Default: true */
  operatorAnswers?: boolean;
}

/** Connects an engine to the run's Temporal. The caller closes its `temporal`. */
export async function connectEngine(taskQueue: string, options: EngineOptions = {}): Promise<Engine> {
  const home = process.env['LONGHAUL_HOME']!;
  const { tools = [], secret = loadSecret(home), storage = openStorage({ home }) } = options;
  const logger = createLogger('test', 'warn');
  const temporal = new TemporalClient({ home, taskQueue }, storage, logger);
  const engine = new Engine(
    temporal,
    new Tools(new Map(tools.map((tool) => [tool.name, tool])), [], logger),
    secret,
    storage,
    undefined,
    options.operatorAnswers,
  );
  await eventually('the engine is connected', () => temporal.facts().catch(() => undefined));
  return engine;
}
