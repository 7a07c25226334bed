/**
 * Writes the trace of a real run into docs/traces.md, between its two comments.
 *
 *     node --import jiti/register test/traces/print-trace.ts
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { eventually, TestHome } from '../stack/cli-process.js';
import { WireClient } from '../support/mcp.js';
import { Collector } from './collector.js';
import { ClientTrace, PIPELINE } from './support.js';
import { treeOf } from './tree.js';

const DOCUMENT = 'docs/traces.md';
const BEGIN = '<!-- trace: begin -->';
const END = '<!-- trace: end -->';

const collector = await Collector.start();
const home = await TestHome.create();
const trace = new ClientTrace();
try {
  const pipelines = join(home.path, 'pipelines');
  mkdirSync(pipelines);
  writeFileSync(join(pipelines, 'traced.yml'), PIPELINE);
  await home.up({
    LONGHAUL_PROJECT: resolve('test/traces/project'),
    LONGHAUL_PIPELINE_FOLDERS: pipelines,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: '100',
  });
  const client = new WireClient(`${home.url}/mcp`);
  const { result } = await client.request('tools/call', {
    name: 'traced',
    arguments: { ledger: join(home.path, 'ledger') },
    _meta: trace.fields,
  });
  await client.until(result.taskId, 'completed');
  await eventually('the run has ended', () =>
    collector.trace(trace.traceId).some(({ name }) => name.startsWith('RunWorkflow')),
  );
} finally {
  await home.remove();
  await collector.stop();
}
const tree = treeOf(collector.trace(trace.traceId)).join('\n');
const text = readFileSync(DOCUMENT, 'utf8');
const [before, after] = [text.indexOf(BEGIN) + BEGIN.length, text.indexOf(END)];
writeFileSync(DOCUMENT, `${text.slice(0, before)}\n\n\`\`\`\n${tree}\n\`\`\`\n\n${text.slice(after)}`);
console.log(tree);
