// The Agent view, with agents that are played here: what a person sees of a conversation, and what they do in it.
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { after, before } from 'node:test';
import { png } from '../agent/scenes.mjs';
import { agents } from './agents.mjs';
import { model } from './model.mjs';
import { eventually, soon } from './person.mjs';
import { open, sandbox, steps, tidy } from './workbench.mjs';

const vsix = path.resolve(process.env.VSIX ?? path.join(import.meta.dirname, '../../sidecar.vsix'));
const shots = process.env.SHOTS;
const files = { 'count/count.go': 'package count\n\n// Words counts words.\nfunc Words(text string) int {\n\treturn len(text)\n}\n', 'notes.txt': 'one\ntwo\nthree\n', 'other.txt': 'a\nb\n' };
const allow = { optionId: 'yes', name: 'Allow', kind: 'allow_once' }, always = { optionId: 'always', name: 'Always', kind: 'allow_always' }, deny = { optionId: 'no', name: 'Deny', kind: 'reject_once' };

let box, server, browser, me, page, played, thinks, ada;
const disk = name => fs.readFileSync(path.join(box.ws, name), 'utf8');
const file = name => path.join(box.ws, name);
const test = steps(() => ({ me, page, shot: path.join(shots ?? box.root, 'failed.png'), more }), 180_000);

before(async () => {
  box = sandbox(files);
  played = await agents();
  thinks = await model();
  const relay = file('relay.cjs'); // where a confined program may read it
  fs.copyFileSync(path.join(import.meta.dirname, 'relay.cjs'), relay);
  fs.mkdirSync(`${box.home}/.config/sidecar`, { recursive: true });
  fs.writeFileSync(`${box.home}/.config/sidecar/settings.json`, JSON.stringify({ 'commands.ask': 'always', 'backend.profiles': [{ name: 'mine', provider: 'anthropic', url: thinks.url, model: 'played', key: 'sk-played-0123456789' }], 'backend.profile': 'mine', agents: { ada: played.profile(relay), grace: played.profile(relay), missing: { program: 'nowhere-to-be-found', acp: [] } } }));
  ({ server, browser, page, me } = await open(box, vsix));
  page.setDefaultTimeout(20_000);
}, { timeout: 240_000 });

after(async () => {
  await played?.close();
  await thinks?.close();
  await tidy({ box, server, browser });
});

/** The pages of the view that are on the screen: that of the side bar is the one further right, and it has to be there. */
async function pages() {
  const found = [], bar = await soon(page.locator('.part.auxiliarybar').boundingBox({ timeout: 1000 }));
  for (const outer of await page.locator('iframe.webview.ready').elementHandles()) {
    const area = await soon(outer.boundingBox()), frame = (await soon(outer.contentFrame()))?.childFrames().at(-1);
    if (area?.width > 0 && frame && await soon(frame.locator('.composer').count())) { found.push({ frame, x: area.x, inBar: bar && area.x >= bar.x - 1 }); }
  }
  return found.some(f => f.inBar) ? found.sort((a, b) => b.x - a.x).map(f => f.frame) : [];
}
const view = () => eventually('the view', async () => (await pages())[0]);
const text = async (f = undefined) => (await (f ?? await view()).locator('#app').innerText()).replace(/\u00a0/g, ' ');
const shows = (what, f) => eventually(`the view shows ${what}`, async () => typeof what === 'string' ? (await text(f)).includes(what) : what.test(await text(f)));
const lacks = async what => assert.ok(!(await text()).includes(what), `${what} is shown`);
const button = async (name, f) => (f ?? await view()).getByRole('button', { name, exact: typeof name === 'string' });
const press = async (name, f) => (await button(name, f)).first().click();
const composer = async () => (await view()).locator('.composer textarea');
async function say(words, key = 'Enter') {
  const field = await composer();
  await field.fill(words);
  await field.press(key);
}
/** Chooses in a menu of the page, once it has the item: what an agent can do is known some time after it has started. */
const choose = async (opens, item) => {
  const entry = (await view()).getByRole('menuitem', { name: item });
  await eventually(`${item} in a menu`, async () => {
    await press(opens);
    if (await entry.count() > 0) { return true; }
    await page.keyboard.press('Escape');
    return false;
  });
  await entry.click();
};

