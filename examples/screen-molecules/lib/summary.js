/** Counts of a chunk, and of chunks together. Workflows load this file, so it imports nothing of Node. */
import { RULES } from './rules.js';

/** @typedef {import('./hits.js').Hit} Hit */
/** @typedef {import('./rules.js').Rule} Rule */
/** @typedef {{ line: number, reason: string, text: string }} BadLine */

/**
 * @typedef {object} Question what is asked of every molecule
 * @property {string} query SMILES
 * @property {Rule[]} rules that a hit has to pass
 * @property {number} minSimilarity that a hit needs
 * @property {number} top how many hits are kept
 */

/**
 * @typedef {object} Summary
 * @property {number} molecules
 * @property {number} blankLines
 * @property {number} badLines
 * @property {Record<Rule, number>} passed molecules that pass each rule
 * @property {number} passedAll molecules that pass all rules of the question
 * @property {number} hits those of them that are similar enough
 */

/** @typedef {Summary & { best: Hit[], firstBad: BadLine[] }} Found */

/** Bad lines that a summary names; the file of bad lines has all of them. */
const FIRST_BAD = 10;

/** @returns {Summary} */
export const emptySummary = () => ({
  molecules: 0,
  blankLines: 0,
  badLines: 0,
  passed: { lipinski: 0, veber: 0, ghose: 0, egan: 0 },
  passedAll: 0,
  hits: 0,
});

/** @param {Summary} one @param {Summary} other @returns {Summary} */
export function addSummaries(one, other) {
  const sum = { ...one, passed: { ...one.passed } };
  for (const key of /** @type {const} */ (['molecules', 'blankLines', 'badLines', 'passedAll', 'hits']))
    sum[key] += other[key];
  for (const rule of RULES) sum.passed[rule] += other.passed[rule];
  return sum;
}

/** @param {BadLine[]} one @param {BadLine[]} other @returns {BadLine[]} */
export function firstBadLines(one, other) {
  return [...one, ...other].sort((a, b) => a.line - b.line).slice(0, FIRST_BAD);
}
