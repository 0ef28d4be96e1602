// The side bar with its two views, the page "Manage" with all else, and a window that is too narrow for both bars and a diff.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { after, before } from 'node:test';
import { agents } from './agents.mjs';
import { eventually } from './person.mjs';
import { open, sandbox, steps, tidy } from './workbench.mjs';

const vsix = path.resolve(process.env.VSIX ?? path.join(import.meta.dirname, '../../sidecar.vsix'));
const files = { 'count/count.go': 'package count\n\n// Words counts words.\nfunc Words(text string) int {\n\treturn len(text)\n}\n', 'count/top.go': 'package count\n\n// Top is how many are shown.\nconst Top = 10\n', 'notes.txt': 'one\ntwo\nthree\n' };

let box, server, browser, me, page, played, ada;
const edit = (file, search, replace) => me.call('edit_file', { path: file, search, replace });
const test = steps(() => ({ me, page, shot: path.join(process.env.SHOTS ?? box.root, 'failed-manage.png') }), 240_000);

before(async () => {
  box = sandbox(files);
  played = await agents();
  const relay = path.join(box.ws, 'relay.cjs'); // where a confined program may read it
  fs.copyFileSync(path.join(import.meta.dirname, 'relay.cjs'), relay);
  fs.mkdirSync(`${box.home}/.config/sidecar`, { recursive: true });
  fs.writeFileSync(`${box.home}/.config/sidecar/settings.json`, JSON.stringify({ agents: { ada: played.profile(relay) } }));
  ({ server, browser, page, me } = await open(box, vsix));
}, { timeout: 240_000 });

after(async () => {
  await played?.close();
  await tidy({ box, server, browser });
});

/** The page of the Agent view. */
const talk = () => eventually('the Agent view', () => me.frame('.composer'));
const bar = page => page.locator('.part.auxiliarybar');

test('the side bar has two views, and the title of each leads to the page', async () => {
  await me.reveal();
  await me.shows('mode', /cautious/);
  assert.deepEqual(await page.locator('.sidebar .pane-header h3.title').allTextContents(), ['Pending Changes', 'Agents']);
  await me.view('Agents').locator('.welcome-view-content', { hasText: 'No agent is running' }).waitFor();
  await me.shot('first-screen');
  for (const view of ['Agents', 'Pending Changes']) {
    await eventually('the page', async () => {
      await me.view(view).locator('.pane-header').hover({ timeout: 3000 });
      await me.view(view).locator('.pane-header .action-label[aria-label^="Manage"]').click({ timeout: 3000 });
      return eventually('its tab', async () => await me.tab() === 'Manage SideCar', 5000).catch(() => false);
    });
    await me.manage('Activity');
    await me.command('View: Close All Editors');
  }
});

test('the tabs are reached by keys, and each names the panel', async () => {
  const f = await me.manage('Activity'), tab = name => f.getByRole('tab', { name });
  await f.locator('.note', { hasText: 'appear here as they happen' }).waitFor();
  await tab('Activity').focus();
  for (const [key, name] of [['ArrowRight', 'Tools'], ['ArrowRight', 'Sessions'], ['End', 'Metrics'], ['ArrowRight', 'Activity'], ['ArrowLeft', 'Metrics'], ['Home', 'Activity'], ['ArrowRight', 'Tools']]) {
    await page.keyboard.press(key);
    await eventually(`the tab ${name}`, async () => await tab(name).getAttribute('aria-selected') === 'true' && await tab(name).evaluate(el => el === document.activeElement));
    await f.getByRole('tabpanel', { name }).waitFor();
    assert.equal(await f.locator('[role=tab][tabindex="0"]').count(), 1, 'one is in the order of Tab');
  }
  await f.locator('.item').nth(1).waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.type('search in');
  await eventually('the filter', async () => { const names = await f.locator('.item .name').allInnerTexts(); return names.includes('Search in files') && !names.includes('Read file'); });
  await page.keyboard.press('Escape');
  await eventually('all again', async () => (await f.locator('.item .name').allInnerTexts()).includes('Read file'));
  await me.shot('manage-tools');
});

