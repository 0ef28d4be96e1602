// One workbench, from its start on, through everything that a person does with it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { after, before } from 'node:test';
import { eventually } from './person.mjs';
import { open, sandbox, steps, tidy } from './workbench.mjs';

const vsix = path.resolve(process.env.VSIX ?? path.join(import.meta.dirname, '../../sidecar.vsix'));
const shots = process.env.SHOTS;
const numbers = (n, from = 1) => Array.from({ length: n }, (_, i) => `line ${i + from}\n`).join('');
const design = '# Design\n\n```mermaid\nflowchart LR\n  agent --> queue --> person[a person] --> files\n  person -. reason .-> agent\n```\n\n```dot\ndigraph { a -> b }\n```\n\n```mermaid\nflowchart LR\n  a --> \n  ]]\n```\n';
const files = { 'README.md': numbers(30), 'src/store/keys.txt': numbers(60), 'src/store/values.txt': numbers(40), 'docs/guide.txt': numbers(20), 'docs/design.md': design, 'docs/kept.txt': numbers(14), 'src/count.c': 'int count;\n' };

let box, server, browser, me, page, servers, theirs;
const disk = name => fs.readFileSync(path.join(box.ws, name), 'utf8');
const git = (...args) => execFileSync('git', ['-c', 'user.name=Tester', '-c', 'user.email=tester@example.org', ...args], { cwd: box.ws, encoding: 'utf8' });
const edit = (file, line, text, session) => me.call('edit_file', { path: file, search: `line ${line}\n`, replace: text }, session);
const idle = () => eventually('nothing is pending', async () => (await me.pending()).length === 0);

before(async () => {
  box = sandbox(files);
  const clangd = path.join(box.ws, 'clangd.cjs'); // where a confined program may read it
  fs.copyFileSync(path.join(import.meta.dirname, 'clangd.cjs'), clangd);
  servers = { 'sidecar.languageServers': { clangd: { command: [process.execPath, clangd] } } };
  box.machine(servers);
  // There from the beginning: while something runs confined, a project that has no such file shows an empty directory in its place.
  theirs = path.join(box.ws, 'theirs.cjs');
  fs.copyFileSync(path.join(import.meta.dirname, 'theirs.cjs'), theirs);
  fs.writeFileSync(path.join(box.ws, '.mcp.json'), JSON.stringify({ mcpServers: { theirs: { command: process.execPath, args: [theirs] } } }));
  git('init', '-q', '-b', 'main');
  git('add', '.');
  git('commit', '-q', '-m', 'first');
  ({ server, browser, page, me } = await open(box, vsix));
}, { timeout: 240_000 });

const test = steps(() => ({ me, page, shot: path.join(shots ?? box.root, 'failed.png') }), 180_000);

after(() => tidy({ box, server, browser }));

test('the server starts when the view is opened, and the mode can be chosen', async () => {
  await me.reveal();
  await me.shows('mode', /cautious/);
  await me.view('Pending Changes').locator('.welcome-view-content', { hasText: 'Nothing is pending' }).waitFor();
  await me.status('mode').click();
  await page.locator('.quick-input-list .monaco-list-row', { hasText: 'cautious' }).waitFor();
  await me.shot('mode');
  await me.choose('review');
  await me.shows('mode', /review/);
});

test('a tool is run from its form, and its result is a document', async () => {
  await me.command('SideCar: Manage');
  await (await me.manage('Tools')).locator('.item').nth(1).waitFor();
  const form = page.frameLocator('iframe.webview.ready').frameLocator('iframe#active-frame'), pattern = form.locator('[name=pattern]');
  await me.act('Tools', 'Search in files', 'Run…', 'the form', async () => await pattern.count() > 0);
  await pattern.fill('line 17');
  await me.shot('form');
  await form.locator('button[type=submit]').click();
  await eventually('the result', async () => /4 matches in 4 files|line 17/.test(await me.text(page.locator('.editor-group-container .view-lines'))));
  await me.shot('result');
  await (await me.item('Activity', 'Searched for line 17')).waitFor();
  await me.command('View: Close All Editors');
});

test('what is wrong in a form is said beside the field', async () => {
  await me.pick('SideCar: Run Tool', 'Read file', 'read_file');
  const form = page.frameLocator('iframe.webview.ready').frameLocator('iframe#active-frame');
  await form.locator('[name=path]').fill('README.md');
  await form.locator('summary').click();
  await form.locator('[name=ranges], [name=offset]').first().waitFor();
  const offset = form.locator('[name=offset]');
  await offset.evaluate(el => { el.type = 'text'; });
  await offset.fill('x');
  await form.locator('button[type=submit]').click();
  await form.locator('[data-error=offset]', { hasText: 'a whole number is expected' }).waitFor();
  await me.command('View: Close All Editors');
});

