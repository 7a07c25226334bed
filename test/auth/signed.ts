/** A signed operation of the pipeline `marking`, and starts by a client of Temporal. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultPayloadConverter, WorkflowFailedError, type Client } from '@temporalio/client';
import { TestStack } from '../support/test-stack.js';

export class Signed {
  private constructor(
    readonly folder: string,
    readonly stack: TestStack,
    readonly temporal: Client,
    readonly token: string,
    /** Input of the signed operation. */
    readonly input: any,
    readonly memo: Record<string, any>,
  ) {}

  /** Runs the operation, which fails. */
  static async start(): Promise<Signed> {
    const folder = mkdtempSync(join(tmpdir(), 'longhaul-signed-'));
    const stack = await TestStack.shared();
    const temporal = await stack.temporal();
    const token = await stack.client.start('marking', { marker: join(folder, 'signed') });
    await stack.client.until(token, 'completed');
    const { events } = await temporal.workflow.getHandle(token).fetchHistory();
    const { input, memo } = events![0]!.workflowExecutionStartedEventAttributes!;
    return new Signed(
      folder,
      stack,
      temporal,
      token,
      defaultPayloadConverter.fromPayload(input!.payloads![0]!),
      { longhaul: defaultPayloadConverter.fromPayload(memo!.fields!['longhaul']!) },
    );
  }

  async stop(): Promise<void> {
    await this.stack.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** File that an operation writes to. */
  marker(name: string): string {
    return join(this.folder, name);
  }

  /** The input of the pipeline with another file to write. */
  inputFor(name: string): object {
    return { ...this.input, inputs: { marker: this.marker(name) } };
  }

  options(args: unknown[], memo: Record<string, unknown> = {}, workflowId: string = randomUUID()) {
    return { workflowId, taskQueue: this.stack.taskQueue, args, memo };
  }

  /** Starts a pipeline with Temporal's client. @returns the failure that ends it */
  async refused(
    args: unknown[],
    memo: Record<string, unknown> = {},
    workflowId?: string,
  ): Promise<{ type: string; message: string }> {
    const handle = await this.temporal.workflow.start('pipeline', this.options(args, memo, workflowId));
    return this.failureOf(handle.workflowId);
  }

  /** The failure that ended a workflow: its innermost cause. */
  async failureOf(workflowId: string): Promise<{ type: string; message: string }> {
    const failure = await this.temporal.workflow
      .getHandle(workflowId)
      .result()
      .then(
        () => undefined,
        (error: unknown) => error,
      );
    if (!(failure instanceof WorkflowFailedError)) throw new Error(`it did not fail: ${String(failure)}`);
    let cause: any = failure.cause;
    while (cause.cause) cause = cause.cause;
    return cause;
  }
}
