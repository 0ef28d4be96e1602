// Starts VS Code's own workbench, as code-server has it, in throw-away directories, and a browser on it.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as net from 'node:net';
import * as os from 'node:os';
import * as path from 'node:path';
import test from 'node:test';
import { chromium } from 'playwright-core';
import { person } from './person.mjs';

const cache = process.env.SIDECAR_VSCODE_CACHE ?? path.join(process.env.XDG_CACHE_HOME ?? path.join(os.homedir(), '.cache'), 'sidecar-vscode');
/** newest, or floor: the oldest VS Code that the extension runs in. Each has the Node that it wants beside it. */
const workbench = path.join(cache, process.env.WORKBENCH ?? 'newest');
const node = path.join(workbench, 'node/bin/node');
const main = path.join(workbench, 'lib/vscode/out/server-main.js');

/** Ports that are free, each another: both are held until the last is known, as one that was given back may be given again. */
async function freePorts(n) {
  const held = await Promise.all(Array.from({ length: n }, () => new Promise((resolve, reject) => {
    const s = net.createServer().once('error', reject).listen(0, '127.0.0.1', () => resolve(s));
  })));
  const ports = held.map(s => s.address().port);
  await Promise.all(held.map(s => new Promise(r => s.close(r))));
  return ports;
}

/** Settings under which the screen is the same each time. Names and values are today's: what is out of date is written again while tests run. */
const settings = {
  'workbench.startupEditor': 'none', 'workbench.tips.enabled': false, 'workbench.enableExperiments': false, 'workbench.reduceMotion': 'on',
  'workbench.secondarySideBar.defaultVisibility': 'hidden', 'chat.disableAIFeatures': true, 'chat.commandCenter.enabled': false, 'window.commandCenter': false,
  'telemetry.telemetryLevel': 'off', 'update.mode': 'none', 'extensions.autoCheckUpdates': false, 'extensions.autoUpdate': 'off', 'extensions.ignoreRecommendations': true,
  'git.enabled': false, 'git.openRepositoryInParentFolders': 'never', 'files.autoSave': 'off', 'security.workspace.trust.startupPrompt': 'never',
  'workbench.hover.delay': 600_000, 'workbench.hover.reducedDelay': 600_000, // what is told of a row covers those below it
  'sidecar.commands.ask': 'always', // the tests answer questions, also where a command could run without one
  'editor.minimap.enabled': false, 'editor.cursorBlinking': 'solid', 'workbench.colorTheme': 'Dark Modern',
};

/** Directories for one run. Short, because the paths of sockets may not be long. */
export function sandbox(files) {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'sv-'));
  const box = { root, home: `${root}/h`, data: `${root}/d`, extensions: `${root}/x`, ws: `${root}/ws` };
  for (const dir of [box.home, `${box.data}/User`, `${box.data}/Machine`, box.extensions, box.ws]) { fs.mkdirSync(dir, { recursive: true }); }
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(box.ws, name)), { recursive: true });
    fs.writeFileSync(path.join(box.ws, name), text);
  }
  box.settings = more => fs.writeFileSync(`${box.data}/User/settings.json`, JSON.stringify({ ...settings, ...more }));
  // Where the workbench runs elsewhere than the browser, as here, settings of a machine count in this file alone: in the user's
  // they hold just until that file is read again.
  box.machine = more => fs.writeFileSync(`${box.data}/Machine/settings.json`, JSON.stringify(more));
  box.settings({});
  // Who works here knows that commands run without a question.
  fs.mkdirSync(`${box.home}/.local/state/sidecar-ls`, { recursive: true });
  fs.writeFileSync(`${box.home}/.local/state/sidecar-ls/said-unasked`, '');
  return box;
}

/** Removes a directory in which something that has been ended may write for a moment still. */
export const remove = dir => fs.rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });

function environment(box, more = {}) {
  const env = { ...process.env, HOME: box.home, XDG_CONFIG_HOME: `${box.home}/.config`, XDG_DATA_HOME: `${box.home}/.local/share`, XDG_STATE_HOME: `${box.home}/.local/state`, XDG_CACHE_HOME: `${box.home}/.cache`, EXTENSIONS_GALLERY: '{"serviceUrl":""}', ...more };
  for (const key of Object.keys(env)) {
    if (key.startsWith('VSCODE_') || key.startsWith('npm_')) { delete env[key]; }
  }
  return env;
}

/**
 * A box of which the workbench's server and its extension host see no more than a development container shows: a user without
 * capabilities, processes of its own, the system read-only, and no way to make namespaces. The browser stays outside.
 */
export function container(files) {
  const box = sandbox(files);
  box.inside = ['bwrap', '--unshare-user', '--uid', '1000', '--gid', '1000', '--disable-userns', '--cap-drop', 'ALL', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--hostname', 'dev', '--die-with-parent',
    ...['bin', 'lib', 'lib64', 'sbin'].flatMap(name => ['--symlink', `usr/${name}`, `/${name}`]), '--ro-bind', '/usr', '/usr', '--ro-bind', '/etc', '/etc',
    '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--tmpfs', '/run', '--ro-bind', cache, cache, '--bind', box.root, box.root];
  return box;
}

/** The command line of the workbench's server, or of its own command line. */
const command = box => [...box.inside ?? [], node, main, '--accept-server-license-terms', '--server-data-dir', box.data, '--user-data-dir', box.data, '--extensions-dir', box.extensions];

