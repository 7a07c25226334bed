/** `GET /v1/tools`, `GET /v1/tools/{tool}`: the tools, and each one's documentation. */
import { createRoute, z } from '@hono/zod-openapi';
import { ITEMS } from '../../operations/documentation/items.js';
import type { Tool } from '../../operations/tool/index.js';
import { JSON_TYPE, preferredType } from '../http/accept.js';
import { withKeyProperty } from '../call/idempotency-key.js';
import { listedSchema } from '../listed-tools/schema/index.js';
import { documentationOf, documentationText } from './rendering/documentation.js';
import type { JobsContext } from './context.js';
import { RATE_HEADERS } from './rates.js';
import { json, responses } from './rendering/schemas.js';
import { DEFINITION_FORMATS, toolDefinitions } from './rendering/tool-definitions.js';

const path = z.string();

const toolSummary = z
  .object({
    name: z.string(),
    title: z.string(),
    description: z.string().describe('What the tool does, when to use it, and what it returns.'),
    is_short: z.boolean().describe('Whether a kickoff waits for the result by default.'),
    links: z.object({ self: path, kickoff: path }),
  })
  .openapi('ToolSummary');

const schema = z.record(z.string(), z.unknown());

const tool = toolSummary
  .extend({
    input_schema: schema.describe('JSON Schema of the arguments.'),
    output_schema: schema.optional().describe('JSON Schema of the result.'),
    documentation: z
      .object(Object.fromEntries(Object.keys(ITEMS).map((item) => [item, z.unknown()])))
      .describe(`Documentation items: ${Object.keys(ITEMS).join(', ')}.`),
  })
  .openapi('Tool');

const definitions = z
  .object({
    format: z.enum(DEFINITION_FORMATS),
    tools: z.array(schema).describe("Value for the `tools` parameter of the model API's request."),
    calls: z
      .record(z.string(), z.object({ method: z.enum(['GET', 'POST']), path, query: z.array(z.string()) }))
      .describe(
        'HTTP request that executes a call, keyed by tool name. Arguments named in path replace their braces, those in query become query parameters, the others are the JSON body of a POST.',
      ),
  })
  .openapi('ToolDefinitions');

export function registerTools(context: JobsContext): void {
  const { app, engineOf, rates } = context;
  const limit = rates.limit('status');
  const list = createRoute({
    method: 'get',
    path: '/v1/tools',
    operationId: 'listTools',
    tags: ['Tools'],
    summary: 'List the tools',
    description:
      'With format, as definitions for a model API (openai: functions of Chat Completions; anthropic: tools of Messages), including the tools that poll, answer and cancel jobs.',
    middleware: [limit],
    request: { query: z.strictObject({ format: z.enum(DEFINITION_FORMATS).optional() }) },
    responses: responses(
      {
        200: json(
          z.union([z.object({ tools: z.array(toolSummary) }), definitions]),
          'The tools.',
          RATE_HEADERS,
        ),
      },
      ['rate-limited'],
    ),
  });
  app.openapi(list, (c) => {
    const { format } = c.req.valid('query');
    const { tools } = engineOf(c);
    return format === undefined
      ? c.json({ tools: tools.map(summaryOf) }, 200)
      : c.json(toolDefinitions(tools, format) as z.output<typeof definitions>, 200);
  });

  const one = createRoute({
    method: 'get',
    path: '/v1/tools/{tool}',
    operationId: 'getTool',
    tags: ['Tools'],
    summary: 'Get a tool with its documentation',
    description: 'With Accept: text/markdown only the documentation, as Markdown.',
    middleware: [limit],
    request: {
      params: z.object({ tool: z.string().openapi({ param: { name: 'tool', in: 'path' } }) }),
      query: z.strictObject({}),
    },
    responses: responses(
      {
        200: {
          description: 'The tool.',
          content: { 'application/json': { schema: tool }, 'text/markdown': { schema: z.string() } },
          headers: RATE_HEADERS,
        },
      },
      ['unknown-tool', 'rate-limited'],
    ),
  });
  app.openapi(one, (c) => {
    const found = engineOf(c).tool(c.req.valid('param').tool);
    const documentation = documentationOf(found, context.settings);
    if (preferredType(c.req.header('accept'), [JSON_TYPE, 'text/markdown']) === 'text/markdown')
      return c.body(`${documentationText(documentation)}\n`, 200, {
        'Content-Type': 'text/markdown; charset=utf-8',
      });
    return c.json(
      {
        ...summaryOf(found),
        input_schema: withKeyProperty(listedSchema(found.inputSchema)),
        ...(found.outputSchema ? { output_schema: listedSchema(found.outputSchema) } : {}),
        documentation,
      },
      200,
    );
  });
}

function summaryOf({ name, title, summary, wait }: Tool): z.output<typeof toolSummary> {
  const self = `/v1/tools/${name}`;
  return { name, title, description: summary, is_short: wait, links: { self, kickoff: `${self}/jobs` } };
}
