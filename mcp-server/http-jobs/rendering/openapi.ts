/**
 * `GET /openapi.json`: the API's description (OpenAPI 3.1), and `GET /docs`, the page that shows it. Adds a kickoff path for each
 * current tool, with its arguments, result and rules, to the fixed description of the routes.
 */
import { z } from '@hono/zod-openapi';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonSchema } from '../../../operations/tool/schema.js';
import { rebaseReferences } from '../../../operations/tool/schema-references.js';
import type { CallerTools } from '../../auth/caller-tools.js';
import { withKeyProperty } from '../../call/idempotency-key.js';
import { VERSION } from '../../call/identity.js';
import { listedSchema } from '../../listed-tools/schema.js';
import { documentationOf, documentationText } from './documentation.js';
import type { JobsContext } from '../context.js';
import { KICKOFF_PATH } from './kickoff-schemas.js';
import { isRetryableProblem, Problem, PROBLEM_TYPES, PROBLEMS, problemUri } from './problems.js';
import { RATE_WINDOW_SECONDS } from '../../limits/rates.js';
import { registerRoute } from '../route.js';
import { json, MIN_KEEP_ALIVE_SECONDS } from './schemas.js';
import type { Engine } from '../../../engine/index.js';
import { humanDuration } from '../../../operations/tool/budgets.js';
import { CODE_ROOT } from '../../../platform/code-root.js';
import type { Logger } from '../../../platform/observe/log.js';

type OpenApiDocument = ReturnType<JobsContext['app']['getOpenAPI31Document']>;

const problemKind = z
  .object({
    type: z.string(),
    status: z.int(),
    retryable: z.boolean(),
    title: z.string(),
    advice: z.string(),
  })
  .openapi('ProblemKind');

export const PROBLEM_TABLE = PROBLEM_TYPES.map((type) => {
  const { status, title, advice } = PROBLEMS[type];
  return { type: problemUri(type), status, retryable: isRetryableProblem(type), title, advice };
});

export function registerOpenApi(context: JobsContext): void {
  const { app } = context;
  registerRoute(
    context,
    {
      method: 'get',
      path: '/problems',
      operationId: 'listProblems',
      tag: 'Problems',
      summary: 'List all problem types',
      success: { 200: json(z.object({ problems: z.array(problemKind) }), 'The complete list.') },
    },
    (c) => c.json({ problems: PROBLEM_TABLE }),
  );
  registerRoute(
    context,
    {
      method: 'get',
      path: '/problems/{type}',
      operationId: 'getProblem',
      tag: 'Problems',
      summary: 'Describe a problem type',
      params: z.object({ type: z.string() }),
      success: { 200: json(problemKind, 'The type.') },
      problems: ['unknown-route'],
    },
    (c, { params }) => {
      const found = PROBLEM_TABLE.find(({ type }) => type === `/problems/${params.type}`);
      if (!found) throw new Problem('unknown-route', `type: expected one of ${PROBLEM_TYPES.join(', ')}`);
      return c.json(found);
    },
  );
  let base: OpenApiDocument | undefined;
  app.get('/openapi.json', async (c) => {
    // Lazy: all routes must be registered first.
    base ??= app.getOpenAPI31Document({
      openapi: '3.1.0',
      info: { title: 'Longhaul jobs', version: VERSION },
    });
    const document = withTools(base, context, context.engineOf(c).tools);
    return c.json({ ...document, ...(await about(context)) }, 200, { 'Cache-Control': 'no-cache' });
  });
}

async function about(context: JobsContext) {
  const { limits } = context.limits.rates;
  const warning = await retentionWarning(context.engine);
  const description = [
    'Long-running tools as jobs: start, poll, answer, cancel, collect. A job continues whether or not a client waits.',
    `Rate limits, for each caller and server process: ${limits.kickoff} kickoffs and ${limits.status} status requests in ${RATE_WINDOW_SECONDS} s; RateLimit headers have the remaining quota.`,
    ...(warning ? [`Note: ${warning}`] : []),
    '## Problems',
    'Errors are RFC 9457 problem documents of these types:',
    [
      '| type | status | retryable | meaning |',
      '| --- | --- | --- | --- |',
      ...PROBLEM_TABLE.map(
        ({ type, status, retryable, title, advice }) =>
          `| ${type} | ${status} | ${retryable ? 'yes' : 'no'} | ${title}. ${advice} |`,
      ),
    ].join('\n'),
  ].join('\n\n');
  return {
    info: { title: 'Longhaul jobs', version: VERSION, description },
    'x-problems': PROBLEM_TABLE,
    'x-rate-limits': {
      window_seconds: RATE_WINDOW_SECONDS,
      kickoff: limits.kickoff,
      status: limits.status,
      scope: 'caller and server process',
    },
  };
}

