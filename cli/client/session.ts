/** A command's server, and requests to it. */
import type { Command } from 'commander';
import { checkReadable } from '../../platform/home/index.js';
import { programCommand, shellWord } from '../../platform/home/program.js';
import { readStackState } from '../../platform/temporal/address.js';
import { mcpUrl } from '../../stack/readiness.js';
import { settingsOf } from '../settings-flags.js';
import { Connection } from './connection.js';
import { usageFailure } from './failures.js';
import { listTools, type ToolList } from '../tools/list-tools.js';
import { asTask, type Task, type ToolDeclaration } from './wire.js';

/**
 * The MCP endpoint: --url or LONGHAUL_URL, else the running stack of LONGHAUL_HOME, else the settings' host and port. A host or
 * port on the command line overrides the stack's.
 *
 * @throws CommandFailure when it isn't an http(s) URL, SettingsError, HomeError
 */
export async function serverUrlOf(command: Command): Promise<URL> {
  const { url, host, port } = command.optsWithGlobals<{ url?: string; host?: string; port?: string }>();
  if (url) return parseUrl(url);
  const settings = await settingsOf(command);
  checkReadable(settings.home);
  const running = host === undefined && port === undefined ? readStackState(settings.home).mcpUrl : undefined;
  return parseUrl(running ?? mcpUrl(settings));
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw usageFailure(
      `--url: expected an address such as http://127.0.0.1:7411/mcp; got ${JSON.stringify(text)}`,
    );
  if (url.pathname === '/') url.pathname = '/mcp';
  return url;
}

/** A command's connection, with a method for each request. */
export class Session extends Connection {
  /** Flags with which another command reaches the same server. */
  readonly #flags: string[];

  constructor(command: Command, url: URL) {
    super(url, command.parent?.version() ?? '0.0.0');
    const given = command.optsWithGlobals<Record<string, string | undefined>>();
    const isUrlGiven = command.getOptionValueSource('url') === 'cli';
    this.#flags = (isUrlGiven ? ['url'] : ['home', 'host', 'port'])
      .filter((name) => given[name])
      .map((name) => `--${name}=${given[name]}`);
  }

  /** A follow-up command line for people. @param words operands and flags, unquoted */
  hint(name: string, ...words: string[]): string {
    const isFlag = (word: string) => word.startsWith('--');
    const operands = words.filter((word) => !isFlag(word));
    const flags = [...words.filter(isFlag), ...this.#flags];
    const all = operands.some((word) => word.startsWith('-'))
      ? [...flags, '--', ...operands]
      : [...operands, ...flags];
    return [programCommand(), name, ...all.map(shellWord)].join(' ');
  }

  async tools(): Promise<ToolDeclaration[]> {
    return (await this.listTools()).tools;
  }

  listTools(): Promise<ToolList> {
    return listTools((params) => this.request('tools/list', params));
  }

  /** @throws CommandFailure that lists the known tools */
  async tool(name: string): Promise<ToolDeclaration> {
    const tools = await this.tools();
    const tool = tools.find((one) => one.name === name);
    if (!tool)
      throw usageFailure(
        `unknown tool "${name}"; known are ${tools.map((one) => one.name).join(', ') || 'none'}`,
      );
    return tool;
  }

  async task(taskId: string, signal?: AbortSignal): Promise<Task> {
    return asTask(await this.request('tasks/get', { taskId }, { signal }));
  }
}
