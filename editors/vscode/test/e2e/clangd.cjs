// A language server for the tests: it finds an error in each line that says BROKEN.
let input = Buffer.alloc(0);
const send = message => { const body = JSON.stringify({ jsonrpc: '2.0', ...message }); process.stdout.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`); };
const publish = (uri, version, text) => send({ method: 'textDocument/publishDiagnostics', params: { uri, version, diagnostics: text.split('\n').flatMap((line, i) =>
  line.includes('BROKEN') ? [{ range: { start: { line: i, character: 0 }, end: { line: i, character: line.length } }, severity: 1, source: 'clangd', message: 'this does not work' }] : []) } });
const handlers = {
  initialize: ({ id }) => send({ id, result: { capabilities: { textDocumentSync: 1 } } }),
  shutdown: ({ id }) => send({ id, result: null }),
  exit: () => process.exit(),
  'textDocument/didOpen': ({ params: { textDocument: d } }) => publish(d.uri, d.version, d.text),
  'textDocument/didChange': ({ params: { textDocument: d, contentChanges } }) => publish(d.uri, d.version, contentChanges[0].text),
};
process.stdin.on('end', () => process.exit()).on('data', chunk => {
  input = Buffer.concat([input, chunk]);
  for (;;) {
    const end = input.indexOf('\r\n\r\n');
    if (end < 0) { return; }
    const length = Number(/Content-Length: (\d+)/i.exec(input.subarray(0, end).toString())[1]);
    if (input.length < end + 4 + length) { return; }
    const message = JSON.parse(input.subarray(end + 4, end + 4 + length).toString());
    input = input.subarray(end + 4 + length);
    handlers[message.method]?.(message);
  }
});
