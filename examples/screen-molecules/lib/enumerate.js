/**
 * A library of 250,000 molecules: each of 25 scaffolds with each of 100 substituents at two places. The order is shuffled by a fixed
 * stride, so that the first thousand are a cross-section. As a program: `node lib/enumerate.js FILE [COUNT]`.
 */
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';

const SCAFFOLDS = [
  ['c1ccc(', ')cc1', ''], // benzene, 1,4
  ['c1cccc(', ')c1', ''], // benzene, 1,3
  ['c1ccc(', ')nc1', ''], // pyridine
  ['c1cnc(', ')nc1', ''], // pyrimidine
  ['c1cnc(', ')cn1', ''], // pyrazine
  ['c1ccc2nc(', ')ccc2c1', ''], // quinoline
  ['c1ccc2c(', ')nccc2c1', ''], // isoquinoline
  ['c1ccc2ncnc(', ')c2c1', ''], // quinazoline
  ['c1ccc2[nH]c(', ')cc2c1', ''], // indole
  ['c1ccc2[nH]c(', ')nc2c1', ''], // benzimidazole
  ['c1ccc2oc(', ')nc2c1', ''], // benzoxazole
  ['c1ccc2sc(', ')nc2c1', ''], // benzothiazole
  ['c1csc(', ')n1', ''], // thiazole
  ['c1ccc(', ')s1', ''], // thiophene
  ['c1ccc(', ')o1', ''], // furan
  ['c1noc(', ')n1', ''], // oxadiazole
  ['c1cc(', ')n[nH]1', ''], // pyrazole
  ['C1CCN(', ')CC1', ''], // piperidine
  ['C1CCC(', ')CC1', ''], // cyclohexane
  ['C1CN(', ')C1', ''], // azetidine
  ['NC(=O)c1ccc(', ')cc1', ''], // benzamide
  ['NS(=O)(=O)c1ccc(', ')cc1', ''], // benzenesulfonamide
  ['c1ccc2c(c1)CCN(', ')C2', ''], // tetrahydroisoquinoline
  ['c1ccc(-c2ccc(', ')cc2)cc1', ''], // biphenyl
  ['Oc1ccc(', ')cc1', ''], // phenol
].map(([head, tail]) => /** @type {const} */ ([head, tail]));
const LINKERS = ['', 'C', 'CC', 'O', 'OC', 'N', 'CN', 'C(=O)', 'C(=O)N', 'S(=O)(=O)'];
const CAPS = [
  ...['C', 'C(C)C', 'C3CC3', 'C(F)(F)F', 'CCO', 'CC(=O)O', 'c3ccccc3', 'c3ccncc3', 'c3ccc(Cl)cc3'],
  'N3CCOCC3',
];
const SUBSTITUENTS = LINKERS.flatMap((linker) => CAPS.map((cap) => linker + cap));

export const MOLECULES = SCAFFOLDS.length * SUBSTITUENTS.length ** 2;
/** Without a common factor with MOLECULES, so that every molecule is met once. */
const STRIDE = 104_729;

/** @param {number} index from 0 to MOLECULES - 1 @returns {string} a line: SMILES, tab, name */
export function moleculeLine(index) {
  const at = (index * STRIDE) % MOLECULES;
  const count = SUBSTITUENTS.length;
  const scaffold = Math.floor(at / count ** 2);
  const first = Math.floor(at / count) % count;
  const second = at % count;
  const [head, tail] = /** @type {readonly [string, string]} */ (SCAFFOLDS[scaffold]);
  // The first substituent comes before the scaffold, with ring numbers of its own.
  const before = /** @type {string} */ (SUBSTITUENTS[first]).replaceAll('3', '4');
  const smiles = `C(${before})${head}${SUBSTITUENTS[second]}${tail}`;
  const number = (/** @type {number} */ value) => String(value + 1).padStart(3, '0');
  return `${smiles}\tS${number(scaffold)}-A${number(first)}-B${number(second)}`;
}

/**
 * Writes the first molecules of the library, a line each.
 *
 * @param {string} path
 * @param {number} count
 */
export async function writeLibrary(path, count = MOLECULES) {
  await mkdir(dirname(path), { recursive: true });
  const lines = function* () {
    for (let index = 0; index < count; index += 1) yield `${moleculeLine(index)}\n`;
  };
  await pipeline(Readable.from(lines()), createWriteStream(path));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [path = 'output/library.smi', count = MOLECULES] = process.argv.slice(2);
  await writeLibrary(path, Number(count));
  console.log(`${path}: ${count} molecules`);
}
