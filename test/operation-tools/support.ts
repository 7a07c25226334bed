/** Calling the tools about operations as a client that takes links and has no tasks does, and holding them to what they publish. */
import { expect } from '@jest/globals';
import { check } from '../../operations/tool/schema.js';
import { eventually } from '../stack/cli-process.js';
import type { WireClient } from '../support/mcp.js';

export class Caller {
  readonly client: WireClient;
  #tools: any[] | undefined;

  constructor(client: WireClient, capabilities: object = {}) {
    this.client = client.with(capabilities, 'claude-code');
  }

  async tools(): Promise<any[]> {
    this.#tools ??= (await this.client.request('tools/list')).result.tools as any[];
    return this.#tools;
  }

  /** The result of a call; what it has as structured content fits its published schema. */
  async call(name: string, args: object = {}): Promise<any> {
    const { result, error } = await this.client.call(name, args);
    if (error) throw new Error(JSON.stringify(error));
    if (result.structuredContent) {
      const { outputSchema } = (await this.tools()).find((tool) => tool.name === name);
      expect(check(outputSchema, result.structuredContent, 'result')).toEqual([]);
    }
    return result;
  }

  /** The structured content of a call that isn't an error. */
  async get(name: string, args: object = {}): Promise<any> {
    const result = await this.call(name, args);
    if (result.isError) throw new Error(textOf(result));
    return result.structuredContent;
  }

  /** Starts an operation and doesn't wait. */
  async start(name: string, args: object = {}): Promise<string> {
    return (await this.get(name, { wait: false, ...args })).token;
  }

  /** Starts an operation, and waits until it asks. */
  async asking(tool = 'confirm_delete', args: object = { filename: 'old.csv' }): Promise<string> {
    const token = await this.start(tool, args);
    await eventually(
      'it asks',
      async () => (await this.get('operation_get', { token })).status === 'input_required',
    );
    return token;
  }

  /** Waits until it has ended or asks something, and returns all of its fields. */
  settled(token: string): Promise<any> {
    return this.get('operation_get', { token, view: 'full', wait: true, timeout: 60 });
  }

  /** Expects a refusal. */
  async refused(name: string, args: object, kind: string, message: string): Promise<void> {
    const result = await this.call(name, args);
    expect(textOf(result)).toContain(message);
    expect(result).toMatchObject({ isError: true, _meta: { 'longhaul/error': { kind } } });
  }
}

/** The text of a tool's result. */
export function textOf(result: any): string {
  return result.content.map((block: any) => block.text ?? '').join('\n');
}

/** The files and results that a tool's result links to. */
export function linksOf(result: any): any[] {
  return result.content.filter(({ type }: any) => type === 'resource_link');
}
