// What a folder in a development container has, or one that code-server or Remote-SSH opens on another machine: the browser,
// or the window, is here; the extension, its server and all that they start run where the folder is.
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { after, before } from 'node:test';
import { eventually } from './person.mjs';
import { container, open, steps, tidy } from './workbench.mjs';

const vsix = path.resolve(process.env.VSIX ?? path.join(import.meta.dirname, '../../sidecar.vsix'));

let box, server, browser, me, page;

before(async () => {
  box = container({ 'notes.txt': 'milk\n' });
  ({ server, browser, page, me } = await open(box, vsix));
}, { timeout: 240_000 });

const test = steps(() => ({ me, page, shot: path.join(process.env.SHOTS ?? box.root, 'failed-container.png') }), 120_000);

after(() => tidy({ box, server, browser }));

test('an edit waits in the review and is accepted, in the container', async () => {
  await me.reveal();
  await me.mode('review');
  const r = await me.call('edit_file', { path: 'notes.txt', search: 'milk', replace: 'bread' });
  assert.equal(r.changes[0].state, 'pending', r.content);
  await eventually('the row', async () => assert.deepEqual(await me.rows(), ['notes.txt +1 −1']) ?? true);
  assert.equal(fs.readFileSync(path.join(box.ws, 'notes.txt'), 'utf8'), 'milk\n');
  await me.command('SideCar: Accept All Pending Changes');
  await me.dialog.locator('.monaco-button', { hasText: 'Accept All' }).click();
  await eventually('the file', async () => fs.readFileSync(path.join(box.ws, 'notes.txt'), 'utf8') === 'bread\n');
  await eventually('the file itself is shown', async () => await me.tab() === 'notes.txt');
  await me.command('View: Close All Editors'); // or what is accepted next would wait in it to be saved
});

test('the server and what it runs are in the container, where no namespaces are to be had, and the question says so', async () => {
  assert.equal((await me.call('edit_file', { path: 'notes.txt', search: 'bread', replace: 'butter' })).ok, true);
  const call = me.call('run_command', { command: 'hostname > where.txt; id -u >> where.txt; cat notes.txt; pwd' });
  await me.dialog.waitFor();
  assert.match(await me.text(me.dialog), /Commands are not fully confined here/);
  await me.shot('container-question');
  await me.dialog.locator('.monaco-button', { hasText: 'Allow Once' }).click();
  const r = await call;
  assert.equal(r.ok, true, r.content);
  assert.match(r.content, /Landlock/);
  assert.equal(r.structured.world, 'copy');
  // It works in a copy elsewhere, sees what is pending, and what it writes is reviewed.
  assert.ok(r.content.includes(`butter\n${box.ws}\n`), r.content);
  await eventually('the rows', async () => assert.deepEqual(await me.rows(), ['notes.txt +1 −1', 'where.txt +2']) ?? true);
  assert.equal(fs.existsSync(path.join(box.ws, 'where.txt')), false);
  await me.shot('container-rows');
  await me.command('SideCar: Accept All Pending Changes');
  await me.dialog.locator('.monaco-button', { hasText: 'Accept All' }).click();
  await eventually('the file', async () => fs.readFileSync(path.join(box.ws, 'where.txt'), 'utf8') === 'dev\n1000\n');
  // The file is open, or was a moment ago: the edit goes through its document, which is then saved.
  await eventually('the other file', async () => fs.readFileSync(path.join(box.ws, 'notes.txt'), 'utf8') === 'butter\n');
});