test('three files with seven hunks are a tree', async () => {
  for (const [file, line, text] of [
    ['README.md', 3, 'line three\n'], ['README.md', 25, 'line 25\nand one more\n'],
    ['src/store/keys.txt', 5, 'key five\n'], ['src/store/keys.txt', 30, ''], ['src/store/keys.txt', 55, 'key 55\n'],
    ['src/store/values.txt', 4, 'value four\n'], ['src/store/values.txt', 36, 'value 36\n'],
  ]) {
    const r = await edit(file, line, text);
    assert.equal(r.ok, true, r.content);
    assert.equal(r.changes[0].state, 'pending');
  }
  await eventually('the badge', async () => /3/.test(await me.text(me.container.locator('.badge-content'))));
  await eventually('the tree', async () => assert.deepEqual(await me.rows(), ['src/store', 'keys.txt +2 −3', 'values.txt +2 −2', 'README.md +2 −1']) ?? true);
  await me.shows('count', /3/);
  await me.unfold(me.row('keys.txt'));
  await eventually('the hunks', async () => (await me.rows()).some(r => /key five \+1 −1 line 5/.test(r)));
  assert.equal(disk('README.md'), files['README.md']);
  await me.shot('tree');
});

test('one hunk is accepted by its lens in the diff', async () => {
  await me.click(me.row('keys.txt'), 'the diff', async () => /key five/.test(await me.text(me.modified)) && /line 5/.test(await me.text(me.original)));
  const lens = page.locator('.monaco-diff-editor .editor.modified .codelens-decoration a', { hasText: /^Accept$/ });
  await eventually('a lens for each hunk', async () => await lens.count() >= 1);
  await me.shot('diff');
  await me.click(lens.first(), 'the file', async () => disk('src/store/keys.txt').includes('key five'));
  assert.ok(disk('src/store/keys.txt').includes('line 30\n'), 'the others wait');
  await eventually('two hunks are left', async () => (await me.pending()).find(e => e.path.endsWith('keys.txt')).hunks.length === 2);
  await eventually('the row is gone', async () => !(await me.rows()).some(r => /key five/.test(r)));
});

test('another hunk is rejected in the tree', async () => {
  const row = me.row('− line 30');
  await me.click(row, 'rejected', async () => {
    if ((await me.pending()).find(e => e.path.endsWith('keys.txt')).hunks.length === 1) { return true; }
    await me.inline(row, 'Reject').catch(() => {});
    return false;
  });
  assert.ok(disk('src/store/keys.txt').includes('line 30\n'));
});

test('the proposal is edited and saved, and the file is as it was', async () => {
  await me.click(me.row('values.txt'), 'the diff', async () => /value four/.test(await me.text(me.modified)));
  await me.place(me.modified, 'value four', 4);
  await page.keyboard.press('End');
  await page.keyboard.type(' and my own');
  await page.keyboard.press('Control+S');
  await eventually('the new proposal', async () => (await me.pending()).some(e => e.hunks.some(h => h.text.includes('+value four and my own'))));
  await eventually('the tree says so', async () => { await me.unfold(me.row('values.txt')); return (await me.rows()).some(r => /value four and my own/.test(r)); });
  await eventually('saved', async () => await page.locator('.tab.active.dirty').count() === 0);
  assert.equal(disk('src/store/values.txt'), files['src/store/values.txt']);
});

test('a file is accepted from the title of its diff, which closes', async () => {
  await me.click(me.title('Accept'), 'the file', async () => disk('src/store/values.txt').includes('value four and my own'));
  await eventually('the diff is closed', async () => await page.locator('.tab', { hasText: 'values.txt' }).count() === 0);
  await eventually('the next file', async () => /README\.md/.test(await me.text(page.locator('.tab.active'))) && /line three/.test(await me.text(me.modified)));
  await eventually('the badge', async () => /2/.test(await me.text(me.container.locator('.badge-content'))));
});

test('the menu beside the line numbers decides on a change', async () => {
  await me.click(me.row('README.md'), 'the diff', async () => /line three/.test(await me.text(me.modified)));
  const number = page.locator('.monaco-diff-editor .editor.modified .margin .line-numbers', { hasText: /^3$/ });
  const menu = page.locator('.context-view .action-item'), reject = menu.filter({ hasText: 'Reject This Change' });
  const rejected = async () => (await me.pending()).find(e => e.path === 'README.md').hunks.length === 1;
  await eventually('rejected', async () => {
    if (await rejected()) { return true; }
    if (await reject.count() === 0) { // or a slow menu is there from the round before
      if (await menu.count() > 0) { await page.keyboard.press('Escape'); } // opened before VS Code knew that something is pending here
      await number.click({ button: 'right', timeout: 3000 });
    }
    await reject.click({ timeout: 3000 });
    return eventually('rejected', rejected, 5000).catch(() => false); // a second click would reject what comes next
  });
  assert.equal((await edit('README.md', 3, 'line three\n')).ok, true);
  await eventually('two again', async () => (await me.pending()).find(e => e.path === 'README.md').hunks.length === 2);
  await me.command('View: Close All Editors');
});

