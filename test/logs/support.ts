/** A stack on the project of this folder, whose tools log. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect } from '@jest/globals';
import { Caller } from '../operation-tools/support.js';
import { TestStack, type Part } from '../support/test-stack.js';

export const TIME = '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z';

export class LogStack {
  readonly caller: Caller;

  private constructor(
    readonly folder: string,
    readonly parts: TestStack,
  ) {
    this.caller = new Caller(parts.client);
  }

  static async start(): Promise<LogStack> {
    const folder = mkdtempSync(join(tmpdir(), 'longhaul-logs-'));
    // Own stack: tests read its worker's output and kill it.
    const parts = await TestStack.start({
      LONGHAUL_PROJECT: resolve('test/logs/project'),
      LONGHAUL_SHIPPED_TOOLS: 'false',
      LONGHAUL_HOME: join(folder, 'home'),
    });
    return new LogStack(folder, parts);
  }

  get workers(): Part[] {
    return this.parts.parts.slice(1);
  }

  newGate(): string {
    return join(this.folder, randomUUID());
  }

  open(gate: string): void {
    writeFileSync(gate, '');
  }

  /** Runs `chatter` to its end. */
  async ended(args: object): Promise<string> {
    const token = await this.caller.start('chatter', args);
    expect(await this.caller.settled(token)).toMatchObject({ status: 'completed' });
    return token;
  }

  /** The whole log, page by page, as a model reads it. */
  async logOf(token: string): Promise<string[]> {
    const lines: { number: number; text: string; is_continued?: true }[] = [];
    for (let query: object = {}; ;) {
      const { log } = await this.caller.get('operation_get', { token, view: 'logs', ...query });
      expect(log.step).toBe('operation');
      for (const line of log.lines)
        if (line.is_continued) lines.at(-1)!.text += line.text;
        else lines.push(line);
      if (log.cursor === undefined || log.is_at_end) break;
      query = { cursor: log.cursor };
    }
    expect(lines.map(({ number }) => number)).toEqual(lines.map((_, index) => index + 1));
    return lines.map(({ text }) => text);
  }

  async stop(): Promise<void> {
    await this.parts.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A line without its time. */
export function behindTime(line: string): string {
  expect(line).toMatch(new RegExp(`^${TIME} `));
  return line.slice(25);
}
