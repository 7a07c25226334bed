export default { home: '.longhaul', port: 7421, temporalPort: 7431, shippedTools: false };
