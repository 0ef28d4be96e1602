// A workspace that is not trusted, a server that can't be started, and the server as others of this window find it.
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import test from 'node:test';
import { eventually, person } from './person.mjs';
import { browse, install, remove, sandbox, serve } from './workbench.mjs';

const vsix = path.resolve(process.env.VSIX ?? path.join(import.meta.dirname, '../../sidecar.vsix'));

test('without trust the workspace\'s settings do not apply and nothing is edited; then it is trusted', { timeout: 400_000 }, async () => {
  const box = sandbox({
    'a.txt': 'one\n',
    '.vscode/settings.json': JSON.stringify({ 'sidecar.server.path': '/nowhere/evil' }),
    '.sidecar/settings.json': JSON.stringify({ mode: 'autonomous' }),
  });
  box.settings({ 'chat.disableAIFeatures': false }); // or there is no MCP
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
    await me.reveal();
    await me.view('Pending Changes').locator('.welcome-view-content', { hasText: 'agents can only read' }).waitFor();
    await me.shot('untrusted');
    await me.command('SideCar: Focus Agent');
    const agent = page.frameLocator('iframe.webview.ready').frameLocator('iframe#active-frame');
    await agent.locator('#app', { hasText: 'Trust this folder first' }).waitFor();
    assert.equal(await agent.locator('.composer textarea').isDisabled(), true);
    await me.shot('agent-untrusted');
    await me.command('View: Hide Secondary Side Bar');
    assert.equal(fs.readFileSync(path.join(box.ws, 'a.txt'), 'utf8'), 'one\n');
    const list = page.locator('.quick-input-list .monaco-list-row');
    await me.command('MCP: List Servers');
    await list.filter({ hasText: 'Add Server' }).first().waitFor();
    assert.equal(await list.filter({ hasText: 'SideCar' }).count(), 0, 'it is not announced without trust');
    await page.keyboard.press('Escape');

    await page.locator('[id="status.workspaceTrust"]').click();
    await page.locator('.workspace-trust-editor .monaco-button', { hasText: /^Trust$/ }).first().click();
    // Now the workspace names the server, and it can't run: that is said.
    await me.notified('sidecar.server.path');
    await page.locator('.notification-list-item', { hasText: 'sidecar.server.path' }).locator('.monaco-button', { hasText: 'Open Settings' }).waitFor(); // the project's file is not changed by a click
    await eventually('the editor of trust is closed', async () => {
      if (await page.locator('.workspace-trust-editor').count() === 0) { return true; }
      await me.command('View: Close All Editors');
      return false;
    });
    await eventually('the status bar', async () => await me.status('mode').locator('.codicon-error').count() === 1);
    await me.view('Pending Changes').locator('.welcome-view-content', { hasText: 'The server is not running' }).waitFor();
    await me.shot('no-server');
    fs.writeFileSync(path.join(box.ws, '.vscode/settings.json'), '{}');
    await me.shows('mode', /cautious(?! \(restricted)/); // a project loosens nothing, trusted or not
    await me.agent('sidecar.mode.set', { session: 'default', mode: 'autonomous' });
    assert.equal((await me.call('write_file', { path: 'a.txt', content: 'two\n' })).ok, true);
    assert.equal(fs.readFileSync(path.join(box.ws, 'a.txt'), 'utf8'), 'two\n');

    await me.command('MCP: List Servers');
    await list.filter({ hasText: 'SideCar' }).first().waitFor();
    await me.shot('announced');
    await me.choose('SideCar');
    await me.choose('Start Server');
    const tool = await eventually('its tools', () => me.ask({ eval: `return vscode.lm.tools.find(t => t.name.startsWith('mcp_') && t.name.endsWith('_write_file'))?.name` }));
    const its = await eventually('its session', async () => (await me.agent('sidecar.session.list', {})).sessions.find(s => s.session.startsWith('mcp-'))?.session);
    await me.agent('sidecar.mode.set', { session: its, mode: 'review' });
    const result = me.ask({ eval: `
      const r = await vscode.lm.invokeTool('${tool}', { input: { path: 'b.txt', content: 'by MCP\\n' }, toolInvocationToken: undefined });
      return JSON.stringify(r.content)` });
    await me.dialog.locator('.monaco-button', { hasText: 'Yes' }).click(); // VS Code asks, too
    assert.match(await result, /b\.txt/);
    await me.row('b.txt').waitFor(); // it went through the server of this window
    await (await me.item('Activity', 'Created b.txt')).waitFor();
    await me.shot('by-mcp');
  } catch (e) {
    await page.screenshot({ path: path.join(process.env.SHOTS ?? box.root, 'failed-trust.png') }).catch(() => {});
    throw e;
  } finally {
    await browser.close();
    await server.stop();
  }
  remove(box.root);
});
