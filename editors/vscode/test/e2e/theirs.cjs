// An MCP server for the tests: it has one tool, which says what it is told, and by which process (in a
// sandbox all have the same number).
const self = require('node:crypto').randomUUID();
const send = message => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const handlers = {
  initialize: ({ id, params }) => send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'theirs', version: '1' } } }),
  ping: ({ id }) => send({ id, result: {} }),
  'tools/list': ({ id }) => send({ id, result: { tools: [{ name: 'echo', description: 'Says what it is told.', inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }, annotations: { readOnlyHint: true } }] } }),
  'tools/call': ({ id, params }) => send({ id, result: { content: [{ type: 'text', text: `you said ${params.arguments.text} to ${self}` }] } }),
};
require('node:readline').createInterface({ input: process.stdin }).on('line', line => {
  const message = JSON.parse(line);
  const handle = handlers[message.method];
  if (handle) { handle(message); } else if (message.id !== undefined) { send({ id: message.id, error: { code: -32601, message: 'method not found' } }); }
}).on('close', () => process.exit());
