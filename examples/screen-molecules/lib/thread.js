/** Runs in threads of the pool: chemistry computes for seconds, and would keep the worker from its heartbeats. */
import { assess } from './models.js';
import { moleculeReader } from './molecules.js';
import { screenChunk } from './screen.js';

/** @typedef {import('node:worker_threads').MessagePort} MessagePort */

/** @param {{ smiles: string }} task @returns {Promise<string | undefined>} why it can't be read */
export async function check({ smiles }) {
  const molecule = (await moleculeReader())(smiles);
  return 'reason' in molecule ? molecule.reason : undefined;
}

/**
 * @typedef {object} ScreenTask
 * @property {string} path
 * @property {import('./lines.js').Chunk} chunk
 * @property {import('./screen.js').Question} question
 * @property {string} target
 * @property {number} floor
 * @property {MessagePort} port
 */

/** @param {ScreenTask} task */
export function screen({ path, chunk, question, target, floor, port }) {
  return screenChunk(path, chunk, question, target, floor, (lines) => port.postMessage(lines));
}

/** @param {{ model: import('./models.js').Model, smiles: string }} task */
export function predict({ model, smiles }) {
  return assess(model, smiles);
}
