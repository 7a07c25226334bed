/** Tools that a Nexus service lists itself, as MCP tool definitions. */
import { z } from 'zod';
import { defined } from '../operations/json/defined.js';
import { LonghaulError } from '../operations/errors.js';
import type { NexusService } from '../operations/wire/nexus-call.js';
import { compilePatterns, preview } from '../operations/tool/schema.js';
import type { Tool } from '../operations/tool/index.js';
import type { ToolFile } from './schema.js';
import { defineExternal, NEXUS_CLEANUP, nexusTool, outputSchema } from './tool.js';

/** A service that has to list its tools first. */
export interface ToolService extends NexusService {
  /** @param listed result of its operation `list_tools` @returns usable tools, and a line for each unusable one */
  toolsOf(listed: unknown): { tools: Tool[]; problems: string[] };
}

export function isToolService(value: Tool | ToolService): value is ToolService {
  return 'toolsOf' in value;
}

export function toolService(file: ToolFile): ToolService {
  const { endpoint, service } = file.nexus!;
  return {
    endpoint,
    service,
    toolsOf(listed) {
      const parsed = listing.safeParse(listed);
      if (!parsed.success)
        return {
          tools: [],
          problems: [`list_tools: expected a list of MCP tools, or { tools }; got another value`],
        };
      const tools: Tool[] = [];
      const problems: string[] = [];
      for (const listed of parsed.data) {
        const made = toolOf(file, { endpoint, service }, listed);
        if (typeof made === 'string') problems.push(`list_tools: ${made}`);
        else tools.push(made);
      }
      return { tools, problems };
    },
  };
}

const object = z.record(z.string(), z.unknown());
/** Python's models write absent fields as null. */
const definition = z.object({
  name: z.string(),
  title: z.string().nullish(),
  description: z.string().nullish(),
  inputSchema: object.nullish(),
  outputSchema: object.nullish(),
  annotations: z.record(z.string(), z.boolean().nullish().catch(undefined)).nullish(),
});
type Definition = z.output<typeof definition>;

/** Both forms in use: a list of tools, or an object with it. */
const listing = z.union([
  z.array(z.unknown()),
  z.object({ tools: z.array(z.unknown()) }).transform(({ tools }) => tools),
]);

const LISTED_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const;

function toolOf(file: ToolFile, at: NexusService, listed: unknown): Tool | string {
  const parsed = definition.safeParse(listed);
  if (parsed.success) return listedTool(file, at, parsed.data);
  const { path, message } = parsed.error.issues[0]!;
  const name = (listed as { name?: unknown } | null)?.name;
  return `tool ${preview(name)}: ${path.join('.') || 'definition'}: ${message}; got ${preview(listed)}`;
}

function listedTool(file: ToolFile, at: NexusService, listed: Definition): Tool | string {
  const { name, title, description, inputSchema, outputSchema: output, annotations } = listed;
  const route = routeOf(name, at.service);
  if (!LISTED_NAME.test(name) || !route)
    return `expected a name such as ${at.service}_refund, at most 64 letters, digits, _ or -; got ${JSON.stringify(name.slice(0, 80))}`;
  const type = inputSchema?.['type'] ?? 'object';
  if (type !== 'object')
    return `tool ${JSON.stringify(name)}: inputSchema: expected the schema of an object; got type ${JSON.stringify(type)}`;
  try {
    const tool = defineExternal(file, {
      // Names of tools in code are function names, without hyphens.
      name: name.replaceAll('-', '_'),
      description: {
        does: description?.trim() || `Runs the operation ${route.operation} of ${route.service}.`,
      },
      input: { ...inputSchema, type: 'object', properties: inputSchema?.['properties'] ?? {} },
      ...defined({
        title: title ?? undefined,
        output: output ? outputSchema(output) : undefined,
        annotations: annotations
          ? defined(Object.fromEntries(HINTS.map((hint) => [hint, annotations[hint] ?? undefined])))
          : undefined,
      }),
      cleanup: NEXUS_CLEANUP,
    });
    compilePatterns(tool.inputSchema, `tool ${JSON.stringify(name)}: inputSchema`);
    if (tool.outputSchema) compilePatterns(tool.outputSchema, `tool ${JSON.stringify(name)}: outputSchema`);
    return nexusTool({ ...tool, name }, { endpoint: at.endpoint, ...route }, (values) => values);
  } catch (error) {
    const { message } = error as Error;
    return error instanceof LonghaulError ? message : `tool ${JSON.stringify(name)}: ${message}`;
  }
}

/** Splits `SERVICE_OPERATION`. If it isn't the asked service, the name ends at the first `_`: another service of the endpoint. */
function routeOf(name: string, asked: string): { service: string; operation: string } | undefined {
  const at = name.startsWith(`${asked}_`) ? asked.length : name.indexOf('_');
  const [service, operation] = [name.slice(0, Math.max(at, 0)), name.slice(at + 1)];
  return service && operation ? { service, operation } : undefined;
}
