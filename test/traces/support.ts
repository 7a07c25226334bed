/** A stack whose processes send spans to a collector of the test. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { eventually } from '../stack/cli-process.js';
import { JobsClient } from '../support/jobs.js';
import { TestStack, type Part } from '../support/test-stack.js';
import { Collector, type ReceivedSpan } from './collector.js';

/** Its steps write the trace that they are given. */
const PIPELINE = `
description: Steps that write their trace's context.
inputs:
  properties:
    ledger: { type: string }
  required: [ledger]
jobs:
  work:
    steps:
      - name: write
        run: echo "write $TRACEPARENT $TRACESTATE" >> "$INPUT_LEDGER"
      - name: again
        retry: { attempts: 2, backoff: 0.1 }
        run: |
          echo "again $TRACEPARENT" >> "$INPUT_LEDGER"
          [ "$LONGHAUL_ATTEMPT" = 2 ]
`;
/** Its step ends once the test lets it. */
const HELD_PIPELINE = `
inputs:
  properties:
    ledger: { type: string }
  required: [ledger]
jobs:
  work:
    steps:
      - name: hold on
        run: |
          echo "held $TRACEPARENT" >> "$INPUT_LEDGER"
          until [ -e "$INPUT_LEDGER.go" ]; do sleep 0.1; done
`;

/** A context of a client. */
export class ClientTrace {
  readonly traceId = randomBytes(16).toString('hex');
  readonly spanId = randomBytes(8).toString('hex');

  constructor(
    readonly isSampled = true,
    readonly tracestate = 'vendor=of-the-client',
  ) {}

  get fields(): Record<string, string> {
    return {
      traceparent: `00-${this.traceId}-${this.spanId}-${this.isSampled ? '01' : '00'}`,
      tracestate: this.tracestate,
    };
  }
}

const MAIN = resolve('dist/bin/longhaul.js');

export class TracedStack {
  readonly #known = new Set<Part>();

  private constructor(
    readonly folder: string,
    readonly collector: Collector,
    readonly parts: TestStack,
  ) {}

  static async start(environment: Record<string, string> = {}): Promise<TracedStack> {
    const folder = mkdtempSync(join(tmpdir(), 'longhaul-traces-'));
    const pipelines = join(folder, 'pipelines');
    mkdirSync(pipelines);
    writeFileSync(join(pipelines, 'traced.yml'), PIPELINE);
    writeFileSync(join(pipelines, 'held.yml'), HELD_PIPELINE);
    const collector = await Collector.start();
    // Own stack: its processes send spans to a collector.
    const parts = await TestStack.start({
      LONGHAUL_PROJECT: resolve('test/traces/project'),
      LONGHAUL_PIPELINE_FOLDERS: pipelines,
      LONGHAUL_SHIPPED_TOOLS: 'false',
      LONGHAUL_HOME: join(folder, 'home'),
      LONGHAUL_LOG_LEVEL: 'trace',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '100',
      ...environment,
    });
    return new TracedStack(folder, collector, parts);
  }

  get client() {
    return this.parts.client;
  }

  get jobs(): JobsClient {
    return new JobsClient(this.parts.base);
  }

  part(command: 'server' | 'worker'): Part {
    const part = this.parts.parts.find(({ process }) => process.spawnargs.at(-1) === command)!;
    this.#known.add(part);
    return part;
  }

  /** A server over standard input and output. It starts a stack of its home, which {@link stop} ends. */
  stdio(): ChildProcess {
    return spawn(process.execPath, [MAIN, 'stdio'], {
      env: this.#environment,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
  }

  get #environment(): NodeJS.ProcessEnv {
    const { environment, taskQueue } = this.parts;
    return { ...process.env, NODE_OPTIONS: '', ...environment, LONGHAUL_TASK_QUEUE: taskQueue };
  }

  /** The logs of all processes, of ended ones too. */
  outputs(): string[] {
    this.parts.parts.forEach((part) => this.#known.add(part));
    return [...this.#known].map((part) => part.output());
  }

  ledger(name: string): string {
    return join(this.folder, name);
  }

  lines(name: string): string[] {
    const path = this.ledger(name);
    return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
  }

  /** Waits for the first span of a trace with this name. */
  span(traceId: string, name: string, count = 1): Promise<ReceivedSpan[]> {
    const named = () => this.collector.trace(traceId).filter((span) => span.name === name);
    const names = () =>
      this.collector
        .trace(traceId)
        .map((span) => span.name)
        .join(', ');
    return eventually(
      () => `${count} spans ${name} in ${traceId}; there are ${names()}`,
      () => (named().length >= count ? named() : undefined),
    );
  }

  async stop(): Promise<void> {
    spawnSync(process.execPath, [MAIN, 'down'], { env: this.#environment, stdio: 'ignore' });
    await this.parts.stop();
    await this.collector.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Log lines of a part, as JSON. */
export function linesOf(part: Part): Record<string, any>[] {
  return part
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, any>);
}