test('a command brings to its tab, and what can\'t be done is not offered', async () => {
  await me.command('sidecar.findTool');
  const f = await me.manage('Tools');
  await eventually('the filter', () => f.locator('#filter').evaluate(el => el === document.activeElement));
  for (const [command, tab] of [['sidecar.plugins.focus', 'Plugins'], ['sidecar.showMetrics', 'Metrics'], ['sidecar.showCall', 'Activity']]) { // of views of before
    await me.agent(command);
    await f.getByRole('tabpanel', { name: tab }).waitFor();
  }
  await (await me.manage('Shadow Workspaces')).locator('.note', { hasText: 'it takes a git repository' }).waitFor();
  assert.equal(await f.getByRole('button', { name: 'Create' }).count(), 0);
  for (const args of [['init', '-q', '-b', 'main'], ['add', '.'], ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', 'commit', '-q', '-m', 'first']]) { execFileSync('git', args, { cwd: box.ws }); }
  await me.command('View: Close All Editors');
  await (await me.manage('Shadow Workspaces')).getByRole('button', { name: 'Create' }).waitFor();
  await me.agent('sidecar.session.open', { id: 'release', mode: 'audit' });
  await me.agent('sidecar.mcpReconnect').catch(() => {}); // without a row it asks, and there is none
  await me.notified('nothing that this could be done with');
  await me.clearMessages();
  const sessions = await me.manage('Sessions');
  await sessions.locator('.item', { hasText: 'release' }).getByRole('button', { name: 'Close' }).click();
  await eventually('it is closed', async () => await sessions.locator('.item', { hasText: 'release' }).count() === 0);
});

test('an empty filter result says so, and a server that is down can be started from the page', async () => {
  await me.ask({ eval: `await vscode.workspace.getConfiguration('sidecar').update('server.path', '/nowhere/else', vscode.ConfigurationTarget.Global)` });
  const f = await me.manage('Tools');
  await f.locator('.note', { hasText: 'The server is not running' }).waitFor();
  const toast = me.toast('The setting sidecar.server.path names /nowhere/else: there is no such file.');
  await toast.waitFor();
  await me.shot('manage-down');
  const toasts = await page.locator('.notification-toast').allInnerTexts();
  assert.equal(toasts.length, 1, `and nothing else is reported: ${toasts.join(' | ')}`);
  assert.deepEqual((await toast.locator('.monaco-button').allInnerTexts()).map(text => text.trim()).filter(Boolean), ['Use the Bundled Server']);
  await toast.locator('.monaco-button', { hasText: 'Use the Bundled Server' }).click();
  await f.locator('.item').nth(1).waitFor();
  assert.equal(await me.ask({ eval: `return vscode.workspace.getConfiguration('sidecar').get('server.path')` }), '');
  await me.clearMessages();
  await me.command('View: Close All Editors');
});

test('a run is a row of the view Agents, which leads to it', async () => {
  await me.agent('sidecar.mode.set', { mode: 'review' });
  await me.command('SideCar: Focus Agent');
  let f = await talk();
  await f.getByRole('button', { name: 'Start ada' }).click();
  await f.getByRole('button', { name: 'Start', exact: true }).click();
  ada = await played.next();
  await f.locator('.composer textarea').fill('Count words in lower case, and test it.');
  await f.locator('.composer textarea').press('Enter');
  assert.match(await ada.prompt(), /lower case/);
  ada.say('I count in lower case from now on, and write a test for it.', 'm1');
  ada.call('c1', { title: 'Read count/count.go', kind: 'read', status: 'completed', locations: [{ path: path.join(box.ws, 'count/count.go') }] });
  await eventually('the row', async () => (await me.rows('Agents')).some(r => /^ada ?Working · Count words/.test(r)));
  const session = (await me.agent('sidecar.agent.runs', {})).runs[0].session;
  for (const [file, search, replace] of [['count/count.go', '// Words counts words.', '// Words counts words, in lower case.'], ['count/count.go', 'len(text)', 'len(strings.Fields(strings.ToLower(text)))'], ['count/top.go', 'Top = 10', 'Top = 100'], ['notes.txt', 'two', 'zwei']]) {
    const r = await me.call('edit_file', { path: file, search, replace }, session);
    assert.equal(r.ok, true, r.content);
  }
  await me.row('count.go').first().waitFor();
  await me.shot('agent-works');
  await me.command('View: Hide Secondary Side Bar');
  await bar(page).waitFor({ state: 'hidden' });
  await me.click(me.row('Count words', 'Agents'), 'the conversation', () => bar(page).isVisible());
  f = await talk();
  await f.locator('#app', { hasText: 'in lower case' }).waitFor();
});

test('a question of the server stands above the runs', async () => {
  await me.clearMessages();
  await me.agent('sidecar.mode.set', { mode: 'cautious' });
  const call = edit('notes.txt', 'three', 'drei');
  await eventually('the question', async () => { const [first, second] = await me.rows('Agents'); return /notes\.txt/.test(first) && /Count words/.test(second); });
  await me.shot('question');
  await me.inline(me.row('notes.txt', 'Agents'), 'Allow');
  assert.equal((await call).ok, true);
  await eventually('it is answered', async () => (await me.rows('Agents')).length === 1);
  await me.clearMessages();
});

test('a port that a program of an agent listens on is offered while it does', async () => {
  const session = (await me.agent('sidecar.agent.runs', {})).runs[0].session, ports = me.status('ports');
  await me.agent('sidecar.mode.set', { session, mode: 'cautious' }); // in which commands are asked about, whatever this machine can
  const call = me.call('run_command', { command: "perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(LocalAddr => q(127.0.0.1), LocalPort => 3000, Listen => 5) or die; $s->accept while 1'", background: true }, session);
  const allowed = me.dialog.locator('.monaco-button', { hasText: 'Allow Once' }).click();
  await Promise.race([allowed, call.then(r => allowed.catch(() => assert.fail(`nobody was asked: ${r.content}`)))]);
  const started = await call;
  assert.equal(started.ok, true, started.content);
  await me.shows('ports', /Open :3000 of ada/);
  await me.shot('port');
  await me.click(ports, 'the question', () => me.dialog.isVisible());
  assert.match(await me.text(me.dialog), /Open port 3000[\s\S]*your network/);
  await me.press('Enter'); // Deny
  await me.notified('the port was not opened');
  await me.clearMessages();
  assert.equal((await me.call('command_kill', { id: 'bg1' }, session)).ok, true);
  await ports.waitFor({ state: 'hidden' });
});

test('in a narrow window a diff that is opened puts the agent\'s bar away, and in a wide one it stays', async () => {
  await me.command('View: Close All Editors');
  await me.unfold(me.row('count').first()).catch(() => {});
  const opened = () => me.text(me.modified).then(text => /in lower case/.test(text));
  assert.equal(await bar(page).isVisible(), true);
  await me.click(me.row('count.go').first(), 'the diff', opened);
  await me.shot('diff');
  assert.equal(await bar(page).isVisible(), true);
  await me.command('View: Close All Editors');
  const was = page.viewportSize();
  await page.setViewportSize({ width: 900, height: was.height });
  await me.click(me.row('count.go').first(), 'the diff', opened);
  await bar(page).waitFor({ state: 'hidden' });
  await eventually('its width', async () => (await page.locator('.monaco-diff-editor').boundingBox()).width >= 450);
  await me.shot('diff-narrow');
  await me.command('View: Close All Editors');
  await page.setViewportSize(was);
});

test('the page is there again after the window was reloaded, with its tab', async () => {
  ada.end();
  await eventually('it has ended', async () => (await me.rows('Agents')).some(r => /^ada ?Ready · Count words/.test(r)));
  await (await me.manage('Metrics')).locator('th code', { hasText: 'edit_file' }).waitFor();
  await me.kept('metrics');
  await page.reload({ waitUntil: 'commit' });
  await me.container.waitFor({ timeout: 90_000 });
  const f = await eventually('the page', () => me.frame('[role=tab][aria-selected=true]:text-is("Metrics")'));
  await f.locator('.about', { hasText: 'since the server started' }).waitFor(); // a new server starts its counters at zero
});
