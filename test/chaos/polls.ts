/** Polls of one operation over several protocols, and the violations that they show. */
import type { JobsClient } from '../support/jobs.js';
import type { WireClient } from '../support/mcp.js';

/** One poll of an operation, in terms that all protocols share. */
interface Sight {
  protocol: string;
  status: 'queued' | 'open' | 'over';
  progress?: { progress: number; message?: string };
  updatedAt?: string;
}

export interface Clients {
  wire: WireClient;
  jobs: JobsClient;
}

const TERMINAL = new Set([
  'completed',
  'failed',
  'cancelled',
  'canceled',
  'succeeded',
  'timed_out',
  'errored',
]);

/** Looks at an operation; each throws while it can't be read, and returns undefined when there is no such operation. */
const LOOKS: ((clients: Clients, token: string) => Promise<Sight | undefined>)[] = [
  async ({ wire }, taskId) => {
    const { result, error } = await wire.request('tasks/get', { taskId });
    if (error?.code === -32602) return undefined;
    if (!result) throw new Error(JSON.stringify(error));
    const { progress, total, message } = result._meta?.['longhaul/progress'] ?? {};
    return {
      protocol: 'tasks/get',
      status: statusOf(result.status),
      ...(progress === undefined ? {} : { progress: { progress, total, message } }),
      updatedAt: result.lastUpdatedAt,
    };
  },
  async ({ wire }, token) => {
    const { result } = await wire
      .with({})
      .request('tools/call', { name: 'operation_get', arguments: { token, view: 'full' } });
    if (result?._meta?.['longhaul/error']?.kind === 'not_found') return undefined;
    const { status, progress } = result.structuredContent;
    return { protocol: 'operation_get', status: statusOf(status), ...(progress ? { progress } : {}) };
  },
  async ({ jobs }, id) => {
    const { status, body } = await jobs.get(`/v1/jobs/${id}`);
    if (status === 404) return undefined;
    if (status !== 200) throw new Error(`${status}`);
    return {
      protocol: 'GET /v1/jobs',
      status: statusOf(body.status),
      ...(body.progress ? { progress: body.progress } : {}),
      updatedAt: body.updated_at,
    };
  },
];

/** Tasks have no status for an operation that no worker has taken yet. */
function statusOf(status: string): Sight['status'] {
  if (TERMINAL.has(status)) return 'over';
  return status === 'queued' ? 'queued' : 'open';
}

/** Polls of one operation. */
export class Polls {
  count = 0;
  /** Violations, a line each. */
  readonly violations: string[] = [];
  #last: Sight | undefined;
  #wasTaken = false;

  constructor(
    private readonly clients: Clients,
    readonly token: string,
    private readonly name: string,
  ) {}

  /**
   * Looks once, over the protocol whose turn it is.
   *
   * @returns undefined when it could not be read just now
   */
  async look(): Promise<{ isOver: boolean; progress: number } | undefined> {
    const look = LOOKS[this.count % LOOKS.length]!;
    let sight: Sight | undefined;
    try {
      sight = await look(this.clients, this.token);
    } catch {
      return undefined;
    }
    this.count += 1;
    if (!sight) this.#violate('is lost: not found');
    else this.#compare(sight);
    return sight && { isOver: sight.status === 'over', progress: sight.progress?.progress ?? 0 };
  }

  #compare(sight: Sight): void {
    const last = this.#last ?? sight;
    const { protocol, status, progress, updatedAt } = sight;
    const went = (what: string, from: unknown, to: unknown) =>
      this.#violate(
        `${what} went back from ${String(from)} (${last.protocol}) to ${String(to)} (${protocol})`,
      );
    if (last.status === 'over' && status !== 'over') went('status', 'over', status);
    if (this.#wasTaken && status === 'queued') went('status', 'taken', 'queued');
    if (protocol !== 'tasks/get' && status !== 'queued') this.#wasTaken = true;
    if (progress && last.progress && progress.progress < last.progress.progress)
      went('progress', JSON.stringify(last.progress), JSON.stringify(progress));
    if (updatedAt && last.updatedAt && updatedAt < last.updatedAt)
      went('its time', last.updatedAt, updatedAt);
    const inMessage = progress && numberIn(progress.message);
    if (inMessage !== undefined && inMessage !== progress?.progress)
      this.#violate(`says ${JSON.stringify(progress)}: message and number are of different moments`);
    this.#last = {
      ...last,
      ...sight,
      ...((progress ?? last.progress) ? { progress: progress ?? last.progress! } : {}),
    };
  }

  #violate(what: string): void {
    this.violations.push(`${this.name} ${what}`);
  }
}

/** How far the work is by the message of its activity (`project/activities/batches.ts`). */
function numberIn(message: string | undefined): number | undefined {
  const unit = /^unit (\d+) of batch (\d+)$/.exec(message ?? '');
  if (unit) return Number(unit[1]) + (Number(unit[2]) - 1) * 10;
  const done = /^batch (\d+) is done$/.exec(message ?? '');
  return done ? Number(done[1]) * 10 : undefined;
}
