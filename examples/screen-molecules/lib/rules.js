/** Rules of thumb for oral drugs, each over a molecule's properties. */

/** @typedef {import('./molecules.js').Properties} Properties */

export const RULES = /** @type {const} */ (['lipinski', 'veber', 'ghose', 'egan']);

/** @typedef {(typeof RULES)[number]} Rule */

/** @type {Record<Rule, (molecule: Properties) => boolean>} */
export const PASSES = {
  // At most one of the four may be exceeded.
  lipinski: ({ mw, logP, donors, acceptors }) =>
    [mw > 500, logP > 5, donors > 5, acceptors > 10].filter(Boolean).length <= 1,
  veber: ({ rotatable, tpsa }) => rotatable <= 10 && tpsa <= 140,
  ghose: ({ mw, logP, atoms, refractivity }) =>
    isWithin(mw, 160, 480) &&
    isWithin(logP, -0.4, 5.6) &&
    isWithin(atoms, 20, 70) &&
    isWithin(refractivity, 40, 130),
  egan: ({ logP, tpsa }) => logP <= 5.88 && tpsa <= 131.6,
};

/** @param {number} value @param {number} least @param {number} most */
function isWithin(value, least, most) {
  return value >= least && value <= most;
}