/** How the view stands: its width, its words, and the names of its buttons. */
const more = async () => {
  const f = (await soon(pages()))?.[0];
  return f ? `the view, ${await f.evaluate(() => innerWidth)} wide: ${await text(f)}\nits buttons: ${await f.locator('button').evaluateAll(all => all.map(b => b.getAttribute('aria-label') ?? b.textContent).join(' | '))}` : 'no view';
};

/** Drags the sash until the whole footer fits. VS Code may miss a drag, and may resize the side bar at any time. */
const widen = () => eventually('a view with room for all of its foot', async () => { // a sash that is just laid out is missed
  if (await (await view()).evaluate(() => innerWidth >= 380)) { return true; }
  const { x } = await page.locator('.part.auxiliarybar').boundingBox();
  await page.mouse.move(x - 1, 300);
  await page.mouse.down();
  await page.mouse.move(x - 120, 300, { steps: 4 });
  await page.mouse.up();
  return false;
});

test('the agents are shown with what is missing, and one that is not allowed is not started', async () => {
  await me.reveal();
  await me.shows('mode', /cautious/);
  await me.command('SideCar: Focus Agent');
  await shows('Start an agent');
  await widen();
  await press(/^Other Agents/);
  await shows(/missing[\s\S]*nowhere-to-be-found is not on PATH/);
  await me.shot('agent-first');
  await press('Start ada');
  await shows('this machine\'s port'); // what it would see
  await me.shot('agent-consent');
  await press('Cancel');
  await shows('Start an agent');
  assert.equal((await me.agent('sidecar.agent.runs', { all: true })).runs.length, 0);
  await press('Start ada');
  await press('Start');
  ada = await played.next();
  await shows('ada');
  assert.equal((await me.agent('sidecar.agent.list', {})).agents.find(a => a.name === 'ada').consented, true);
});

test('a reply streams while the person types elsewhere, and keeps their focus', async () => {
  await say('Count words, please');
  assert.match(await ada.prompt(), /Count words, please/);
  await me.ask({ eval: `await vscode.window.showTextDocument(vscode.Uri.joinPath(vscode.workspace.workspaceFolders[0].uri, 'notes.txt'))` });
  await me.place(page.locator('.editor-instance'), 'two', 2);
  ada.think('A word is what stands between white space.');
  const typed = 'typed while it streams';
  for (const [i, letter] of [...typed].entries()) {
    ada.say(`word${i} `);
    await page.keyboard.type(letter);
  }
  ada.say('and **that is all**.');
  await shows('and that is all.');
  await shows('Thought');
  await eventually('what was typed', async () => (await me.text(page.locator('.editor-instance .view-lines'))).includes(typed));
  await me.shot('agent-streaming');
  ada.end();
  await shows(/Done|Send/);
  await me.command('File: Revert File');
  await me.command('View: Close All Editors');
});

