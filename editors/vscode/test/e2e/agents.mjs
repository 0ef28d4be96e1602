// Agents that tests play: each is a program of the server's that hears from here what to say.
import * as net from 'node:net';
import * as path from 'node:path';
import * as readline from 'node:readline';

const relay = path.join(import.meta.dirname, 'relay.cjs');

/** One program, and the conversation that it has. */
class Agent {
  constructor(socket) {
    this.socket = socket;
    this.received = []; // what came, oldest first
    this.waiting = []; // who waits for what
    this.asked = 0;
    this.session = undefined;
    readline.createInterface({ input: socket }).on('line', line => this.take(JSON.parse(line)));
    socket.on('error', () => {});
    this.gone = new Promise(r => socket.on('close', r));
  }

  take(m) {
    if (m.method === 'initialize') {
      this.send({ id: m.id, result: { protocolVersion: 1, agentInfo: { name: 'played', version: '1.2.3' }, agentCapabilities: { loadSession: true, sessionCapabilities: { fork: {} }, promptCapabilities: { image: true, embeddedContext: true } }, authMethods: [] } });
    } else if (m.method === 'session/new') {
      this.session = `played-${process.pid}-${++sessions}`;
      this.send({ id: m.id, result: { sessionId: this.session, modes: { currentModeId: 'code', availableModes: [{ id: 'code', name: 'Code' }, { id: 'plan', name: 'Think first' }] } } });
    } else if (m.method === 'session/fork') {
      this.forked = m.params.sessionId;
      this.session = `played-${process.pid}-${++sessions}`;
      this.send({ id: m.id, result: { sessionId: this.session } });
    } else if (m.method === 'session/load') {
      this.session = m.params.sessionId;
      this.send({ id: m.id, result: {} });
    } else if (m.method && m.id !== undefined && m.method !== 'session/prompt') {
      this.send({ id: m.id, result: {} });
    } else {
      this.received.push(m);
      this.waiting = this.waiting.filter(w => !w());
    }
  }

  send(m) { this.socket.write(`${JSON.stringify(m.do ? m : { jsonrpc: '2.0', ...m })}\n`); }

  /** The next message that fits; those before it are let go. */
  next(fits) {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`the agent never received what is waited for, but ${JSON.stringify(this.received)}`)), 60_000);
      const look = () => {
        const at = this.received.findIndex(fits);
        if (at < 0) { return false; }
        clearTimeout(late);
        resolve(this.received.splice(0, at + 1).at(-1));
        return true;
      };
      if (!look()) { this.waiting.push(look); }
    });
  }

  /** Waits for a prompt, and for the text of it. */
  async prompt() {
    this.turn = await this.next(m => m.method === 'session/prompt');
    return this.turn.params.prompt.map(c => c.text ?? c.uri ?? c.resource?.text ?? c.type).join('\n');
  }

  cancelled() { return this.next(m => m.method === 'session/cancel'); }
  update(update) { this.send({ method: 'session/update', params: { sessionId: this.session, update } }); }
  say(text, messageId) { this.update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text }, ...(messageId ? { messageId } : {}) }); }
  think(text) { this.update({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text } }); }
  call(toolCallId, fields) { this.update({ sessionUpdate: 'tool_call', toolCallId, ...fields }); }
  change(toolCallId, fields) { this.update({ sessionUpdate: 'tool_call_update', toolCallId, ...fields }); }
  end(stopReason = 'end_turn') { this.send({ id: this.turn.id, result: { stopReason } }); }

  /** Asks for a permission; gives the option that was chosen. */
  async ask(toolCall, options) {
    const id = `ask-${++this.asked}`;
    this.send({ id, method: 'session/request_permission', params: { sessionId: this.session, toolCall, options } });
    const { result } = await this.next(m => m.id === id);
    return result.outcome.optionId ?? result.outcome.outcome;
  }

  /** Asks something of the server, and gives what it answers. */
  async request(method, params) {
    const id = `asks-${++this.asked}`;
    this.send({ id, method, params: { sessionId: this.session, ...params } });
    return (await this.next(m => m.id === id)).result;
  }

  /** Writes a file where it works. */
  async write(file, text) {
    this.send({ do: 'write', path: file, text });
    await this.next(m => m.did === 'write');
  }

  /** Ends, as programs end that fail. */
  async die(lines) {
    this.send({ do: 'complain', text: lines });
    await this.next(m => m.did === 'complain');
    this.send({ do: 'exit', code: 3 });
    await this.gone;
  }
}

let sessions = 0;

/** Waits for programs of agents; settings() is what makes the server know them. */
export async function agents() {
  const come = [], waiting = [], open = new Set();
  const server = net.createServer(socket => {
    open.add(socket.on('close', () => open.delete(socket)));
    const agent = new Agent(socket);
    const first = waiting.shift();
    first ? first(agent) : come.push(agent);
  });
  await new Promise(r => server.listen(0, '127.0.0.1', r));
  const { port } = server.address();
  return {
    /** The profile of such an agent. Its program has to be where a confined one may read it. */
    profile: (relay, args = []) => ({ program: process.execPath, acp: [relay, String(port), ...args], hosts: [`localhost:${port}`] }),
    /** The next one that is started. */
    next: () => come.length > 0 ? Promise.resolve(come.shift()) : new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error('no agent was started')), 60_000);
      waiting.push(agent => { clearTimeout(late); resolve(agent); });
    }),
    /** Ends it, with the conversations that are still open: after a step that failed, nobody else does. */
    close: () => new Promise(r => {
      server.close(r);
      for (const socket of open) { socket.destroy(); }
    }),
    relay,
  };
}
