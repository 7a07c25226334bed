export default {
  home: '.longhaul',
  port: 7501,
  temporalPort: 7511,
  shippedTools: false,
  // Callers can have documents read in these folders, and nowhere else. Add your own.
  dataFolders: ['node_modules/longhaul/docs'],
};