test('an edit is pending, is reviewed from the view, and its card says what became of it', async () => {
  await say('Split at white space');
  await ada.prompt();
  const target = file('count/count.go'), now = files['count/count.go'].replace('len(text)', 'len(strings.Fields(text))');
  ada.call('edit-1', { title: 'Edit count.go', kind: 'edit', status: 'in_progress', locations: [{ path: target }] });
  await ada.write(target, now);
  ada.change('edit-1', { status: 'completed', content: [{ type: 'diff', path: target, oldText: files['count/count.go'], newText: now }] });
  ada.say('It is split now.');
  ada.end();
  await shows('1 file');
  await shows('1 pending');
  assert.equal(disk('count/count.go'), files['count/count.go'], 'nothing is on the disk');
  await me.shot('agent-changes');
  await me.agent('sidecar.session.open', { id: 'lin', mode: 'review' });
  await me.call('edit_file', { path: 'other.txt', search: 'b\n', replace: 'B\n' }, 'lin');
  await me.row('other.txt').waitFor(); // somebody else's, which the review of the run is not about
  await (await view()).getByRole('region', { name: 'Changed files' }).getByRole('button', { name: 'Review' }).click();
  await me.row('count.go').first().waitFor();
  await eventually('the diff', async () => /strings\.Fields/.test(await me.text(me.modified)));
  assert.match(await me.text(page.locator('.tab.active')), /count\.go \(proposed by ada\)/);
  await eventually('its session alone', async () => (await me.rows()).map(r => r.replace(/ .*/, '')).join() === 'Only,count,count.go');
  await me.shot('agent-review');
  await me.command('SideCar: Accept All Pending Changes');
  await me.dialog.filter({ hasText: 'Accept the pending changes of "Count words, please"?' }).waitFor(); // which is what is shown
  await me.shot('agent-accept-all');
  await me.press('Escape');
  await me.dialog.waitFor({ state: 'detached' });
  await me.click(me.row('Only Count words, please'), 'all sessions', async () => (await me.rows()).map(r => r.replace(/ .*/, '')).join() === 'count,count.go,other.txt');
  await me.command('sidecar.groupByMessage');
  await me.row('Split at white space').waitFor();
  await eventually('the groups', async () => (await me.rows()).map(r => r.replace(/ .*/, '')).join() === 'Split,count,count.go,Without,other.txt');
  await me.shot('agent-by-message');
  await me.command('sidecar.groupByFolder');
  await eventually('the folders', async () => (await me.rows()).map(r => r.replace(/ .*/, '')).join() === 'count,count.go,other.txt');
  await me.agent('sidecar.review.reject', { session: 'lin' });
  const lens = name => page.locator('.monaco-diff-editor .editor.modified .codelens-decoration a', { hasText: name });
  const marked = async () => (await view()).locator('.row.marked', { hasText: 'Split at white space' }).count();
  await me.click(lens('Message 2'), 'the message', async () => await marked() === 1);
  await eventually('it is marked for a moment only', async () => await marked() === 0);
  await me.click(lens(/^Accept$/), 'the file', async () => disk('count/count.go') === now);
  await shows('Accepted');
  await me.command('View: Close All Editors');
});

test('a question is answered in its place, by a button and by keys', async () => {
  await say('Run the tests');
  await ada.prompt();
  const first = ada.ask({ toolCallId: 'run-1', title: 'go test ./...', kind: 'other' }, [allow, always, deny]);
  await shows('Needs you');
  await me.shows('agents', /1 needs you/);
  await me.shot('agent-question');
  await choose('Other answers', 'Always');
  assert.equal(await first, 'always');
  const second = ada.ask({ toolCallId: 'run-2', title: 'rm -rf build', kind: 'other' }, [allow, always, deny]);
  await shows('rm -rf build');
  await (await composer()).click();
  let denied;
  second.then(o => { denied = o; });
  await eventually('the answer', async () => { // keys count once the card has stood still
    await page.keyboard.press('Control+Alt+Backspace');
    return denied;
  });
  assert.equal(denied, 'no');
  const third = ada.ask({ toolCallId: 'run-3', title: 'ls', kind: 'other' }, [allow, deny]);
  await say('this answers nothing'); // a message never does
  await shows('1 queued');
  assert.equal(await Promise.race([third, shows('ls').then(() => 'open')]), 'open');
  await press('Allow');
  assert.equal(await third, 'yes');
  ada.end();
  assert.match(await ada.prompt(), /this answers nothing/, 'it is heard after that');
  await me.shows('mode', /review/); // of the run that is shown
  await me.command('View: Hide Secondary Side Bar');
  await me.shows('mode', /cautious/);
  const unseen = ada.ask({ toolCallId: 'run-4', title: 'git push', kind: 'other' }, [allow, deny]);
  await me.toast('git push').locator('.monaco-button', { hasText: 'Deny' }).click();
  assert.equal(await unseen, 'no', 'where the view is not seen, a message asks');
  ada.end();
  await me.command('SideCar: Focus Agent');
  await shows('git push');
});

