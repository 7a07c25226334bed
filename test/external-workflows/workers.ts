/** The workers of examples/bring-your-own as processes: each is built once, and ends with the tests. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import { temporalConnectConfig } from '../../platform/temporal/connect-config.js';
import { buildGoModule } from '../support/go-programs.js';
import { cacheFolder } from '../support/install-once.js';
import { buildWithMaven } from '../support/maven.js';
import { installVenv } from '../support/python.js';
import { inheritedEnvironment } from '../support/run-temporal.js';
import { Service } from '../support/service.js';

const EXAMPLES = resolve('examples/bring-your-own');

/** Language of a worker, and its folder in `examples/bring-your-own`. */
export type WorkerName = 'go' | 'java' | 'python';

/** Builds or installs a worker, unless that has been done. @returns the command that runs it */
const PREPARE: Record<WorkerName, () => Promise<string[]>> = {
  go: async () => [await buildGoModule('external-go', join(EXAMPLES, 'go'))],
  java: async () => [
    'java',
    // Less work while it starts: it shares two cores with the other tests.
    '-XX:TieredStopAtLevel=1',
    '-XX:+UseSerialGC',
    '-Xmx256m',
    '-jar',
    join(await buildWithMaven('external-java', join(EXAMPLES, 'java')), 'imports.jar'),
  ],
  python: async () => [join(await pythonFolder(), 'python'), join(EXAMPLES, 'python', 'worker.py')],
};

/** Folder of the executables of the Python worker's environment. */
export function pythonFolder(): Promise<string> {
  return installVenv('external-python', join(EXAMPLES, 'python', 'requirements.txt'));
}

const prepared = new Map<WorkerName, Promise<string[]>>();

/** Prepares a worker once for the process. @throws Error that names a missing compiler or package manager */
export function prepareWorker(name: WorkerName): Promise<string[]> {
  if (!prepared.has(name)) prepared.set(name, PREPARE[name]());
  return prepared.get(name)!;
}

export interface WorkerOptions {
  /** Default: one of the worker's own. */
  taskQueue?: string;
  /**
   * Variables of the worker: `TEMPORAL_ADDRESS` and `TEMPORAL_NAMESPACE` (default: the run's), `STEP_SECONDS` (default here: 0.3),
   * `DECISION_SECONDS` (Python).
   */
  environment?: Record<string, string>;
}

export class ExternalWorker {
  private constructor(
    readonly taskQueue: string,
    /** Holds its log and its files. */
    readonly folder: string,
    private readonly service: Service,
    private readonly connection: Connection,
  ) {}

  /** Starts a worker and waits until it polls its task queue. */
  static async start(name: WorkerName, options: WorkerOptions = {}): Promise<ExternalWorker> {
    const taskQueue = options.taskQueue ?? `external-${name}-${randomUUID()}`;
    const command = await prepareWorker(name);
    const folder = mkdtempSync(join(tmpdir(), `longhaul-external-${name}-`));
    const environment = {
      ...inheritedEnvironment(options.environment ?? {}),
      STEP_SECONDS: '0.3',
      PYTHONPYCACHEPREFIX: join(cacheFolder(), 'pycache'),
      ...options.environment,
      TASK_QUEUE: taskQueue,
      ORDERS_LEDGER: join(folder, 'ledger.jsonl'),
      IMPORT_FOLDER: join(folder, 'imported'),
    };
    const { connectionOptions, namespace = 'default' } = temporalConnectConfig('', environment)!;
    const connection = await Connection.connect(connectionOptions);
    try {
      const isReady = async (pid: number) => isPolling(connection, { namespace, taskQueue, pid });
      const service = await Service.start({ name, folder, command, environment, isReady });
      return new ExternalWorker(taskQueue, folder, service, connection);
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  /** The file of a workflow's imported rows (Java). */
  imported(workflowId: string): string {
    return join(this.folder, 'imported', `${workflowId}.csv`);
  }

  get pid(): number | undefined {
    return this.service.pid;
  }

  /** Starts it again, once it has ended. */
  async restart(): Promise<void> {
    await this.service.restart();
  }

  async stop(): Promise<void> {
    await this.service.stop();
    await this.connection.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Whether a process polls for workflow tasks and activities. The identity of the three SDKs begins with the PID. */
async function isPolling(
  { workflowService }: Connection,
  { namespace, taskQueue, pid }: { namespace: string; taskQueue: string; pid: number },
): Promise<boolean> {
  const { TASK_QUEUE_TYPE_ACTIVITY, TASK_QUEUE_TYPE_WORKFLOW } = proto.temporal.api.enums.v1.TaskQueueType;
  const polls = [TASK_QUEUE_TYPE_ACTIVITY, TASK_QUEUE_TYPE_WORKFLOW].map(async (taskQueueType) => {
    const request = { namespace, taskQueue: { name: taskQueue }, taskQueueType };
    const { pollers } = await workflowService.describeTaskQueue(request);
    return pollers.some(({ identity }) => identity?.startsWith(`${pid}@`));
  });
  return (await Promise.all(polls)).every(Boolean);
}
