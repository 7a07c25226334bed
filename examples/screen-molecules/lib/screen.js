/** Screens a chunk of the file: rows of the table and of the bad lines go to files, counts and hits come back. */
import { randomUUID } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { mergeHits } from './hits.js';
import { readLines, LINE_LIMIT } from './lines.js';
import { moleculeReader, tanimoto } from './molecules.js';
import { PASSES, RULES } from './rules.js';
import { emptySummary, firstBadLines } from './summary.js';

/** @typedef {import('./hits.js').Hit} Hit */
/** @typedef {import('./rules.js').Rule} Rule */
/** @typedef {import('./summary.js').BadLine} BadLine */
/** @typedef {import('./summary.js').Found} Found */
/** @typedef {import('./summary.js').Question} Question */

export const HEADER =
  'line,name,smiles,mw,logp,donors,acceptors,tpsa,rotatable,rings,lipinski,veber,ghose,egan,similarity\n';
export const BAD_HEADER = 'line,reason,text\n';
/** Molecules between two reports. */
const REPORT_EVERY = 50;

/**
 * @param {string} path of the file of molecules
 * @param {import('./lines.js').Chunk} chunk
 * @param {Question} question
 * @param {string} target prefix of the files that are written: `.csv`, `.bad.csv`, and at last `.json`
 * @param {number} floor similarity below which a hit can't be among the best any more
 * @param {(lines: number) => void} [onLines] is given the number of lines that are done
 * @returns {Promise<Found>}
 */
export async function screenChunk(path, chunk, question, target, floor, onLines) {
  const read = await moleculeReader();
  const query = read(question.query);
  if ('reason' in query) throw new Error(`query: ${query.reason}`);
  const summary = emptySummary();
  /** @type {Hit[]} */
  let best = [];
  /** @type {BadLine[]} */
  const bad = [];
  const rows = [];
  for await (const { line, text, isTooLong } of readLines(path, chunk)) {
    const done = line - chunk.line + 1;
    if (done % REPORT_EVERY === 0) onLines?.(done);
    const [smiles = '', ...rest] = text.trim().split(/[\t ,;]+/);
    if (smiles === '' || (line === 1 && /^(canonical_)?smiles$/i.test(smiles))) {
      summary.blankLines += 1;
      continue;
    }
    const molecule = isTooLong ? { reason: `longer than ${LINE_LIMIT} bytes` } : read(smiles);
    if ('reason' in molecule) {
      bad.push({ line, reason: molecule.reason, text: text.trim().slice(0, 120) });
      continue;
    }
    const { properties } = molecule;
    const similarity = Number(tanimoto(query.fingerprint, molecule.fingerprint).toFixed(4));
    const name = rest.join(' ').slice(0, 100);
    const passed = RULES.filter((rule) => PASSES[rule](properties));
    summary.molecules += 1;
    for (const rule of passed) summary.passed[rule] += 1;
    if (question.rules.every((rule) => passed.includes(rule))) {
      summary.passedAll += 1;
      if (similarity >= question.minSimilarity) {
        summary.hits += 1;
        if (similarity >= floor)
          best = mergeHits(best, [{ line, name, smiles: molecule.smiles, similarity }], question.top);
      }
    }
    rows.push(rowOf(line, name, molecule, passed, similarity));
  }
  summary.badLines = bad.length;
  await writeWhole(`${target}.csv`, rows.join(''));
  await writeWhole(`${target}.bad.csv`, bad.map((one) => csv([one.line, one.reason, one.text])).join(''));
  const found = { ...summary, best, firstBad: firstBadLines(bad, []) };
  await writeWhole(`${target}.json`, JSON.stringify(found));
  return found;
}

/**
 * @param {string} target
 * @returns {Promise<Found | undefined>} what an earlier attempt or run has found, if it ended
 */
export async function foundBefore(target) {
  const text = await readFile(`${target}.json`, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : JSON.parse(text);
}

/**
 * @param {number} line
 * @param {string} name
 * @param {import('./molecules.js').Molecule} molecule
 * @param {Rule[]} passed
 * @param {number} similarity
 */
function rowOf(line, name, { smiles, properties }, passed, similarity) {
  const { mw, logP, donors, acceptors, tpsa, rotatable, rings } = properties;
  const numbers = [mw.toFixed(2), logP.toFixed(3), donors, acceptors, tpsa.toFixed(2), rotatable, rings];
  const rules = RULES.map((rule) => (passed.includes(rule) ? 1 : 0));
  return csv([line, name, smiles, ...numbers, ...rules, similarity]);
}

/** @param {(string | number)[]} cells */
function csv(cells) {
  const quoted = cells.map((cell) =>
    /[",\r\n]/.test(`${cell}`) ? `"${`${cell}`.replaceAll('"', '""')}"` : cell,
  );
  return `${quoted.join(',')}\n`;
}

/**
 * A file of this name is whole: an attempt that dies leaves one of another name. Attempts that run side by side, since one of them is
 * taken for dead, write the same.
 *
 * @param {string} path
 * @param {string} text
 */
async function writeWhole(path, text) {
  const unfinished = `${path}.${randomUUID()}.part`;
  await writeFile(unfinished, text);
  await rename(unfinished, path);
}