test('a picture of the agent\'s is shown, and opens in an editor; what only calls itself one is not', async () => {
  await say('Draw it');
  await ada.prompt();
  const picture = data => ({ type: 'image', mimeType: 'image/png', data: data.toString('base64') });
  ada.update({ sessionUpdate: 'agent_message_chunk', content: { ...picture(png(120, 80)), uri: 'file:///chart.png' } });
  ada.update({ sessionUpdate: 'agent_message_chunk', content: picture(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>window.bad = 1</script></svg>')) });
  ada.call('shot', { title: 'Take a screenshot', kind: 'other', status: 'in_progress' });
  ada.change('shot', { status: 'completed', content: [{ type: 'content', content: picture(png(60, 90)) }, { type: 'content', content: picture(Buffer.alloc(6 << 20)) }] });
  ada.say('There it is.');
  ada.end();
  await shows('There it is.');
  const f = await view();
  await eventually('both pictures', async () => (await f.locator('.picture img').evaluateAll(all => all.map(e => e.naturalWidth).join())) === '120,60');
  await shows('An image is not shown: it is no PNG');
  await shows('An image is not shown: it is too large');
  assert.equal(await f.evaluate(() => window.bad), undefined);
  await me.shot('agent-image');
  await me.click(f.getByRole('button', { name: 'Image: chart.png' }), 'the picture in an editor', async () => await page.locator('.tab', { hasText: '.png' }).count() === 1);
  await me.command('View: Close All Editors');
});

test('what a sub-agent does is inside of its row', async () => {
  await say('Ask somebody');
  await ada.prompt();
  const by = { _meta: { claudeCode: { parentToolUseId: 'helper' } } };
  ada.call('helper', { title: 'Look around', kind: 'think', status: 'in_progress' });
  ada.call('helped', { title: 'Search', kind: 'search', status: 'in_progress', ...by });
  ada.change('helped', { status: 'completed', ...by });
  ada.update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'It is all there.' }, ...by });
  ada.change('helper', { status: 'completed' });
  ada.say('Somebody has looked.');
  ada.end();
  await shows('Somebody has looked.');
  await shows('1 call');
  await lacks('It is all there.');
  const row = (await view()).locator('.row[data-key="c:helper"]');
  await row.locator('.chevron').click();
  await shows('It is all there.');
  await row.locator('.chevron').click();
});

test('a command that runs for the agent is stopped alone, and the agent goes on', async () => {
  await say('Run it');
  await ada.prompt();
  const line = 'while :; do sleep 1; done';
  const { terminalId } = await ada.request('terminal/create', { command: line });
  ada.call('by-us', { title: line, kind: 'execute', status: 'in_progress', content: [{ type: 'terminal', terminalId }] });
  ada.call('by-itself', { title: 'sleep 1000', kind: 'execute', status: 'in_progress' });
  const row = async id => (await view()).locator(`.row[data-key="c:${id}"]`);
  await (await row('by-us')).getByRole('button', { name: 'Stop Command' }).waitFor(); // it opens by itself
  await me.shot('agent-command');
  await (await row('by-itself')).locator('.actions').waitFor();
  assert.equal(await (await row('by-itself')).getByRole('button', { name: 'Stop Command' }).count(), 0);
  const ended = ada.request('terminal/wait_for_exit', { terminalId });
  await (await row('by-us')).getByRole('button', { name: 'Stop Command' }).click();
  assert.equal((await ended).signal, 'SIGKILL');
  assert.match((await ada.request('terminal/output', { terminalId })).output, /The user has stopped this command/);
  ada.change('by-us', { status: 'failed' });
  ada.change('by-itself', { status: 'completed' });
  ada.say('Then without it.');
  ada.end();
  await shows('Then without it.');
  await eventually('the row', async () => /Stopped/.test(await (await row('by-us')).innerText()));
});

test('the agent\'s own mode is shown and chosen', async () => {
  await choose('Add context', 'Agent mode: Code…'); // in a view of any width
  await me.choose('Think first');
  await (await view()).locator('.pick.agentMode', { hasText: 'Think first' }).waitFor({ state: 'attached' });
});

test('prompts are queued, edited and withdrawn; Stop keeps what was said and pauses the queue', async () => {
  await say('Work');
  await ada.prompt();
  ada.say('Half of a reply');
  await shows('Half of a reply');
  await say('first');
  await shows('1 queued');
  await say('second');
  await shows('2 queued');
  await say('third');
  await shows('3 queued');
  const fold = (await view()).getByRole('region', { name: 'Queue' }).locator('.bar-fold');
  await fold.click();
  await (await button('Withdraw this message')).nth(1).click();
  await shows('2 queued');
  await me.shot('agent-queue');
  await press('Stop');
  await ada.cancelled();
  ada.end('cancelled');
  await shows('Stopped');
  await shows('Paused after Stop');
  await shows('Half of a reply');
  await press('Resume');
  const prompt = await ada.prompt();
  assert.match(prompt, /first[\s\S]*third/);
  assert.doesNotMatch(prompt, /second/);
  await say('Stop and do this', 'Control+Shift+Enter');
  await ada.cancelled();
  ada.end('cancelled');
  assert.match(await ada.prompt(), /Stop and do this/);
  ada.end();
  await shows(/Send/);
});