/** Installs a .vsix, and the extension of the tests that plays the agent. */
export function install(box, vsix, agent = true) {
  if (agent) { fs.cpSync(path.join(import.meta.dirname, 'agent'), path.join(box.extensions, 'sidecar-tests.agent-0.0.1'), { recursive: true }); }
  const copied = path.join(box.root, 'sidecar.vsix'); // where a container sees it, too
  fs.copyFileSync(vsix, copied);
  const [program, ...args] = [...command(box), '--install-extension', copied, '--force'];
  return execFileSync(program, args, { env: environment(box), encoding: 'utf8' });
}

// Whatever ends the tests ends the process group of a workbench, too. The browser is ended by playwright.
function ends(child) {
  const kill = () => { if (child.exitCode === null && child.signalCode === null) { try { process.kill(-child.pid, 'SIGKILL'); } catch { /* gone */ } } };
  process.once('exit', kill);
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) { process.once(signal, () => { kill(); process.exit(1); }); }
}

/** Starts the workbench's server; ready when it answers. */
export async function serve(box, { trust = true } = {}) {
  const [port, agentPort] = await freePorts(2);
  const [program, ...args] = [...command(box), '--host', '127.0.0.1', '--port', String(port), '--without-connection-token', '--telemetry-level', 'off', ...(trust ? ['--disable-workspace-trust'] : [])];
  const child = spawn(program, args,
    { env: environment(box, { SIDECAR_TEST_PORT: String(agentPort) }), stdio: ['ignore', 'pipe', 'pipe'], detached: true }); // a process group of its own, to end all of it
  ends(child);
  const log = fs.createWriteStream(`${box.root}/workbench.log`);
  child.stdout.pipe(log);
  child.stderr.pipe(log);
  const url = `http://127.0.0.1:${port}`;
  for (const end = Date.now() + 60_000; ;) {
    if (child.exitCode !== null) { throw new Error(`the workbench ended with ${child.exitCode}: ${fs.readFileSync(`${box.root}/workbench.log`, 'utf8')}`); }
    if (await fetch(`${url}/version`).then(r => r.ok, () => false)) { break; }
    if (Date.now() > end) { throw new Error('the workbench does not answer'); }
    await new Promise(r => setTimeout(r, 50));
  }
  return {
    url: `${url}/?folder=${encodeURIComponent(box.ws)}`, agentPort,
    async stop() {
      const ended = new Promise(r => child.once('exit', r));
      try { process.kill(-child.pid, 'SIGTERM'); } catch { return; }
      const late = setTimeout(() => { try { process.kill(-child.pid, 'SIGKILL'); } catch { /* gone */ } }, 4000);
      await ended;
      clearTimeout(late);
    },
  };
}

/** VS Code's own view of pictures names its files and the picture by a host that the workbench itself answers for. */
const previews = u => u.hostname.endsWith('.vscode-resource.vscode-cdn.net') && /\/extensions\/media-preview\/|\.images\/[0-9a-f]{32}\.png$/.test(u.pathname);

/** A browser that reaches this machine alone, and writes nothing in the user's home. */
export async function browse() {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'sb-'));
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    env: { ...process.env, HOME: home, XDG_CONFIG_HOME: `${home}/.config`, XDG_DATA_HOME: `${home}/.local/share`, XDG_CACHE_HOME: `${home}/.cache` },
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost'],
  });
  browser.on('disconnected', () => remove(home));
  const context = await browser.newContext({ viewport: { width: 1360, height: 860 } });
  const outside = [], problems = [];
  context.on('request', r => {
    const u = new URL(r.url());
    if (/^(https?|wss?):$/.test(u.protocol) && !['127.0.0.1', 'localhost'].includes(u.hostname) && !previews(u)) { outside.push(r.url()); }
  });
  const page = await context.newPage();
  page.setDefaultTimeout(90_000);
  page.on('pageerror', e => {
    // VS Code's own frame around a webview complains so when it is put away before its page was drawn.
    if (!(e.message === 'Found unexpected null' && e.stack?.includes('/webview/browser/pre/'))) { problems.push(e.stack ?? String(e)); }
  });
  return { browser, page, outside, problems };
}

/** Installs a .vsix, and opens the folder of the box in a workbench; ready when the extension's view can be chosen. */
export async function open(box, vsix) {
  assert.match(install(box, vsix), /successfully installed/);
  const server = await serve(box), browser = await browse(), page = browser.page;
  const me = person(page, { agentPort: server.agentPort, shots: process.env.SHOTS });
  await page.goto(server.url, { waitUntil: 'commit' });
  await me.container.waitFor({ timeout: 90_000 });
  return { server, browser, page, me };
}

/**
 * The test function of a file whose tests are steps: each goes on where the one before ended, so after a failure the others say nothing.
 * now() gives the person, their page, where a screenshot of a failure goes, and more that says how things stood.
 */
export function steps(now, timeout) {
  let failed = false;
  return (name, step) => test(name, { timeout }, async t => {
    if (failed) { t.skip('a step before it failed'); return; }
    failed = true;
    try {
      await step(t);
      failed = false;
    } finally {
      if (failed) {
        const { me, page, shot, more } = now();
        console.error('the tree:', await me.rows().catch(String), '\nthe queue:', JSON.stringify(await me.agent('sidecar.review.list', {}).catch(String)), ...(more ? [`\n${await more().catch(String)}`] : []));
        await page.screenshot({ path: shot }).catch(() => {});
      }
    }
  });
}

/** Ends a workbench. Nothing may have been asked for outside this machine, and the page may not have complained. */
export async function tidy({ box, server, browser }) {
  await browser?.browser.close();
  await server?.stop();
  if (browser) {
    assert.deepEqual(browser.outside, [], 'nothing outside this machine is asked for');
    assert.deepEqual(browser.problems, []);
  }
  if (box && !process.env.KEEP) { remove(box.root); }
}
