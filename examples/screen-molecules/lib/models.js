/** OpenChemLib's models: they look for thousands of fragments in a molecule, which takes a third of a second each, so only hits are assessed. */
import {
  DruglikenessPredictor,
  Molecule,
  MoleculeProperties,
  Resources,
  ToxicityPredictor,
} from 'openchemlib';

export const MODELS = /** @type {const} */ (['druglikeness', 'toxicity', 'solubility']);

/** @typedef {(typeof MODELS)[number]} Model */
/** @typedef {Record<'mutagenic' | 'tumorigenic' | 'irritant' | 'reproductive', 'none' | 'low' | 'high' | 'unknown'>} Risks */
/** @typedef {number | Risks} Assessment */

/** @type {Map<string, (molecule: Molecule) => Assessment>} */
const loaded = new Map();

/** @param {Model} model @returns {(molecule: Molecule) => Assessment} */
function load(model) {
  if (model === 'solubility') return (molecule) => round(new MoleculeProperties(molecule).logS);
  Resources.registerFromNodejs();
  if (model === 'druglikeness') {
    const predictor = new DruglikenessPredictor();
    return (molecule) => round(predictor.assessDruglikeness(molecule));
  }
  const predictor = new ToxicityPredictor();
  return (molecule) => {
    /** @param {number} type */
    const risk = (type) => nameOfRisk(predictor.assessRisk(molecule, type));
    return {
      mutagenic: risk(ToxicityPredictor.TYPE_MUTAGENIC),
      tumorigenic: risk(ToxicityPredictor.TYPE_TUMORIGENIC),
      irritant: risk(ToxicityPredictor.TYPE_IRRITANT),
      reproductive: risk(ToxicityPredictor.TYPE_REPRODUCTIVE_EFFECTIVE),
    };
  };
}

/** @param {number} risk */
function nameOfRisk(risk) {
  if (risk === ToxicityPredictor.RISK_NO) return 'none';
  if (risk === ToxicityPredictor.RISK_LOW) return 'low';
  return risk === ToxicityPredictor.RISK_HIGH ? 'high' : 'unknown';
}

/** @param {number} value */
const round = (value) => Number(value.toFixed(2));

/** @param {Model} model @param {string} smiles @returns {Assessment} drug-likeness; risks; or log of the solubility in mol/l */
export function assess(model, smiles) {
  const predict = loaded.get(model) ?? load(model);
  loaded.set(model, predict);
  return predict(Molecule.fromSmiles(smiles, { noCoordinates: true }));
}