test('the keyboard goes to the next change and accepts it', async () => {
  await me.command('SideCar: Next Pending Change');
  await eventually('the diff of keys.txt', async () => /key 55/.test(await me.text(me.modified)));
  const accepted = () => disk('src/store/keys.txt').includes('key 55');
  await eventually('accepted', async () => { // the key does nothing until VS Code knows that something is pending here
    if (accepted()) { return true; }
    await me.place(me.modified, 'key 55', 55);
    await page.keyboard.press('Control+Alt+Enter');
    return eventually('accepted', accepted, 4000).catch(() => false);
  });
  await eventually('one file is left', async () => (await me.pending()).length === 1);
  await me.command('SideCar: Undo Last Agent Edit');
  await eventually('taken back', async () => (await me.pending()).length === 2 && !disk('src/store/keys.txt').includes('key 55'));
});

test('pending changes are tested before they are accepted', async () => {
  const makefile = path.join(box.ws, 'Makefile');
  fs.writeFileSync(makefile, 'test:\n\tgrep -q "key 55" src/store/keys.txt\n');
  await me.command('SideCar: Test These Changes');
  const shown = () => me.text(me.view('Pending Changes'));
  await eventually('the view says so', async () => /Tested: make test/.test(await shown()));
  assert.ok(!disk('src/store/keys.txt').includes('key 55'));
  await me.shot('tested');
  assert.equal((await me.call('edit_file', { path: 'src/store/keys.txt', search: 'key 55', replace: 'key fifty-five' })).ok, true);
  await eventually('it is stale', async () => /Tested, and changed since/.test(await shown()));
  await me.command('SideCar: Test These Changes');
  await eventually('the tests fail', async () => /Tests failed: make test/.test(await shown()));
  assert.equal((await me.call('edit_file', { path: 'src/store/keys.txt', search: 'key fifty-five', replace: 'key 55' })).ok, true);
  fs.rmSync(makefile);
});

test('a change of the user\'s own in a hunk is shown as a conflict', async () => {
  await me.command('View: Close All Editors');
  await me.ask({ eval: `await vscode.window.showTextDocument(vscode.Uri.joinPath(vscode.workspace.workspaceFolders[0].uri, 'README.md'))` });
  await me.place(page.locator('.editor-instance'), /^line.3$/, 3);
  await page.keyboard.press('End');
  await page.keyboard.type(' of mine');
  await eventually('the conflict', async () => (await me.pending()).find(e => e.path === 'README.md')?.state === 'conflict');
  await eventually('the tree says so', async () => (await me.rows()).some(r => /README.md .*conflict/.test(r)));
  await page.locator('.codelens-decoration a', { hasText: "Take the agent's" }).first().waitFor();
  await page.keyboard.press('Control+S');
  await eventually('saved', () => disk('README.md').includes('line 3 of mine\n'));
  await me.click(me.row('README.md'), 'both texts', async () => /line three/.test(await me.text(me.modified)) && /line 3 of mine/.test(await me.text(me.original)));
  await me.title('Keep Mine').waitFor();
  await me.shot('conflict');
});

test('all diffs are one editor', async () => {
  await me.command('SideCar: Show All Diffs');
  await eventually('both files', async () => { const t = await me.text(page.locator('.multiDiffEntry')); return /keys\.txt/.test(t) && /README\.md/.test(t); });
  await me.shot('all-diffs');
  await me.command('View: Close All Editors');
});

test('ticked changes are decided together', async () => {
  assert.equal((await edit('docs/guide.txt', 2, 'guide two\n')).ok, true);
  assert.equal((await edit('docs/guide.txt', 18, 'guide 18\n')).ok, true);
  await me.row('guide.txt').waitFor();
  await eventually('ticked', async () => {
    if (await me.row('guide.txt').locator('.monaco-custom-toggle.checked').count() > 0) { return true; }
    await me.row('guide.txt').locator('.monaco-custom-toggle').click({ timeout: 3000 });
    return false;
  });
  await me.shot('ticked');
  await eventually('rejected', async () => {
    if (!(await me.pending()).some(e => e.path === 'docs/guide.txt')) { return true; }
    await me.view('Pending Changes').locator('.pane-header').hover();
    await me.view('Pending Changes').locator('.pane-header .action-label[aria-label^="Reject Checked"]').click({ timeout: 3000 });
    return false;
  });
  assert.equal((await me.pending()).length, 2);
});

test('everything is accepted after a question; what is in conflict stays', async () => {
  await me.command('SideCar: Accept All Pending Changes');
  await me.dialog.waitFor();
  assert.match(await me.text(me.dialog), /Accept all pending changes\?[\s\S]*2 files[\s\S]*in conflict/);
  await me.shot('accept-all');
  await me.dialog.locator('.monaco-button', { hasText: 'Accept All' }).click();
  await eventually('accepted', async () => disk('src/store/keys.txt').includes('key 55'));
  await me.notified('Not accepted');
  await eventually('the conflict is left', async () => (await me.rows()).some(r => /README.md/.test(r)) && (await me.pending()).length === 1);
  await me.clearMessages();
  await me.click(me.row('README.md'), 'the diff', async () => /line three/.test(await me.text(me.modified)));
  await me.click(page.locator('.monaco-diff-editor .editor.modified .codelens-decoration a', { hasText: "Take the agent's" }).first(), 'the agent\'s text', async () => disk('README.md').includes('line three\n'));
  assert.ok(!disk('README.md').includes('of mine'));
  await me.command('SideCar: Undo Last Agent Edit');
  await eventually('mine again', async () => disk('README.md').includes('line 3 of mine\n') && (await me.pending()).length === 1);
  await me.command('SideCar: Reject All Pending Changes');
  await me.dialog.locator('.monaco-button', { hasText: 'Reject All' }).click();
  await idle();
  await me.view('Pending Changes').locator('.welcome-view-content', { hasText: 'Nothing is pending' }).waitFor();
});

