import { z } from 'zod';
import { defineTool } from 'longhaul';
import { RULES } from '../lib/rules.js';

const risk = z.enum(['none', 'low', 'high', 'unknown']);
const count = z.number().int();
const badLine = z.object({ line: count, reason: z.string(), text: z.string() });
const hit = z.object({
  line: count,
  name: z.string(),
  smiles: z.string(),
  similarity: z.number(),
  druglikeness: z.number(),
  logS: z.number(),
  risks: z.object({ mutagenic: risk, tumorigenic: risk, irritant: risk, reproductive: risk }),
});

export default defineTool({
  name: 'screen_molecules',
  title: 'Screen molecules',
  description: {
    does: 'Screens a file of molecules: rule filters, similarity to a query molecule, and models of drug-likeness, solubility and toxicity for the best hits.',
    useWhen: 'Use it for files of SMILES, one a line and a name after it, of up to millions of lines.',
    returns: 'counts, the best hits, the first bad lines, and the addresses of both whole tables.',
  },
  input: z.object({
    path: z.string().min(1).max(4096).describe('The file, in a data folder: absolute, or relative to one.'),
    query: z
      .string()
      .max(1000)
      .regex(/^[A-Za-z0-9@+\-[\]()=#$:./\\%*]+$/)
      .describe('SMILES of the molecule that hits resemble.'),
    rules: z.array(z.enum(RULES)).max(4).default(['lipinski', 'veber']).describe('Rules that a hit passes.'),
    minSimilarity: z.number().min(0).max(1).default(0.3).describe('Tanimoto of Morgan fingerprints.'),
    top: z.number().int().min(1).max(100).default(20).describe('Number of best hits.'),
    continues: z
      .string()
      .regex(/^[\w.-]{1,200}$/)
      .optional()
      .describe('Token of a run with the same arguments that failed: its finished chunks are taken over.'),
  }),
  output: z.object({
    lines: count,
    molecules: count,
    blankLines: count,
    badLines: z.object({ count, first: z.array(badLine), uri: z.string().optional() }),
    passed: z.object({ lipinski: count, veber: count, ghose: count, egan: count, all: count }),
    hits: count,
    best: z.array(hit),
    table: z.object({ uri: z.string(), bytes: count, sha256: z.string() }),
    chunks: z.object({ total: count, takenOver: count }),
  }),
  deadlineSeconds: 24 * 3600,
  estimate: { seconds: 10, per: { argument: 'path', of: 'file_bytes', seconds: 15e-6 } },
  cleanup: 'the parts of the table are removed; those of a failed run stay for three days, for `continues`.',
  retryableErrors: [],
  questions: {},
  annotations: { readOnlyHint: true, openWorldHint: false },
  example: {
    input: { path: 'output/library.smi', query: 'NC(=O)c1ccc(N2CCOCC2)cc1' },
    output: {
      lines: 250_001,
      molecules: 250_000,
      blankLines: 0,
      badLines: { count: 1, first: [{ line: 17, reason: 'unclosed ring', text: 'C1CC' }] },
      passed: { lipinski: 248_000, veber: 249_000, ghose: 190_000, egan: 240_000, all: 247_500 },
      hits: 1,
      best: [
        {
          line: 4711,
          name: 'S021-A001-B010',
          smiles: 'CCNC(=O)c1ccc(N2CCOCC2)cc1',
          similarity: 0.71,
          druglikeness: 2.4,
          logS: -2.5,
          risks: { mutagenic: 'none', tumorigenic: 'none', irritant: 'none', reproductive: 'none' },
        },
      ],
      table: { uri: 'longhaul://operations/TOKEN/artifacts/table.csv', bytes: 25_000_000, sha256: '5f3c...' },
      chunks: { total: 200, takenOver: 0 },
    },
  },
});
