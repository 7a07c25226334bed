export default { home: '.longhaul', port: 7461, temporalPort: 7471, shippedTools: false };