test('an audit batch is one item, with its commits, which are made when it is accepted', async () => {
  git('config', 'user.name', 'Tester');
  git('config', 'user.email', 'tester@example.org');
  git('add', '.');
  git('commit', '-q', '-m', 'second');
  await me.agent('sidecar.session.open', { id: 'helper', mode: 'audit' });
  for (const [line, text] of [[7, 'seven\n'], [9, 'nine\n']]) { assert.equal((await edit('docs/guide.txt', line, text, 'helper')).ok, true); }
  const queued = await me.call('git_commit', { message: 'guide: words for numbers' }, 'helper');
  assert.equal(queued.ok, true, queued.content);
  await me.row('Batch of helper').waitFor();
  await me.row('guide.txt').waitFor();
  await me.row('guide: words for numbers').waitFor();
  await me.shot('batch');
  await me.click(me.row('Batch of helper'), 'accepted', async () => {
    if (disk('docs/guide.txt').includes('seven\n')) { return true; }
    await me.inline(me.row('Batch of helper'), 'Accept').catch(() => {});
    return false;
  });
  assert.ok(disk('docs/guide.txt').includes('nine\n'));
  await idle();
  await eventually('the commit', () => git('log', '--format=%s').startsWith('guide: words for numbers\n'));
});

test('a tag of a command waits in a row of its own, and is made when all is accepted', async () => {
  await me.agent('sidecar.session.open', { id: 'tagger', mode: 'review' });
  const args = { command: "git tag -am 'the first words' v1" };
  box.machine({ ...servers, 'sidecar.toolPermissions': { run_command: 'allow' } });
  await eventually('the setting holds', async () => (await me.agent('sidecar.policy.explain', { name: 'run_command', arguments: args, session: 'tagger' })).decision === 'allow');
  const r = await me.call('run_command', args, 'tagger');
  assert.equal(r.ok, true, r.content);
  if (!/waits for the user/.test(r.content)) { return; } // commands have no world here
  await me.row('New tag v1').waitFor();
  await me.shot('tag');
  assert.equal(git('tag'), '');
  await me.agent('sidecar.review.accept', { session: 'tagger' });
  await idle();
  assert.equal(git('tag', '-n').trim(), 'v1              the first words');
  box.machine(servers);
});

test('an approval that is denied changes nothing; the agent is told why', async () => {
  await me.agent('sidecar.mode.set', { mode: 'cautious' });
  await me.clearMessages();
  const call = edit('docs/guide.txt', 11, 'eleven\n');
  await me.row('guide.txt', 'Agents').waitFor();
  await me.toast('guide.txt').waitFor();
  await me.shows('count', /1/);
  await me.shot('question');
  await me.command('SideCar: Deny with a Reason');
  await me.type('eleven is enough');
  const r = await call;
  assert.equal(r.ok, false);
  assert.equal(r.error.code, 'not_approved');
  assert.match(r.content, /eleven is enough/);
  assert.ok(disk('docs/guide.txt').includes('line 11\n'));
  await eventually('the row is gone', async () => await me.row('guide.txt', 'Agents').count() === 0);
});

// The words in the title of an editor.
const titled = async () => (await page.locator('.editor-actions .action-label').allInnerTexts()).map(text => text.trim()).filter(Boolean);

test('an approval that is given lets it happen', async () => {
  await me.clearMessages();
  const call = edit('docs/guide.txt', 12, 'twelve\n');
  await me.view('Agents').locator('.monaco-list-row').first().waitFor();
  await me.click(me.view('Agents').locator('.monaco-list-row').first(), 'the diff of the question', async () => /twelve/.test(await me.text(me.modified)) && /line 12/.test(await me.text(me.original)) && /line 1\n/.test(await me.text(me.modified)));
  await me.shot('question-diff');
  assert.deepEqual(await titled(), ['Allow Once', 'Deny', 'More…']);
  await me.click(me.title('Allow Once'), 'answered', async () => (await call).ok);
  assert.ok(disk('docs/guide.txt').includes('twelve\n'));
  await eventually('the diff is closed', async () => await page.locator('.tab').count() === 0);
});

