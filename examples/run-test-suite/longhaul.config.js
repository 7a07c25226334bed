/** Suites are run in these folders only: a call runs the code that it finds there. */
export default { home: '.longhaul', port: 7481, temporalPort: 7491, dataFolders: ['.'], shippedTools: false };
