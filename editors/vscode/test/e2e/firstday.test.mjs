// What a new user does on the first day, in a workbench of its own with nothing set up: a first edit, a first command, a
// first mistake taken back, and a first MCP server of one's own.
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { after, before } from 'node:test';
import { eventually } from './person.mjs';
import { open, sandbox, steps, tidy } from './workbench.mjs';

const vsix = path.resolve(process.env.VSIX ?? path.join(import.meta.dirname, '../../sidecar.vsix'));
const files = { 'shop.txt': Array.from({ length: 30 }, (_, i) => `line ${i + 1}\n`).join(''), 'notes.txt': 'milk\n' };

let box, server, browser, me, page, away;
const disk = name => fs.readFileSync(path.join(box.ws, name), 'utf8');
const there = name => fs.existsSync(path.join(box.ws, name));
const edit = (file, search, replace) => me.call('edit_file', { path: file, search, replace });
const run = command => me.call('run_command', { command });
const waits = async name => (await me.pending()).some(e => e.path === name);

before(async () => {
  box = sandbox(files);
  // A server of the user's, outside of the project.
  away = `${box.root}/away`;
  fs.mkdirSync(away);
  fs.copyFileSync(path.join(import.meta.dirname, 'theirs.cjs'), `${away}/mine.cjs`);
  fs.mkdirSync(`${box.home}/.config/sidecar`, { recursive: true });
  fs.writeFileSync(`${box.home}/.config/sidecar/settings.json`, JSON.stringify({ 'commands.ask': 'always', 'mcp.servers': { mine: { command: process.execPath, args: [`${away}/mine.cjs`] } } }));
  ({ server, browser, page, me } = await open(box, vsix));
}, { timeout: 240_000 });

const test = steps(() => ({ me, page, shot: path.join(process.env.SHOTS ?? box.root, 'failed-firstday.png') }), 240_000);

after(() => tidy({ box, server, browser }));

test('a folder is opened, and the first edit of an agent waits in the review', async () => {
  await me.reveal();
  await me.shows('mode', /cautious/);
  await me.view('Pending Changes').locator('.welcome-view-content', { hasText: 'Nothing is pending' }).waitFor();
  await me.view('Pending Changes').locator('.welcome-view-content .monaco-button', { hasText: 'Start an Agent' }).click();
  await page.frameLocator('iframe.webview.ready').frameLocator('iframe#active-frame').locator('#app', { hasText: /Start an agent|No agent was found/ }).waitFor();
  await me.shot('first-screen');
  await me.command('View: Hide Secondary Side Bar');
  await me.mode('review');
  await me.ask({ eval: `await vscode.window.showTextDocument(vscode.Uri.joinPath(vscode.workspace.workspaceFolders[0].uri, 'notes.txt'))` });
  await me.place(page.locator('.editor-instance'), 'milk', 1);
  for (const [search, replace] of [['line 3\n', 'line three\n'], ['line 20\n', 'line twenty\n']]) {
    const r = await edit('shop.txt', search, replace);
    assert.equal(r.ok, true, r.content);
    assert.equal(r.changes[0].state, 'pending');
  }
  await eventually('the first change beside', async () => /line three/.test(await me.text(me.modified)) && await page.locator('.editor-group-container').count() === 2);
  assert.match(await page.evaluate(() => document.activeElement.closest('.editor-group-container')?.innerText ?? ''), /milk/, 'the focus is where it was');
  await me.shot('first-change');
  await me.command('View: Close All Editors');
  assert.equal((await edit('notes.txt', 'milk', 'bread')).ok, true);
  await eventually('the tree', async () => assert.deepEqual((await me.rows()).sort(), ['notes.txt +1 −1', 'shop.txt +2 −2']) ?? true);
  await eventually('the badge', async () => /2/.test(await me.text(me.container.locator('.badge-content'))));
  assert.equal(disk('shop.txt'), files['shop.txt']);
  assert.equal(await page.locator('.tab').count(), 0, 'and no other opens by itself');
});

