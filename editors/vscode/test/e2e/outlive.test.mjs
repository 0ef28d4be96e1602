// An agent that works on when its window closes, and the next window, which has it as it is then.
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { after, before } from 'node:test';
import { agents } from './agents.mjs';
import { eventually } from './person.mjs';
import { open, sandbox, steps, tidy } from './workbench.mjs';

const vsix = path.resolve(process.env.VSIX ?? path.join(import.meta.dirname, '../../sidecar.vsix'));
let box, server, browser, me, page, played, ada;
const test = steps(() => ({ me, page, shot: path.join(process.env.SHOTS ?? box.root, 'failed.png') }), 180_000);

before(async () => {
  box = sandbox({ 'notes.txt': 'one\ntwo\n' });
  played = await agents();
  const relay = path.join(box.ws, 'relay.cjs'); // where a confined program may read it
  fs.copyFileSync(played.relay, relay);
  fs.mkdirSync(`${box.home}/.config/sidecar`, { recursive: true });
  fs.writeFileSync(`${box.home}/.config/sidecar/settings.json`, JSON.stringify({ runs: { outliveEditor: true }, agents: { ada: played.profile(relay) } }));
  ({ server, browser, page, me } = await open(box, vsix));
  page.setDefaultTimeout(20_000);
}, { timeout: 240_000 });

after(async () => {
  await played?.close();
  await tidy({ box, server, browser });
});

const run = async () => (await me.agent('sidecar.agent.runs', { all: true })).runs[0];
const proc = (p, file) => fs.readFileSync(`/proc/${p}/${file}`, 'utf8');
/** The servers that run of this extension: what the window has started, and the one that outlives it. */
const servers = detached => fs.readdirSync('/proc').filter(p => /^\d+$/.test(p)).filter(p => {
  try {
    const [program, ...args] = proc(p, 'cmdline').split('\0');
    return program.startsWith(`${box.extensions}/`) && args[0] === 'serve' && args.includes('--detached') === detached;
  } catch { return false; }
});
/** Closes the window, and ends what a workbench in a browser keeps of it for a while: the process of its extensions. */
async function close() {
  const [started] = servers(false);
  await page.goto('about:blank');
  try {
    const host = Number(proc(started, 'stat').replace(/^.*\) /s, '').split(' ')[1]);
    if (host > 1) { process.kill(host, 'SIGKILL'); }
  } catch { /* it has ended, and the server with it */ }
  await eventually('the end of the window\'s own server', () => servers(false).length === 0);
}

test('an agent works on while no window is there', async () => {
  await me.reveal();
  await me.shows('mode', /cautious/);
  await me.agent('sidecar.agent.run', { agent: 'ada', prompt: 'Count the lines', consent: true });
  ada = await played.next();
  assert.match(await ada.prompt(), /Count the lines/);
  ada.say('I begin.');
  await close();
  await eventually('the server that outlives it, alone', () => servers(true).length === 1); // one that just forks is there twice
  await ada.write(path.join(box.ws, 'notes.txt'), 'one\ntwo\nthree\n');
  ada.say(' Nobody sees this yet.');
});

test('the next window has its run and its edit', async () => {
  await page.goto(server.url, { waitUntil: 'commit' });
  await me.container.waitFor({ timeout: 90_000 });
  await me.reveal();
  await me.row('notes.txt').waitFor();
  const r = await run();
  assert.equal(r.state, 'running');
  const { events } = await me.agent('sidecar.agent.history', { run: r.run });
  assert.ok(!events.some(e => e.kind === 'run.end'), 'it was not interrupted');
  ada.say(' Done.');
  ada.end();
  await eventually('its end', async () => (await run()).state === 'idle');
  const text = (await me.agent('sidecar.agent.history', { run: r.run })).events.filter(e => e.kind === 'text' && e.role === 'assistant').map(e => e.text).join('');
  assert.equal(text, 'I begin. Nobody sees this yet. Done.');
  assert.equal(fs.readFileSync(path.join(box.ws, 'notes.txt'), 'utf8'), 'one\ntwo\n', 'the disk is as it was');
});

test('when nothing works, the server ends with its window', async () => {
  await close();
  await eventually('no server', () => servers(true).length === 0);
});