test('files and what is selected go along with a prompt', async () => {
  await me.ask({ eval: `const e = await vscode.window.showTextDocument(vscode.Uri.joinPath(vscode.workspace.workspaceFolders[0].uri, 'notes.txt')); e.selection = new vscode.Selection(0, 0, 1, 3)` });
  await page.locator('.editor-instance .view-line').first().waitFor();
  await me.command('SideCar: Add to Agent Prompt');
  await shows('notes.txt:1-2');
  const field = await composer();
  await field.click();
  await field.pressSequentially('See @other');
  await (await view()).getByRole('option', { name: /other\.txt/ }).waitFor();
  await me.shot('agent-context');
  await page.keyboard.press('Enter');
  await eventually('the chip', async () => (await (await view()).locator('.composer').innerText()).includes('other.txt'));
  await field.press('Enter');
  const prompt = await ada.prompt();
  assert.match(prompt, /See/);
  assert.match(prompt, /one\ntwo/);
  assert.match(prompt, /other\.txt/);
  ada.end();
  await me.command('View: Close All Editors');
});

test('what an agent writes opens nothing and loads nothing', async () => {
  await say('Show me');
  await ada.prompt();
  ada.say('![picture](https://evil.example/x.png) <img src="https://evil.example/y.png"> <script>window.bad = 1</script>\n\n[one](command:workbench.action.terminal.new) [two](file:///etc/passwd) [three](../../etc/passwd) [four](javascript:alert(1)) [five](notes.txt:2) \u202egnp.exe\n\n```mermaid\nflowchart LR\na-->b\n```\n');
  ada.call('osc', { title: 'Print', kind: 'execute', status: 'in_progress', rawInput: { command: 'print' } });
  ada.change('osc', { status: 'failed', content: [{ type: 'content', content: { type: 'text', text: '\u001b]52;c;ZXZpbA==\u0007\u001b]8;;https://evil.example\u0007link\u001b]8;;\u0007\u001b[31mred\u001b[0m' } }] });
  ada.say('That was it.');
  ada.end();
  await shows('That was it.');
  const f = await view();
  assert.equal(await f.evaluate(() => [...document.querySelectorAll('#app :is(img:not([src^="blob:"]), script, style, iframe, object, a[href], image)')].map(e => e.outerHTML).join('')), '');
  assert.equal(await f.evaluate(() => window.bad), undefined);
  const link = name => f.getByRole('link', { name });
  for (const name of ['one', 'two', 'three', 'four']) {
    if (await link(name).count() > 0) { await link(name).click(); }
  }
  await me.click(link('five'), 'the file', async () => await page.locator('.tab', { hasText: 'notes.txt' }).count() === 1);
  assert.equal(await page.locator('.tab').count(), 1, 'and nothing else');
  assert.equal(await page.locator('.terminal-outer-container, .monaco-dialog-box').count(), 0);
  await me.shot('agent-hostile');
  await me.command('View: Close All Editors');
});

test('two runs go on at once, and neither has a row of the other', async () => {
  await me.pick('SideCar: New Agent Run', 'grace');
  await shows('Start grace?'); // nobody has allowed it yet
  await press('Start');
  const grace = await played.next();
  await eventually('the run of grace', async () => { const now = await text(); return now.includes('grace') && !now.includes('Start grace?'); });
  await say('You are Grace');
  assert.match(await grace.prompt(), /You are Grace/);
  await me.command('SideCar: Open Agent in Editor');
  const [side, tab] = await eventually('two pages', async () => { const all = await pages(); return all.length === 2 && all; });
  await shows('You are Grace', tab);
  await side.evaluate(() => document.activeElement?.blur()); // another place of the page first: the field may have the focus already
  await me.command('SideCar: Focus Agent');
  await eventually('the focus', () => side.evaluate(() => document.hasFocus() && document.activeElement.matches('.composer textarea')));
  await me.pick('SideCar: Show Agent Runs', '● Count words, please');
  await eventually('the run of ada', async () => { const now = await text(side); return now.includes('ada') && !now.includes('You are Grace'); });
  await eventually('the title of the tab', async () => /You are Grace/.test(await me.text(page.locator('.tab'))));
  await say('And you are Ada');
  await ada.prompt();
  for (let i = 0; i < 20; i++) {
    ada.say(`ada${i} `);
    grace.say(`grace${i} `);
  }
  await shows('ada19', side);
  await shows('grace19', tab);
  assert.doesNotMatch(await text(side), /grace\d/);
  assert.doesNotMatch(await text(tab), /ada\d/);
  await me.shows('agents', /2 working/);
  await me.shot('agent-two');
  ada.end();
  const answered = grace.ask({ toolCallId: 'g', title: 'grace asks', kind: 'other' }, [allow, deny]);
  await press('Allow', tab);
  assert.equal(await answered, 'yes');
  grace.end();
  for (const f of [side, tab]) { await (await button('Send', f)).waitFor(); } // neither works any more
});