test('one change of a file is accepted by a command, and then a whole file', async () => {
  await me.click(me.row('shop.txt'), 'the diff', async () => /line three/.test(await me.text(me.modified)) && /line 3/.test(await me.text(me.original)));
  const accepted = () => disk('shop.txt').includes('line twenty');
  await me.place(me.modified, 'line 18', 18);
  await me.command('SideCar: Accept This Change');
  await page.locator('.part.statusbar', { hasText: 'No change is under the cursor' }).waitFor(); // and nothing is decided unseen
  assert.equal(disk('shop.txt'), files['shop.txt']);
  await me.place(me.modified, 'line twenty', 20);
  await me.command('SideCar: Accept This Change');
  await eventually('the change', accepted);
  assert.ok(disk('shop.txt').includes('line 3\n'), 'the other waits');
  await eventually('one change is left', async () => (await me.pending()).find(e => e.path === 'shop.txt').hunks.length === 1);
  await me.click(me.row('notes.txt'), 'the diff', async () => /bread/.test(await me.text(me.modified)));
  await me.place(me.modified, 'bread', 1);
  await me.command('SideCar: Accept File');
  await eventually('the file', async () => disk('notes.txt') === 'bread\n');
  await eventually('the row is gone', async () => assert.deepEqual(await me.rows(), ['shop.txt +1 −1']) ?? true);
  await eventually('the next file', async () => /line three/.test(await me.text(me.modified)));
  assert.match(await me.text(page.locator('.tab.active')), /shop\.txt \(proposed\)/);
});

test('the first mistake is taken back, and waits again', async () => {
  await me.command('SideCar: Undo Last Agent Edit');
  await eventually('taken back', async () => disk('notes.txt') === 'milk\n');
  await eventually('it waits again', async () => (await me.rows()).includes('notes.txt +1 −1'));
  assert.ok(disk('shop.txt').includes('line twenty'), 'what was accepted before it stays');
  await me.command('View: Close All Editors');
});

test('a new file is shown without an old side, and is accepted; behind the last one the file itself is shown', async () => {
  await me.agent('sidecar.review.reject', {});
  assert.equal((await me.call('write_file', { path: 'fresh.txt', content: 'one\ntwo\n' })).ok, true);
  await me.click(me.row('fresh.txt'), 'its text', async () => /one\ntwo/.test(await me.text(page.locator('.editor-instance .view-lines'))));
  assert.equal(await page.locator('.monaco-diff-editor').count(), 0);
  await page.locator('.editor-instance .codelens-decoration a', { hasText: 'Accept file' }).waitFor();
  await me.shot('new-file');
  await me.click(me.title('Accept'), 'the file', async () => there('fresh.txt'));
  await eventually('the file itself', async () => await me.tab() === 'fresh.txt' && !/proposed/.test(await me.text(page.locator('.tab'))));
  fs.rmSync(path.join(box.ws, 'fresh.txt'));
  await me.command('View: Close All Editors');
});

test('the first command is allowed with the pattern that is shown; what looks like it is not asked about again', async () => {
  let call = run('touch first.txt');
  await me.dialog.waitFor();
  assert.match(await me.text(me.dialog), /Run `touch first\.txt`\?/);
  assert.doesNotMatch(await me.text(me.dialog), /Cancel|rule:|agent: default/);
  await me.shot('pattern');
  await me.dialog.locator('.monaco-button', { hasText: 'Allow `touch *` for This Session' }).click();
  let r = await call;
  assert.equal(r.ok, true, r.content);
  assert.ok(await waits('first.txt') && !there('first.txt'), 'what a command makes is reviewed');
  r = await run('ls && touch second.txt');
  assert.equal(r.ok, true, r.content);
  assert.ok(await waits('second.txt'));

  call = run('touch third.txt && rmdir nothing'); // another command beside it
  await me.dialog.waitFor();
  assert.doesNotMatch(await me.text(me.dialog), /pattern/);
  assert.equal(await me.dialog.locator('.monaco-button', { hasText: 'for This Session' }).count(), 0);
  await me.press('Enter');
  assert.equal((await call).error?.code, 'not_approved');
  call = run('touch .bashrc'); // a file that is asked about by itself
  await me.dialog.waitFor();
  await me.press('Enter');
  assert.equal((await call).error?.code, 'not_approved');
  assert.ok(!await waits('third.txt') && !await waits('.bashrc') && !there('.bashrc'));

  call = run('mkdir made'); // from the list of all answers
  await me.dialog.locator('.monaco-button', { hasText: 'More…' }).click();
  await me.choose('Allow `mkdir *` for this session');
  assert.equal((await call).ok, true);
  assert.equal((await run('mkdir more')).ok, true);
  assert.match((await run('ls -d made more')).content, /made\nmore/);
});

