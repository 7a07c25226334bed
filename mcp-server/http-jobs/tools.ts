/** `GET /v1/tools`, `GET /v1/tools/{tool}`: the tools, and each one's documentation. */
import { z } from '@hono/zod-openapi';
import { ITEMS } from '../../operations/documentation/items.js';
import type { Tool } from '../../operations/tool/index.js';
import { JSON_TYPE, preferredType } from '../http/accept.js';
import { withKeyProperty } from '../call/idempotency-key.js';
import { listedSchema } from '../listed-tools/schema.js';
import { documentationOf, documentationText } from './rendering/documentation.js';
import type { JobsContext } from './context.js';
import { json } from './rendering/schemas.js';
import { DEFINITION_FORMATS, toolDefinitions } from './rendering/tool-definitions.js';
import { registerRoute } from './route.js';

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
  const { engineOf, settings } = context;
  registerRoute(
    context,
    {
      method: 'get',
      path: '/v1/tools',
      operationId: 'listTools',
      tag: 'Tools',
      summary: 'List the tools',
      description:
        'With format, as definitions for a model API (openai: functions of Chat Completions; anthropic: tools of Messages), including the tools that poll, answer and cancel jobs.',
      rate: 'status',
      query: z.strictObject({ format: z.enum(DEFINITION_FORMATS).optional() }),
      success: { 200: json(z.union([z.object({ tools: z.array(toolSummary) }), definitions]), 'The tools.') },
    },
    (c, { query: { format } }) => {
      const { tools } = engineOf(c);
      return c.json(format === undefined ? { tools: tools.map(summaryOf) } : toolDefinitions(tools, format));
    },
  );
  registerRoute(
    context,
    {
      method: 'get',
      path: '/v1/tools/{tool}',
      operationId: 'getTool',
      tag: 'Tools',
      summary: 'Get a tool with its documentation',
      description: 'With Accept: text/markdown only the documentation, as Markdown.',
      rate: 'status',
      params: z.object({ tool: z.string() }),
      query: z.strictObject({}),
      success: {
        200: {
          description: 'The tool.',
          content: { 'application/json': { schema: tool }, 'text/markdown': { schema: z.string() } },
        },
      },
      problems: ['unknown-tool'],
    },
    (c, { params }) => {
      const found = engineOf(c).tool(params.tool);
      const documentation = documentationOf(found, settings);
      if (preferredType(c.req.header('accept'), [JSON_TYPE, 'text/markdown']) === 'text/markdown')
        return c.body(`${documentationText(documentation)}\n`, 200, {
          'Content-Type': 'text/markdown; charset=utf-8',
        });
      return c.json({
        ...summaryOf(found),
        input_schema: withKeyProperty(listedSchema(found.inputSchema)),
        output_schema: found.outputSchema && listedSchema(found.outputSchema),
        documentation,
      });
    },
  );
}

function summaryOf({ name, title, summary, wait }: Tool): z.output<typeof toolSummary> {
  const self = `/v1/tools/${name}`;
  return { name, title, description: summary, is_short: wait, links: { self, kickoff: `${self}/jobs` } };
}