test('after a reload both pages, the rows and the draft are there', async () => {
  const both = () => eventually('two pages', async () => { const all = await pages(); return all.length === 2 && all; });
  const [side, tab] = await both();
  const rows = async f => (await f.locator('.transcript .row').allInnerTexts()).join('\n').replace(/\s+/g, ' ');
  const had = [await rows(side), await rows(tab)];
  await (await composer()).fill('a draft');
  await me.kept('sidecar.agentEditor');
  await me.kept('a draft', 'webviewView.sidecar.agentView');
  await page.reload({ waitUntil: 'commit' });
  await me.container.waitFor({ timeout: 90_000 });
  const [side2, tab2] = await both();
  await eventually('the rows', async () => { assert.deepEqual([await rows(side2), await rows(tab2)], had); return true; });
  await eventually('the draft', async () => await (await composer()).inputValue() === 'a draft');
  await (await composer()).fill('');
  await me.command('View: Close All Editors');
});

test('an agent that dies says why, and the next prompt starts another', async () => {
  await say('Go on');
  ada = await played.next(); // the one before ended with the server
  assert.match(await ada.prompt(), /Go on/);
  ada.say('I am about to');
  await shows('I am about to');
  await ada.die('panic: out of cheese\n');
  await shows('out of cheese');
  await me.shot('agent-died');
  await press('Retry');
  ada = await played.next();
  assert.match(await ada.prompt(), /Go on/);
  ada.say('Here I am again.');
  ada.end();
  await shows('Here I am again.');
});

test('a server that is killed loses no row, and the run goes on', async () => {
  await say('Once more');
  await ada.prompt();
  ada.say('Said before the end.');
  await shows('Said before the end.');
  const pid = fs.readdirSync('/proc').filter(p => /^\d+$/.test(p)).find(p => {
    try {
      const [program, ...args] = fs.readFileSync(`/proc/${p}/cmdline`, 'utf8').split('\0');
      return program.startsWith(`${box.extensions}/`) && args[0] === 'serve';
    } catch { return false; }
  });
  process.kill(Number(pid), 'SIGKILL');
  await shows('Interrupted');
  await shows('Said before the end.');
  await me.clearMessages();
  await say('Still there?');
  ada = await played.next();
  assert.match(await ada.prompt(), /Still there\?/);
  ada.say('Yes.');
  ada.end();
  await shows('Yes.');
  await lacks('grace1');
});

test('a conversation is forked, and the fork is a run of its own', async () => {
  const before = ada.session;
  await choose('Detail and search', 'Fork Conversation');
  const fork = await played.next();
  await shows('It knows what was said in');
  assert.equal(fork.forked, before);
  await say('Another way');
  assert.match(await fork.prompt(), /Another way/);
  fork.say('This is another way.');
  fork.end();
  await shows('This is another way.');
  await me.shot('agent-fork');
  await me.command('SideCar: Show Agent Runs');
  await eventually('both runs', async () => await page.locator('.quick-input-list .monaco-list-row', { hasText: 'Count words, please' }).count() === 2);
  await page.keyboard.press('Escape');
});