test('held output is built again by a command of the person\'s, which is shown before it runs', async () => {
  fs.writeFileSync(path.join(box.ws, '.gitignore'), 'out/\n');
  const call = run('mkdir -p out && echo theirs > out/built');
  await me.dialog.locator('.monaco-button', { hasText: 'Allow Once' }).click();
  assert.equal((await call).ok, true);
  const row = me.row('1 file'), field = page.locator('.quick-input-widget input.input'), again = async line => {
    await eventually('the field', async () => {
      await me.inline(row, 'Build Again');
      return eventually('it', () => field.isVisible(), 5000).catch(() => false);
    });
    await me.type(line);
    await eventually('what will run', async () => (await me.text(me.dialog)).includes(line.slice(0, 20)) && /take the place of the output/.test(await me.text(me.dialog)));
  };
  await row.waitFor();
  await me.shot('build-again');
  await again('mkdir -p out && echo mine > out/built');
  await me.shot('build-again-dialog');
  await me.dialog.locator('.monaco-button', { hasText: 'Cancel' }).click();
  await me.dialog.waitFor({ state: 'hidden' });
  assert.ok(!there('out/built'), 'nothing ran');
  await again('mkdir -p out && echo mine > out/built');
  await me.dialog.locator('.monaco-button', { hasText: /^Build$/ }).click();
  await eventually('the build', async () => disk('out/built') === 'mine\n');
  await eventually('nothing is held', async () => (await me.agent('sidecar.review.output', { action: 'list' })).entries.length === 0);
  await me.notified('has built it again');
  await me.clearMessages();
});

test('a server of the user\'s that the sandbox hides from itself is shown its files, after a question that names them', async t => {
  const listed = async () => (await me.agent('sidecar.mcp.list')).servers.find(s => s.name === 'mine');
  await eventually('its start', async () => ['connected', 'failed'].includes((await listed())?.state));
  if ((await listed()).state === 'connected') { t.skip('nothing hides files here'); return; }
  const row = () => me.item('MCP Servers', 'mine');
  await eventually('the server', async () => {
    if (/failed/.test(await me.text(await row()))) { return true; }
    await (await me.manage('MCP Servers')).getByRole('button', { name: 'Refresh' }).click({ timeout: 3000 });
    return eventually('its row', async () => /failed/.test(await me.text(await row())), 3000).catch(() => false);
  });
  await eventually('what is hidden', async () => assert.deepEqual((await listed()).hidden, [away]) ?? true); // a refresh may still try
  const ask = () => me.act('MCP Servers', 'mine', 'Give Access to Hidden Directories', 'the dialog', async () => await me.dialog.count() > 0);
  await ask();
  assert.ok((await me.text(me.dialog)).includes(away), 'what would be shown');
  await me.shot('mcp-show');
  const settings = () => fs.readFileSync(`${box.home}/.config/sidecar/settings.json`, 'utf8');
  await me.press('Enter');
  await me.dialog.waitFor({ state: 'hidden' });
  assert.doesNotMatch(settings(), /readOnly/, 'no is first');
  await eventually('it has failed', async () => (await listed()).state === 'failed');
  await ask();
  await me.dialog.locator('.monaco-button', { hasText: /^Show$/ }).click();
  await eventually('it is connected', async () => /connected.*1 tool/.test(await me.text(await row())));
  assert.deepEqual(JSON.parse(settings())['sandbox.readOnly'], [away]);
  assert.equal(await (await row()).getByRole('button', { name: 'Give Access to Hidden Directories' }).count(), 0, 'there is nothing more to show');
  await me.agent('sidecar.session.open', { id: 'mcp-user', mode: 'autonomous' });
  assert.match((await me.call('mcp_mine_echo', { text: 'hello' }, 'mcp-user')).content, /you said hello/);
});
