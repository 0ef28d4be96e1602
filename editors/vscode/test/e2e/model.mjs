// A language model that a test plays, over the Messages wire.
import * as http from 'node:http';

/** One request, and what is answered. */
class Turn {
  constructor(body, response) {
    this.body = body;
    this.response = response;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    this.send({ type: 'message_start', message: { model: 'played', usage: { input_tokens: 1, output_tokens: 1 } } });
    this.blocks = 0;
  }

  send(event) { this.response.write(`data: ${JSON.stringify(event)}\n\n`); }

  block(start, delta) {
    this.send({ type: 'content_block_start', index: this.blocks, content_block: start });
    this.send({ type: 'content_block_delta', index: this.blocks, delta });
    this.send({ type: 'content_block_stop', index: this.blocks++ });
  }

  end(reason) {
    this.send({ type: 'message_delta', delta: { stop_reason: reason }, usage: { output_tokens: 1 } });
    this.send({ type: 'message_stop' });
    this.response.end();
  }

  call(...calls) {
    for (const [name, args] of calls) {
      this.block({ type: 'tool_use', id: `t${this.blocks}`, name, input: {} }, { type: 'input_json_delta', partial_json: JSON.stringify(args) });
    }
    this.end('tool_use');
  }

  say(text) {
    this.block({ type: 'text', text: '' }, { type: 'text_delta', text });
    this.end('end_turn');
  }
}

/** Serves a model; next waits for what it is asked. */
export async function model() {
  const asked = [], waiting = [];
  const server = http.createServer(async (request, response) => {
    let body = '';
    for await (const part of request) { body += part; }
    const turn = new Turn(body, response);
    const first = waiting.shift();
    if (first) { first(turn); } else { asked.push(turn); }
  });
  await new Promise(r => server.listen(0, '127.0.0.1', r));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    next: () => asked.length > 0 ? Promise.resolve(asked.shift()) : new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error('the model was not asked')), 30_000);
      waiting.push(turn => { clearTimeout(late); resolve(turn); });
    }),
    close: () => new Promise(r => { server.close(r); server.closeAllConnections(); }),
  };
}
