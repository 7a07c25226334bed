export default { home: '.longhaul', port: 7521, temporalPort: 7531, mailbox: true, shippedTools: false };