test('an approval of several files is one editor of all their diffs, which closes with the answer', async () => {
  await me.clearMessages();
  const call = me.call('apply_patch', { patch: '*** Begin Patch\n*** Update File: docs/guide.txt\n@@\n line 13\n-line 14\n+fourteen\n line 15\n*** Add File: docs/new.txt\n+all new\n*** End Patch' });
  await me.view('Agents').locator('.monaco-list-row').first().waitFor();
  const diffs = page.locator('.multiDiffEntry');
  await me.click(me.view('Agents').locator('.monaco-list-row').first(), 'both diffs', async () => { const text = await me.text(diffs); return /guide\.txt/.test(text) && /fourteen/.test(text) && /new\.txt/.test(text) && /all new/.test(text); });
  await me.shot('question-files');
  assert.deepEqual(await titled(), ['Allow Once', 'Deny', 'More…']);
  assert.ok(disk('docs/guide.txt').includes('line 14\n'));
  await me.click(me.title('Allow Once'), 'answered', async () => fs.existsSync(path.join(box.ws, 'docs/new.txt')));
  assert.equal((await call).ok, true);
  assert.ok(disk('docs/guide.txt').includes('fourteen\n'));
  await eventually('the editor is closed', async () => await page.locator('.tab').count() === 0);
});

test('a command is asked about; what is allowed for the session is not asked again', async () => {
  const command = 'touch made.txt', made = path.join(box.ws, 'made.txt');
  let call = me.call('run_command', { command });
  await me.dialog.waitFor();
  assert.match(await me.text(me.dialog), /Run `touch made\.txt`\?/);
  await me.shot('command');
  await me.press('Enter');
  assert.equal((await call).error?.code, 'not_approved');
  assert.equal(fs.existsSync(made), false);
  call = me.call('run_command', { command });
  await me.dialog.locator('.monaco-button', { hasText: 'More…' }).click();
  await page.locator('.quick-input-list .monaco-list-row', { hasText: 'Deny with a reason' }).waitFor();
  await me.shot('answers');
  await me.choose('Allow for this session');
  let r = await call;
  assert.equal(r.ok, true, r.content);
  assert.ok(fs.existsSync(made));
  fs.rmSync(made);
  r = await me.call('run_command', { command });
  assert.equal(r.ok, true, r.content);
  assert.ok(fs.existsSync(made));
  fs.rmSync(made);
});

test('what deletes is asked in a dialog; Enter denies, and Escape leaves the question in the view', async () => {
  let call = me.call('delete_file', { path: 'docs/guide.txt' });
  await me.dialog.waitFor();
  assert.match(await me.text(me.dialog), /guide\.txt/);
  await me.shot('dialog');
  await me.press('Enter');
  assert.equal((await call).error?.code, 'not_approved');
  assert.ok(fs.existsSync(path.join(box.ws, 'docs/guide.txt')));
  call = me.call('delete_file', { path: 'docs/guide.txt' });
  await me.dialog.waitFor();
  await me.press('Escape');
  await me.dialog.waitFor({ state: 'hidden' });
  await me.view('Agents').locator('.monaco-list-row', { hasText: 'guide.txt' }).waitFor();
  await me.pick('SideCar: Answer Question', 'Allow once');
  assert.equal((await call).ok, true);
  assert.equal(fs.existsSync(path.join(box.ws, 'docs/guide.txt')), false);
});

test('what can\'t be undone needs a typed word', async () => {
  fs.appendFileSync(path.join(box.ws, 'README.md'), 'to be put away\n');
  git('stash', '-q');
  const call = me.call('git_stash', { action: 'drop' });
  await me.dialog.waitFor();
  assert.match(await me.text(me.dialog), /git stash drop/);
  await me.shot('irrecoverable');
  await me.dialog.locator('.monaco-button', { hasText: 'Allow…' }).click();
  await me.type('confirm');
  await page.locator('.quick-input-message', { hasText: 'CONFIRM is expected' }).waitFor();
  assert.match(git('stash', 'list'), /stash/);
  await me.type('CONFIRM');
  const r = await call;
  assert.equal(r.ok, true, r.content);
  assert.equal(git('stash', 'list'), '');
});

test('a question of the agent is answered from its message', async () => {
  const call = me.call('ask_user', { question: 'Which colour shall it be?', options: ['red', 'green'] });
  await me.toast('Which colour').locator('.monaco-button', { hasText: 'green' }).click();
  assert.match((await call).content, /green/);
});

test('activity, metrics, sessions and tools', async () => {
  await (await me.item('Sessions', 'helper')).waitFor();
  await me.shot('manage-sessions');
  await (await me.item('Activity', 'Asked: Which colour')).waitFor();
  await me.shot('manage-activity');
  await me.act('Activity', 'Asked: Which colour', 'Asked: Which colour', 'the call', async () => /Arguments/.test(await me.text(page.locator('.editor-group-container .view-lines'))));
  await me.command('sidecar.showMetrics');
  const metrics = await me.manage('Metrics');
  await metrics.locator('th code', { hasText: 'edit_file' }).waitFor();
  await me.shot('manage-metrics');
  await me.command('View: Close All Editors');
});

test('output is shown as it comes', async () => {
  await me.agent('sidecar.session.open', { id: 'runner', mode: 'autonomous' });
  const args = { command: 'echo first; until [ -e go ]; do sleep 0.1; done; echo second' };
  box.machine({ ...servers, 'sidecar.toolPermissions': { run_command: 'allow' } }); // also where no sandbox is
  await eventually('the setting holds', async () => (await me.agent('sidecar.policy.explain', { name: 'run_command', arguments: args, session: 'runner' })).decision === 'allow');
  const call = me.call('run_command', args, 'runner');
  const document = page.locator('.editor-group-container .view-lines');
  await me.act('Activity', 'Ran echo first', 'Ran echo first', 'what it has printed by now', async () => /^first$/m.test(await me.text(document)));
  assert.doesNotMatch(await me.text(document), /^second$/m);
  fs.writeFileSync(path.join(box.ws, 'go'), 'on\n');
  const r = await call;
  assert.equal(r.ok, true, r.content);
  await eventually('the rest', async () => /^second$/m.test(await me.text(document)));
  await me.shot('call');
  await me.command('View: Close All Editors');
});

