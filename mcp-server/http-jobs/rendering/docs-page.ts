/** `GET /docs`: Swagger UI, served entirely from this process. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CODE_ROOT } from '../../../platform/code-root.js';
import type { JobsContext } from '../context.js';
import { Problem } from './problems.js';

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