function withTools(base: OpenApiDocument, { settings }: JobsContext, tools: CallerTools) {
  const general = base.paths?.[KICKOFF_PATH]?.post;
  const described = tools.map((tool) => {
    const schemas: Record<string, JsonSchema> = {};
    const documentation = documentationOf(tool, settings);
    const args = componentOf(
      schemas,
      `${tool.name}.arguments`,
      withKeyProperty(listedSchema(tool.inputSchema)),
    );
    const result =
      tool.outputSchema && componentOf(schemas, `${tool.name}.result`, listedSchema(tool.outputSchema));
    const post = {
      ...general,
      operationId: `start_${tool.name}`,
      tags: ['Tools'],
      summary: tool.title,
      description: documentationText(documentation),
      parameters: general?.parameters?.filter((one) => !('name' in one && one.in === 'path')),
      requestBody: {
        required: ((tool.inputSchema['required'] ?? []) as string[]).length > 0,
        content: { 'application/json': { schema: args } },
      },
      responses: { ...general?.responses, ...(result ? { 200: withResult(general, result) } : {}) },
      'x-longhaul': documentation,
    };
    return { path: { [KICKOFF_PATH.replace('{tool}', tool.name)]: { post } }, schemas };
  });
  const paths = Object.assign({}, ...described.map(({ path }) => path)) as OpenApiDocument['paths'];
  const schemas = Object.assign({}, ...described.map((one) => one.schemas)) as Record<string, JsonSchema>;
  return {
    ...base,
    paths: { ...base.paths, ...paths },
    components: { ...base.components, schemas: { ...base.components?.schemas, ...schemas } },
  };
}

function withResult(
  general: NonNullable<NonNullable<OpenApiDocument['paths']>[string]['post']> | undefined,
  result: JsonSchema,
) {
  const response = general?.responses?.['200'] as
    { content: Record<string, { schema: unknown }> } | undefined;
  const schema = { allOf: [response?.content['application/json']?.schema, { properties: { result } }] };
  return { ...response, content: { 'application/json': { schema } } };
}

function componentOf(schemas: Record<string, JsonSchema>, name: string, schema: JsonSchema): JsonSchema {
  const pointer = `#/components/schemas/${name}`;
  schemas[name] = rebaseReferences(pointer, schema);
  return { $ref: pointer };
}

/** Undefined if the namespace's retention is long enough, or Temporal can't be reached. */
async function retentionWarning({ temporal }: Engine): Promise<string | undefined> {
  const { retentionSeconds = Infinity } = (await temporal.facts().catch(() => undefined)) ?? {};
  return retentionSeconds < MIN_KEEP_ALIVE_SECONDS
    ? `this Temporal namespace keeps closed workflows for only ${humanDuration(retentionSeconds)}, so results of jobs are kept no longer than that; raise its retention to ${humanDuration(MIN_KEEP_ALIVE_SECONDS)} or more`
    : undefined;
}

/** Logs the warning once, as soon as Temporal can be reached. */
export async function logRetentionWarning(engine: Engine, logger: Logger): Promise<void> {
  await engine.temporal.whenConnected;
  const warning = await retentionWarning(engine);
  if (warning) logger.warn(warning);
}

/** Assets of the page, which the build copies. */
const FOLDER = join(CODE_ROOT, 'swagger-ui');

const FILES: Record<string, string> = {
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui.css': 'text/css; charset=utf-8',
};

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Longhaul jobs</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="/docs/swagger-ui.css" />
  </head>
  <body>
    <div id="api"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

const START = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#api', deepLinking: true, validatorUrl: null });\n`;

const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

/** `GET /docs`: Swagger UI, served entirely from this process. */
export function registerDocsPage({ app }: JobsContext): void {
  const send = (content: string | Uint8Array<ArrayBuffer>, type: string) =>
    new Response(content, { headers: { ...HEADERS, 'Content-Type': type } });
  app.get('/docs', () => send(PAGE, 'text/html; charset=utf-8'));
  app.get('/docs/start.js', () => send(START, 'text/javascript; charset=utf-8'));
  app.get('/docs/:file', async (c) => {
    const type = Object.hasOwn(FILES, c.req.param('file')) ? FILES[c.req.param('file')] : undefined;
    if (!type) throw new Problem('unknown-route', 'no such file of the documentation page');
    return send(await readFile(join(FOLDER, c.req.param('file'))), type);
  });
}