test('diagrams are drawn, when an agent shows one without taking the focus', async () => {
  await me.ask({ eval: `await vscode.window.showTextDocument(vscode.Uri.joinPath(vscode.workspace.workspaceFolders[0].uri, 'docs/design.md'))` });
  const drawings = page.frameLocator('iframe.webview.ready').frameLocator('iframe#active-frame');
  assert.equal((await me.call('display_diagram', { path: 'docs/design.md' })).ok, true);
  await drawings.locator('.drawing svg', { hasText: 'a person' }).waitFor();
  assert.match(await page.evaluate(() => document.activeElement.closest('.editor-group-container')?.innerText ?? ''), /# Design/, 'the focus is where it was');
  await me.command('SideCar: Show Diagrams of This File');
  await drawings.locator('figure').nth(2).waitFor();
  await drawings.locator('.about', { hasText: 'graphviz is not drawn' }).waitFor();
  await drawings.locator('.error', { hasText: /Parse error|Lexical error|Syntax error/i }).waitFor();
  await eventually('one drawing', async () => await drawings.locator('.drawing svg').count() === 1);
  await me.shot('diagrams');
  await me.command('View: Close All Editors');
});

test('what a pending edit would break is told beside it', async () => {
  await me.agent('sidecar.mode.set', { mode: 'review' });
  assert.equal((await me.call('write_file', { path: 'src/count.c', content: 'int count;\nBROKEN\n' })).ok, true);
  await me.row('count.c').waitFor();
  await eventually('the badge', async () => (await me.rows()).some(r => /count\.c \+1 ⚠ 1 error/.test(r)));
  await me.shot('problems');
  assert.equal((await me.call('write_file', { path: 'src/count.c', content: 'int count;\nint sum;\n' })).ok, true);
  await eventually('it is mended', async () => (await me.rows()).some(r => /count\.c \+1/.test(r) && !/error/.test(r)));
  await me.agent('sidecar.review.reject', {});
  await me.agent('sidecar.mode.set', { mode: 'cautious' });
});

test('the status bar follows the project index', async () => {
  for (let i = 0; i < 300; i++) { fs.writeFileSync(path.join(box.ws, `docs/page${i}.txt`), `page ${i} of the guide\n`); }
  await page.evaluate(() => {
    window.indexTexts = [];
    new MutationObserver(() => {
      const text = document.querySelector('[id="sidecar-ls.sidecar.sidecar.index"]')?.textContent.trim();
      if (text && text !== window.indexTexts.at(-1)) { window.indexTexts.push(text); }
    }).observe(document.querySelector('.part.statusbar'), { subtree: true, childList: true, characterData: true });
  });
  // So few files take a moment, and the screen may draw only what it ends with: they are looked at again until it shows more.
  await eventually('what it is at meanwhile', async () => {
    await me.agent('sidecar.knowledge.rebuild', {});
    return page.evaluate(() => window.indexTexts.some(t => /indexing, \d+ files/.test(t)));
  });
  assert.equal((await me.call('project_knowledge_search', { query: 'page of the guide' })).ok, true);
  await eventually('all files', async () => Number(await me.text(me.status('index'))) >= 300);
  await me.shot('index');
  for (let i = 0; i < 300; i++) { fs.rmSync(path.join(box.ws, `docs/page${i}.txt`)); }
});

test('an MCP server that the project names is used once it is trusted, with the command line that was shown', async () => {
  const row = () => me.item('MCP Servers', 'theirs');
  await eventually('the server', async () => {
    if (await (await row()).count() > 0) { return true; }
    await (await me.manage('MCP Servers')).getByRole('button', { name: 'Refresh' }).click({ timeout: 3000 });
    return eventually('its row', async () => await (await row()).count() > 0, 3000).catch(() => false);
  });
  assert.match(await me.text(await row()), /not trusted/);
  assert.equal(await (await row()).getByRole('button', { name: 'Reconnect' }).count(), 0, 'what is not trusted is not started');
  assert.equal((await me.call('mcp_theirs_echo', { text: 'hello' })).error?.code, 'unavailable');
  const ask = () => me.act('MCP Servers', 'theirs', 'Trust', 'the dialog', async () => await me.dialog.count() > 0);
  await ask();
  assert.ok((await me.text(me.dialog)).includes(`${process.execPath} ${theirs}`), 'the command line as it is run');
  await me.shot('mcp-trust');
  await me.press('Enter');
  await me.dialog.waitFor({ state: 'hidden' });
  await eventually('it is not trusted', async () => /not trusted/.test(await me.text(await row())));
  await ask();
  await me.dialog.locator('.monaco-button', { hasText: /^Trust$/ }).click();
  await eventually('it is connected', async () => /connected.*1 tool/.test(await me.text(await row())));
  await me.shot('manage-mcp');
  await me.agent('sidecar.session.open', { id: 'mcp-user', mode: 'autonomous' });
  const whom = async () => /you said hello to (\S+)/.exec((await me.call('mcp_theirs_echo', { text: 'hello' }, 'mcp-user')).content)?.[1];
  const first = await whom();
  assert.ok(first);
  await me.act('MCP Servers', 'theirs', 'Reconnect', 'another process answers', async () => ![undefined, first].includes(await whom()));
  await eventually('it is connected again', async () => /connected/.test(await me.text(await row())));
});

test('a plugin is loaded once it is trusted, with what it would run in the question', async () => {
  const dir = path.join(box.home, '.local/share/sidecar/plugins/tidy');
  const put = (name, text, mode) => {
    fs.mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
    fs.writeFileSync(path.join(dir, name), text, { mode });
  };
  put('plugin.json', JSON.stringify({ $schema: 'https://agent-plugins.org/schemas/1.0.0/plugin.schema.json', name: 'tidy', version: '1.0.0' }));
  put('io.sidecar-ls/tools.json', JSON.stringify({ tools: [{ name: 'tidy_says', description: 'Says it.', command: ['./says.sh'], access: 'read' }] }));
  put('says.sh', '#!/bin/sh\necho all is tidy\n', 0o755);
  const row = () => me.item('Plugins', 'tidy'), refresh = async () => (await me.manage('Plugins')).getByRole('button', { name: 'Refresh' }).click({ timeout: 3000 });
  await eventually('the plugin', async () => {
    if (await (await row()).count() > 0) { return true; }
    await refresh();
    return eventually('its row', async () => await (await row()).count() > 0, 3000).catch(() => false);
  });
  assert.match(await me.text(await row()), /not trusted/);
  assert.equal((await me.call('tidy_says', {})).error?.code, 'unknown_tool');
  const ask = () => me.act('Plugins', 'tidy', 'Trust', 'the dialog', async () => await me.dialog.count() > 0);
  await ask();
  assert.ok((await me.text(me.dialog)).includes('tool tidy_says: ./says.sh'), 'what it would run');
  await me.shot('plugin-trust');
  await me.press('Enter');
  await me.dialog.waitFor({ state: 'hidden' });
  assert.equal((await me.call('tidy_says', {})).error?.code, 'unknown_tool', 'no is first');
  await ask();
  await me.dialog.locator('.monaco-button', { hasText: /^Trust$/ }).click();
  await eventually('it is enabled', async () => /enabled/.test(await me.text(await row())));
  assert.match((await me.call('tidy_says', {})).content, /all is tidy/);
  await me.shot('manage-plugins');
  put('says.sh', '#!/bin/sh\necho something else\n', 0o755); // is not what was trusted
  await eventually('it is not loaded', async () => (await me.call('tidy_says', {})).error?.code === 'unknown_tool');
  await eventually('the row says so', async () => {
    if (/changed since you trusted it/.test(await me.text(await row()))) { return true; }
    await refresh();
    return eventually('its row', async () => /changed/.test(await me.text(await row())), 3000).catch(() => false);
  });
});

test('a shadow workspace is made, merged into the review and discarded', async () => {
  const asked = page.locator('.quick-input-widget input.input');
  await eventually('the name is asked for', async () => {
    await (await me.manage('Shadow Workspaces')).getByRole('button', { name: 'Create…' }).click({ timeout: 3000 });
    return eventually('the field', () => asked.isVisible(), 5000).catch(() => false);
  });
  await me.type('try-it');
  await me.choose('Last commit');
  await (await me.item('Shadow Workspaces', 'try-it')).waitFor();
  await me.agent('sidecar.session.open', { id: 'shadowed', mode: 'autonomous', shadow: 'try-it' });
  assert.equal((await edit('src/store/values.txt', 20, 'twenty\n', 'shadowed')).ok, true);
  await (await me.item('Shadow Workspaces', '1 file changed')).waitFor();
  await me.shot('manage-shadows');
  await me.act('Shadow Workspaces', 'try-it', 'Show Diff', 'the diff', async () => /\+twenty/.test(await me.text(page.locator('.editor-group-container .view-lines'))));
  await me.shot('shadow');
  await me.pick('sidecar.shadowMerge', 'try-it'); // as a command, it asks which
  await eventually('it waits for review', async () => (await me.pending()).some(e => e.path === 'src/store/values.txt'));
  assert.ok(!disk('src/store/values.txt').includes('twenty'));
  await me.agent('sidecar.session.close', { session: 'shadowed' });
  await me.act('Shadow Workspaces', 'try-it', 'Discard', 'the dialog', async () => await me.dialog.count() > 0);
  await me.dialog.locator('.monaco-button', { hasText: 'Discard' }).click();
  await eventually('discarded', async () => (await me.agent('sidecar.shadow.list', {})).shadows.length === 0);
  await (await me.manage('Shadow Workspaces')).locator('.note', { hasText: 'There are none' }).waitFor();
  await me.agent('sidecar.review.reject', {});
  await me.command('View: Close All Editors');
});

test('the walkthrough opens', async () => {
  await me.pick('Welcome: Open Walkthrough...', 'Work with agents in SideCar');
  await page.locator('.gettingStartedContainer', { hasText: 'Start an agent' }).waitFor();
  const ticked = step => page.locator(`.gettingStartedContainer [data-done-step-id$="#${step}"]`).first().getAttribute('aria-checked');
  for (const step of ['start', 'see', 'accept', 'allow']) { assert.equal(await ticked(step), 'false', step); } // nothing was done since
  await me.agent('sidecar.mode.set', { mode: 'review' });
  assert.equal((await edit('src/store/values.txt', 21, 'twenty-one\n')).ok, true);
  await me.agent('sidecar.review.accept', {});
  await eventually('the step is ticked', async () => await ticked('accept') === 'true');
  assert.equal(await ticked('start'), 'false', 'nobody has');
  await me.agent('sidecar.mode.set', { mode: 'cautious' });
  await me.shot('walkthrough');
  await me.command('View: Close All Editors');
});

test('a language model\'s tool is the server\'s', async () => {
  const text = await me.ask({ eval: `
    const r = await vscode.lm.invokeTool('sidecar_read_file', { input: { path: 'README.md' }, toolInvocationToken: undefined });
    return r.content[0].value` });
  assert.match(text, /line 10/);
});

// The server has children of the same program (parsers, what confines commands), which may outlive it for a moment.
const serverPid = () => fs.readdirSync('/proc').filter(p => /^\d+$/.test(p)).find(p => {
  try {
    const [program, ...args] = fs.readFileSync(`/proc/${p}/cmdline`, 'utf8').split('\0');
    return program.startsWith(`${box.extensions}/`) && args[0] === 'serve';
  } catch { return false; }
});
/** Kills the server; returns when its client has another that answers, or has given up. */
async function kill(after) {
  const pid = await eventually('the server', serverPid);
  process.kill(Number(pid), 'SIGKILL');
  await eventually('its end', () => serverPid() !== pid);
  await after();
}
const answers = () => eventually('it answers again', async () => (await me.pending()).length === 1);

test('a server that is killed is started again, and nothing pending is lost', async () => {
  await me.agent('sidecar.mode.set', { mode: 'review' });
  assert.equal((await edit('docs/kept.txt', 12, 'twelve\n')).ok, true);
  await me.click(me.row('kept.txt'), 'the diff', async () => /twelve/.test(await me.text(me.modified)));
  await kill(answers);
  await me.notified('ended unexpectedly');
  await me.shot('crash');
  await me.row('kept.txt').waitFor();
  assert.equal(await page.locator('.tab', { hasText: 'kept.txt' }).count(), 1, 'the diff is still open');
});

test('one that is killed again and again is left alone until it is wanted', async () => {
  for (let n = 0; n < 3; n++) { await kill(answers); }
  await kill(() => eventually('the status bar', async () => await me.status('mode').locator('.codicon-error').count() === 1));
  assert.equal(serverPid(), undefined);
  await me.view('Pending Changes').locator('.welcome-view-content', { hasText: 'The server is not running' }).waitFor();
  assert.equal(await page.locator('.tab', { hasText: 'kept.txt' }).count(), 1, 'the diff is still open');
  assert.equal(await page.locator('.tab .strikethrough').count(), 0, 'and not said to be gone');
  await me.shot('down');
  await me.notified('is not started again');
  await me.command('SideCar: Restart Server');
  await answers();
  await me.row('kept.txt').waitFor();
  await eventually('its diff', async () => /twelve/.test(await me.text(me.modified)));
  await me.clearMessages();
});

test('what is pending is there after the window was reloaded', async () => {
  await me.kept('kept.txt');
  await page.reload({ waitUntil: 'commit' });
  await me.container.waitFor({ timeout: 90_000 });
  await eventually('the badge', async () => /1/.test(await me.text(me.container.locator('.badge-content'))));
  await me.reveal();
  await me.row('kept.txt').waitFor();
  await eventually('the diff that was open', async () => /twelve/.test(await me.text(me.modified)));
});

test('a thousand files', async () => {
  await eventually('the agent answers', async () => (await me.pending()).length === 1, 60_000);
  await me.agent('sidecar.mode.set', { mode: 'review' });
  const patch = ['*** Begin Patch', ...Array.from({ length: 1000 }, (_, i) => `*** Add File: many/d${i % 20}/f${i}.txt\n+text ${i}`), '*** End Patch'].join('\n');
  const r = await me.call('apply_patch', { patch });
  assert.equal(r.ok, true, r.content);
  await eventually('the badge', async () => /1001|1K|1,001/.test(await me.text(me.container.locator('.badge-content'))));
  await me.row('1001 files').waitFor();
  await me.row('d0').first().waitFor();
  await me.shot('thousand');
  await me.command('SideCar: Reject All Pending Changes');
  await me.dialog.locator('.monaco-button', { hasText: 'Reject All' }).click();
  await idle();
});
