/** Properties and fingerprints of molecules, by RDKit. A process or thread loads it once. */
import { createRequire } from 'node:module';

/** @typedef {import('@rdkit/rdkit').MainModule} RDKit */

/** @type {Promise<{ rdkit: RDKit, errors: import('@rdkit/rdkit').Log | null }> | undefined} */
let loading;

function load() {
  return (loading ??= (async () => {
    /** @type {() => Promise<RDKit>} */
    const initialize = createRequire(import.meta.url)('@rdkit/rdkit');
    const rdkit = await initialize();
    return { rdkit, errors: rdkit.set_log_capture('rdApp.error') };
  })());
}

/**
 * @typedef {object} Properties
 * @property {number} mw molecular weight
 * @property {number} logP Crippen's
 * @property {number} donors hydrogen-bond donors as Lipinski counts them: NH and OH
 * @property {number} acceptors hydrogen-bond acceptors as Lipinski counts them: N and O
 * @property {number} tpsa topological polar surface area, in square angstroms
 * @property {number} rotatable rotatable bonds
 * @property {number} rings
 * @property {number} atoms with hydrogens
 * @property {number} refractivity Crippen's
 */

/**
 * @typedef {object} Molecule
 * @property {string} smiles canonical
 * @property {Properties} properties
 * @property {Uint8Array} fingerprint Morgan, radius 2, 2,048 bits
 */

const FINGERPRINT = JSON.stringify({ radius: 2, nBits: 2048 });

/**
 * @returns {Promise<(smiles: string) => Molecule | { reason: string }>} reads one SMILES, or says why it can't be read
 */
export async function moleculeReader() {
  const { rdkit, errors } = await load();
  return (smiles) => {
    const molecule = rdkit.get_mol(smiles);
    if (!molecule) {
      const reason = reasonOf(errors?.get_buffer() ?? '');
      errors?.clear_buffer();
      return { reason };
    }
    try {
      const found = JSON.parse(molecule.get_descriptors());
      return {
        smiles: molecule.get_smiles(),
        properties: {
          mw: found.amw,
          logP: found.CrippenClogP,
          donors: found.lipinskiHBD,
          acceptors: found.lipinskiHBA,
          tpsa: found.tpsa,
          rotatable: found.NumRotatableBonds,
          rings: found.NumRings,
          atoms: found.NumAtoms,
          refractivity: found.CrippenMR,
        },
        fingerprint: molecule.get_morgan_fp_as_uint8array(FINGERPRINT),
      };
    } finally {
      // Memory of WebAssembly: no garbage collector frees it.
      molecule.delete();
    }
  };
}

/** @param {string} log of RDKit: lines with a time, the first of which says most @returns {string} */
function reasonOf(log) {
  const [first = ''] = log.split('\n');
  const text = first.replace(/^\[[\d:]+\] (SMILES Parse Error: )?/, '');
  return text.replace(/ (while parsing|for input): .*/, '').trim() || 'no valid SMILES';
}

/**
 * @param {Uint8Array} one
 * @param {Uint8Array} other of the same length
 * @returns {number} from 0 to 1
 */
export function tanimoto(one, other) {
  let both = 0;
  let either = 0;
  for (let index = 0; index < one.length; index += 1) {
    both += BITS[/** @type {number} */ (one[index]) & /** @type {number} */ (other[index])] ?? 0;
    either += BITS[/** @type {number} */ (one[index]) | /** @type {number} */ (other[index])] ?? 0;
  }
  return either === 0 ? 0 : both / either;
}

const BITS = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll('0', '').length);
