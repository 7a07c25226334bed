/** How to add the server to the clients that most people have. */
export function clientInstructions(url: string): string[] {
  const vsCode = JSON.stringify({ name: 'longhaul', type: 'http', url });
  const cursor = JSON.stringify({ mcpServers: { longhaul: { url } } });
  return [
    'Add it to a client:',
    `  Claude Code   claude mcp add --transport http longhaul ${url}`,
    `  VS Code       code --add-mcp '${vsCode}'`,
    `  Cursor        in ~/.cursor/mcp.json: ${cursor}`,
  ];
}
