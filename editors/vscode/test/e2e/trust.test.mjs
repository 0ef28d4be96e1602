// A workspace that is not trusted, and a server that can't be started.
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import test from 'node:test';
import { eventually, person } from './person.mjs';
import { browse, install, sandbox, serve } from './workbench.mjs';

const vsix = path.resolve(process.env.VSIX ?? path.join(import.meta.dirname, '../../sidecar.vsix'));

test('without trust the workspace\'s settings are not heeded and nothing is edited; then it is trusted', { timeout: 240_000 }, async () => {
  const box = sandbox({
    'a.txt': 'one\n',
    '.vscode/settings.json': JSON.stringify({ 'sidecar.server.path': '/nowhere/evil' }),
    '.sidecar/settings.json': JSON.stringify({ mode: 'autonomous' }),
  });
  install(box, vsix);
  const server = await serve(box, { trust: false });
  const { browser, page } = await browse();
  const me = person(page, { agentPort: server.agentPort, shots: process.env.SHOTS });
  try {
    await page.goto(server.url, { waitUntil: 'commit' });
    await me.container.waitFor({ timeout: 90_000 });
    await me.shows('mode', /cautious \(restricted\)/); // not autonomous, and by the bundled server
    assert.equal((await me.call('read_file', { path: 'a.txt' })).ok, true);
    const refused = await me.call('write_file', { path: 'a.txt', content: 'two\n' });
    assert.equal(refused.ok, false);
    assert.equal(refused.decision.rule, 'workspace.untrusted');
    await me.shot('untrusted');
    assert.equal(fs.readFileSync(path.join(box.ws, 'a.txt'), 'utf8'), 'one\n');

    await page.locator('[id="status.workspaceTrust"]').click();
    await page.locator('.workspace-trust-editor .monaco-button', { hasText: /^Trust$/ }).first().click();
    // Now the workspace names the server, and it can't run: that is said.
    await me.told('sidecar.server.path');
    await eventually('the status bar', async () => await me.status('mode').locator('.codicon-error').count() === 1);
    await me.shot('no-server');
    fs.writeFileSync(path.join(box.ws, '.vscode/settings.json'), '{}');
    await me.shows('mode', /autonomous/);
    assert.equal((await me.call('write_file', { path: 'a.txt', content: 'two\n' })).ok, true);
    assert.equal(fs.readFileSync(path.join(box.ws, 'a.txt'), 'utf8'), 'two\n');
  } catch (e) {
    await page.screenshot({ path: path.join(process.env.SHOTS ?? box.root, 'failed-trust.png') }).catch(() => {});
    throw e;
  } finally {
    await browser.close();
    await server.stop();
  }
  fs.rmSync(box.root, { recursive: true, force: true });
});
