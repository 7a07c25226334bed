/**
 * The same screening in one process and one thread, without Temporal: `node lib/alone.js FILE QUERY [TOP]` prints the counts, the best hits and
 * the table's hash, which are those of the tool.
 */
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { planChunks } from './lines.js';
import { mergeHits } from './hits.js';
import { assess } from './models.js';
import { HEADER, screenChunk } from './screen.js';
import { addSummaries, emptySummary } from './summary.js';

const [path = '', query = '', top = '20'] = process.argv.slice(2);
/** @type {import('./summary.js').Question} As the tool's defaults. */
const question = { query, rules: ['lipinski', 'veber'], minSimilarity: 0.3, top: Number(top) };
const folder = await mkdtemp(join(tmpdir(), 'screen-alone-'));
const target = join(folder, 'part');
const hash = createHash('sha256').update(HEADER);
let summary = emptySummary();
/** @type {import('./hits.js').Hit[]} */
let best = [];
try {
  for (const chunk of await planChunks(path, 64 * 1024)) {
    const found = await screenChunk(path, chunk, question, target, 0);
    hash.update(await readFile(`${target}.csv`));
    summary = addSummaries(summary, found);
    best = mergeHits(best, found.best, question.top);
  }
} finally {
  await rm(folder, { recursive: true });
}
const assessed = best.map((hit) => ({
  ...hit,
  druglikeness: assess('druglikeness', hit.smiles),
  logS: assess('solubility', hit.smiles),
  risks: assess('toxicity', hit.smiles),
}));
const { user, system } = process.cpuUsage();
const cpuSeconds = (user + system) / 1e6;
console.log(JSON.stringify({ ...summary, best: assessed, sha256: hash.digest('hex'), cpuSeconds }, null, 2));
