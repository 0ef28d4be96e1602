// An extension of somebody else's, as an agent is one: it knows the commands of the server and nothing of ours.
const http = require('node:http');
const vscode = require('vscode');

exports.activate = context => {
  const server = http.createServer((request, response) => {
    if (request.method === 'GET') { response.end('{}'); return; }
    const chunks = [];
    request.on('data', c => chunks.push(c)).on('end', async () => {
      let answer;
      try {
        const { command, args, eval: text } = JSON.parse(Buffer.concat(chunks).toString());
        answer = { value: text ? await new Function('vscode', `return (async () => { ${text} })()`)(vscode) : await vscode.commands.executeCommand(command, ...args) };
      } catch (e) {
        answer = { error: e instanceof Error ? e.message : String(e) };
      }
      response.end(JSON.stringify(answer));
    });
  });
  const listen = left => server.listen(Number(process.env.SIDECAR_TEST_PORT), '127.0.0.1').once('error', e => {
    // the extension host of a page that was reloaded may still hold the port
    if (left > 0) { setTimeout(() => listen(left - 1), 200); } else { throw e; }
  });
  listen(100);
  context.subscriptions.push({ dispose: () => server.close() });
};
