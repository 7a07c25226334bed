/**
 * Interface between the chaos harness and a server of MCP's tasks extension. The harness knows a server by its URL, its start and
 * kill commands and the names of workload tools: a module whose default export is a {@link Target} is all that another one needs.
 */

import type { ProtocolClient } from '../support/protocols/index.js';
import type { OpenEvents } from './streams.js';

/**
 * Parts of the workload; a target without a tool for a role leaves it out. All but `probe` write to the ledger.
 *
 * - `work` completes after some seconds, with progress where the server has it.
 * - `steps` completes; none of its parts is idempotent.
 * - `asks` asks for `{ answer: integer }` after some seconds, and completes with that number in its result.
 * - `fails` ends with an error of the tool.
 * - `long` works for a minute; it is cancelled.
 * - `probe` completes at once.
 */
export type Role = 'work' | 'steps' | 'asks' | 'fails' | 'long' | 'probe';

/** One operation, as its tool gets to know it. */
export interface Work {
  /** Name of the operation in the ledger, without spaces. */
  name: string;
  /** File that the work appends a line `NAME PART start|done TIME_MS` to as each of its parts starts and ends. */
  ledger: string;
  /** Number of the start, from 1: a start whose response was lost is repeated. Only for targets without idempotency keys. */
  attempt: number;
}

export interface WorkloadTool {
  tool: string;
  args(work: Work): Record<string, unknown>;
  /** Number of parts that the ledger has to show once each, if the operation isn't cancelled. */
  parts: number;
  /** Whether no part may start twice. Default: only a part after which a later one has begun */
  isOnce?: boolean;
}

/** Kind of process: the harness measures how long after a fault reads are served again, or new work ends. */
export type Service = 'reads' | 'work';

export interface ProcessSpec {
  /** Kills and stops go to processes by their weight. */
  weight: number;
  service: Service;
}

/** Host that the harness gives to a target. */
export interface Host {
  /** Folder for all files of the target, on the disk that fills. Its path is in no other process's environment or command line. */
  readonly folder: string;
  /** Ledger of the work, on another disk. */
  readonly ledger: string;
  /** Environment of the processes whose clock jumps; empty without faults of the clock. */
  readonly clock: Record<string, string>;
  /**
   * Opens a proxied link to a port of loopback.
   *
   * @returns the port to connect to instead
   */
  link(name: string, upstreamPort: number): Promise<number>;
}

export interface RunningProcess {
  /** PID; undefined while the process doesn't run. */
  pid: () => number | undefined;
  /** Starts it again after a kill. Without it, the target's own supervisor does. */
  restart?(): Promise<void>;
}

export interface Running {
  /** MCP endpoint, through the proxied link to the server. */
  url: string;
  /** By the names in {@link Target.processes}. */
  processes: Record<string, RunningProcess>;
  /**
   * The tasks extension first, then other protocols with the same handles. `tasksClient` is the first one of a server that keeps to
   * the extension; a server whose readings have progress adds it.
   */
  protocols: ProtocolClient[];
  /** Missing: the server has no event streams. */
  events?: OpenEvents;
  /** Number of operations of the workload, without probes, that the server knows of. */
  count?: () => Promise<number>;
  /** Stops everything gracefully; whatever is left then is a violation, and killed. */
  stop(): Promise<void>;
  /** Files that a stopped target doesn't leave behind. */
  leftovers?: { folder: string; names: RegExp }[];
}

export interface Target {
  name: string;
  processes: Record<string, ProcessSpec>;
  /** Names of the links that it opens at its start. */
  links: string[];
  tools: Partial<Record<Role, WorkloadTool>>;
  /** Whether a repeated start with the same key gives the same handle. */
  hasIdempotencyKeys: boolean;
  /** Resolves once the target is ready. */
  start(host: Host): Promise<Running>;
}