test('the whole conversation opens as a document', async () => {
  await me.command('sidecar.agentDocument');
  await eventually('the document', async () => /## You/.test(await me.text(page.locator('.editor-instance .view-lines'))));
  await me.command('View: Close All Editors');
  await me.agent('sidecar.newRunInView'); // as the + of the view
  await shows('Start an agent');
});

test('our own agent asks in its place, takes any answer, and its edit is reviewed', async () => {
  await me.pick('SideCar: New Agent Run', 'SideCar Agent');
  // Until its run is shown, what is typed is for the one before.
  await (await view()).locator('.head-agent', { hasText: /^SideCar Agent$/ }).waitFor();
  await say('Make it better');
  let turn = await thinks.next();
  assert.match(turn.body, /Make it better/);
  turn.call(['read_file', { path: 'other.txt' }], ['ask_user', { question: 'Which letter?', options: ['a', 'b'] }]);
  await shows('Which letter?');
  await me.shot('own-question');
  await (await view()).getByRole('textbox', { name: 'Answer' }).fill('neither, a c');
  await press('Send');
  turn = await thinks.next();
  assert.match(turn.body, /neither, a c/);
  turn.call(['write_file', { path: 'other.txt', content: 'a\nc\n' }], ['run_command', { command: 'cp other.txt copied.txt' }]);
  await shows('cp other.txt copied.txt');
  await me.shot('own-command');
  await press('Allow');
  turn = await thinks.next();
  turn.say('It is **better** now.');
  await shows('It is better now.');
  await shows('Done');
  await me.shot('own-done');
  assert.equal(disk('other.txt'), 'a\nb\n');
});

test('a prompt of our own agent is rewound with the files, and that is undone', async () => {
  const pending = async () => (await me.agent('sidecar.review.list', {})).edits.map(e => e.path).filter(p => ['other.txt', 'copied.txt'].includes(p));
  const row = (await view()).locator('.own-head').last();
  await row.hover();
  await row.getByRole('button', { name: 'More of this message' }).click();
  await (await view()).getByRole('menuitem', { name: 'Rewind to Here' }).click();
  await me.choose('Conversation and Files');
  await shows('Changed back: copied.txt, other.txt.');
  await eventually('the prompt is to be said otherwise', async () => await (await composer()).inputValue() === 'Make it better');
  assert.deepEqual(await pending(), []);
  await me.shot('own-rewound');
  await press('Undo Rewind');
  await me.choose('Files Only');
  await eventually('the files are back', async () => (await pending()).length === 2);
  await choose('Detail and search', 'Set Budget…');
  await me.choose('Steps');
  await page.locator('.quick-input-widget', { hasText: 'Leave it empty' }).waitFor();
  await me.type('5');
  await page.locator('.quick-input-list .monaco-list-row', { hasText: /Steps.*5/ }).waitFor();
  await me.choose('Set This Budget');
  await choose('Detail and search', 'Shorten Conversation');
  await eventually('why it is not shortened', async () => /nothing left to take out of it/.test(await me.text(page.locator('body')) + await text()));
  await say('Make it good');
  const turn = await thinks.next();
  assert.doesNotMatch(turn.body, /Make it better/); // which stays forgotten
  turn.say('It is good.');
  await shows('It is good.');
  await me.agent('sidecar.review.reject', { uris: ['other.txt', 'copied.txt'].map(n => `file://${file(n)}`) });
});

test('a command of our own agent is allowed for good, once the proof is shown', async () => {
  const rules = () => JSON.parse(fs.readFileSync(`${box.home}/.config/sidecar/settings.json`, 'utf8')).commandRules;
  await me.command('SideCar: Focus Agent');
  await me.clearMessages();
  await me.pick('SideCar: New Agent Run', 'SideCar Agent');
  await eventually('its run', async () => /SideCar Agent/.test(await (await view()).locator('.head-agent').innerText()) && await (await view()).locator('.own-head').count() === 0);
  await say('Make a directory');
  let turn = await thinks.next();
  turn.call(['run_command', { command: 'mkdir -p made' }]);
  await shows('mkdir -p made');
  await choose('Other answers', 'Always allow `mkdir …` everywhere…');
  await me.toast('mkdir').waitFor();
  assert.match(await me.text(me.toast('mkdir')), /would have|days|asked/);
  assert.equal(rules(), undefined, 'nothing is written before a yes');
  await me.shot('own-always');
  await me.toast('mkdir').locator('.monaco-button', { hasText: /^Allow$/ }).click();
  turn = await thinks.next();
  assert.deepEqual(rules().map(r => [r.prefix, r.decision]), [[['mkdir'], 'allow']]);
  turn.call(['run_command', { command: 'mkdir -p more' }]); // nobody is asked
  turn = await thinks.next();
  turn.say('Both are made.');
  await shows('Both are made.');
});
