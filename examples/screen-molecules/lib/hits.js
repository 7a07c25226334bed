/** The best hits so far. Order and choice don't depend on the order in which chunks end. */

/**
 * @typedef {object} Hit
 * @property {number} line
 * @property {string} name
 * @property {string} smiles canonical
 * @property {number} similarity to the query, rounded to four digits
 */

/** @param {Hit} one @param {Hit} other */
export const byRank = (one, other) => other.similarity - one.similarity || one.line - other.line;

/**
 * @param {Hit[]} best
 * @param {Hit[]} more
 * @param {number} top how many are kept
 * @returns {Hit[]} most similar first
 */
export function mergeHits(best, more, top) {
  return [...best, ...more].sort(byRank).slice(0, top);
}
