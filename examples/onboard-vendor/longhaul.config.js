export default { home: '.longhaul', port: 7441, temporalPort: 7451, shippedTools: false };
