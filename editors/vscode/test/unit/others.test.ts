import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import test from 'node:test';
import { manifest } from '../../scripts/manifest.mjs';
import { about, Calls, callText, deed, listed, summary, took } from '../../src/activity/calls';
import { crowds } from '../../src/agent/room';
import { askVersion, builtFor, candidates, find } from '../../src/binary';
import { diagramsHtml } from '../../src/diagrams/html';
import { checkFromPage } from '../../src/manage/rows';
import { metricRows } from '../../src/metrics';
import type { ApproveParams, CallEvent, ToolInfo } from '../../src/protocol';
import { fragments, parsePatch, patched } from '../../src/questions/patch';
import { asker, dialogText, documentText, forGood, grave, messageText, scopes } from '../../src/questions/text';
import { asWritten as t } from '../../src/words';
import { argumentsOf, fields, formHtml, resultText } from '../../src/tools/form';

test('the server: the setting alone, else the bundled one, else the path', async () => {
  const places = (setting: string, platform: NodeJS.Platform) => candidates(setting, '/ext', platform).map(c => `${c.from} ${c.command.replaceAll('\\', '/')}`);
  assert.deepEqual(places('/my/own', 'linux'), ['setting /my/own']);
  assert.deepEqual(places('', 'linux'), ['bundled /ext/server/sidecar-ls', 'path sidecar-ls']);
  assert.deepEqual(places('', 'win32'), ['bundled /ext/server/sidecar-ls.exe', 'path sidecar-ls.exe']);
  const only = (good: string) => async (command: string) => { if (command !== good) { throw new Error('no'); } return 'v1'; };
  assert.deepEqual(await find(candidates('', '/ext', 'linux'), only('sidecar-ls')), { from: 'path', command: 'sidecar-ls', version: 'v1' });
  const failed = await find(candidates('', '/ext', 'linux'), only('-'));
  assert.ok(Array.isArray(failed) && failed.length === 2 && failed.every(f => f.error === 'no'));
});

test('a program that is not the server is told from one that is, with the reason', { skip: process.platform === 'win32' }, async () => {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'sb-'));
  const program = (name: string, text: string | Buffer, mode = 0o755) => { const p = path.join(dir, name); fs.writeFileSync(p, text, { mode }); return p; };
  try {
    assert.equal(await askVersion(program('good', '#!/bin/sh\necho sidecar-ls v1.2.3\n'), t), 'v1.2.3');
    await assert.rejects(askVersion(program('other', '#!/bin/sh\necho something 1\n'), t), /another program/);
    await assert.rejects(askVersion(path.join(dir, 'absent'), t), /no such file/);
    await assert.rejects(askVersion(program('text', 'x', 0o644), t), /may not be executed/);
    const foreign = process.arch === 'arm64' ? head('elf', 0x3e) : head('elf', 0xb7);
    await assert.rejects(askVersion(program('foreign', foreign), t), new RegExp(`it was built for ${builtFor(foreign)}, and this is ${process.platform}-${process.arch}`));
    await assert.rejects(askVersion(program('fails', '#!/bin/sh\nexit 3\n'), t), /failed/);
  } finally {
    fs.rmSync(dir, { recursive: true });
  }
});

// The first bytes of a program, of which only the machine counts.
function head(kind: 'elf' | 'macho' | 'pe', machine: number): Buffer {
  const b = Buffer.alloc(256);
  if (kind === 'elf') {
    b.write('\x7fELF\x02\x01\x01', 'latin1');
    b.writeUInt16LE(2, 16);
    b.writeUInt16LE(machine, 18);
  } else if (kind === 'macho') {
    b.writeUInt32LE(0xfeedfacf, 0);
    b.writeUInt32LE(machine, 4);
  } else {
    b.write('MZ', 'latin1');
    b.writeUInt32LE(128, 0x3c);
    b.write('PE\0\0', 128, 'latin1');
    b.writeUInt16LE(machine, 132);
  }
  return b;
}

test('the first bytes of a program say what it is built for', () => {
  assert.deepEqual([head('elf', 0x3e), head('elf', 0xb7), head('macho', 0x01000007), head('macho', 0x0100000c), head('pe', 0x8664), head('pe', 0xaa64)].map(builtFor),
    ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64', 'win32-x64', 'win32-arm64']);
  const beyond = head('pe', 0x8664);
  beyond.writeUInt32LE(0xfffffff0, 0x3c);
  for (const other of [head('elf', 0xf3), Buffer.alloc(0), Buffer.from('#!/bin/sh\n'), Buffer.alloc(256), beyond, head('elf', 0x3e).subarray(0, 20)]) {
    assert.equal(builtFor(other), undefined);
  }
});

const tool: ToolInfo = {
  name: 'find', title: 'Find <things>', description: 'Finds `x`.', access: 'read', source: 'builtin', requiresApproval: false, alwaysRequireApproval: false, category: 'search',
  inputSchema: {
    type: 'object', required: ['path', 'n'],
    properties: {
      limit: { type: 'integer', default: 20, minimum: 1 }, path: { type: 'string', description: 'where <here>' }, n: { type: 'number' },
      deep: { type: 'boolean', default: false }, order: { type: 'string', enum: ['up', 'down'] }, list: { type: 'array', items: { type: 'string' } }, either: { type: ['string', 'integer'] },
    },
  },
};

test('a form has the fields of the schema, and nothing in it is taken for HTML', () => {
  const list = fields(tool);
  assert.deepEqual(list.map(f => `${f.name} ${f.kind}`), ['path text', 'n number', 'limit integer', 'deep boolean', 'order choice', 'list json', 'either json']);
  const html = formHtml(tool, list, { run: 'Run', optional: 'More' });
  assert.ok(!html.includes('<things>') && !html.includes('<here>') && html.includes('<code>x</code>'));
});

test('arguments have the types of the schema; what is empty or the default is left out', () => {
  const list = fields(tool);
  assert.deepEqual(argumentsOf(list, { path: 'a', n: '1.5', limit: '20', deep: true, order: '', list: '["x"]', either: 'all' }, t),
    { arguments: { path: 'a', n: 1.5, deep: true, list: ['x'], either: 'all' }, errors: {} });
  assert.deepEqual(argumentsOf(list, { path: 'a', n: '1', either: '2' }, t).arguments, { path: 'a', n: 1, either: 2 });
  assert.deepEqual(Object.keys(argumentsOf(list, { limit: '1.5', list: '[' }, t).errors).sort(), ['limit', 'list', 'n']);
  assert.equal(argumentsOf(list, { limit: 'x' }, t).arguments, undefined);
});

test('a result is a document, whatever it contains', () => {
  const base = { tool: 't', content: 'a\n```\nb', durationMs: 3, approvalMs: 0, decision: { outcome: 'allow', by: 'mode' } };
  assert.match(resultText({ ...base, ok: true }, {}, t), /^# t: ok\n[\s\S]*````text\na\n```\nb\n````/);
  assert.match(resultText({ ...base, ok: false, error: { code: 'not_found', message: '' } }, {}, t), /^# t: not_found/);
});

const ask = (more: Partial<ApproveParams> = {}): ApproveParams => ({
  id: 'a1', callId: 'c1', session: 'default', agentPath: null, tool: 'write_file', title: 'Write a.txt', detail: 'd', arguments: {}, effects: { access: 'edit', writes: ['a.txt'] }, irrecoverable: false, expiresAt: '', ...more });

test('what runs, deletes or can\'t be undone is grave; an edit is not', () => {
  assert.equal(grave(ask({ diff: '--- a/a.txt\n+++ b/a.txt\n' })), false);
  assert.equal(grave(ask({ diff: '--- a/a.txt\n+++ /dev/null\n' })), true);
  assert.equal(grave(ask({ effects: { access: 'exec', command: 'ls' } })), true);
  assert.equal(grave(ask({ irrecoverable: true })), true);
});

test('a yes is offered for as long as it can hold', () => {
  assert.deepEqual(scopes(ask()), ['once', 'session']);
  assert.deepEqual(scopes(ask({ diff: '-a' })), ['once', 'session']);
  assert.deepEqual(scopes(ask({ pattern: 'go test *' })), ['once', 'session', 'pattern']);
  assert.deepEqual(scopes(ask({ pattern: 'go test *', rememberable: false })), ['once']);
  assert.deepEqual(scopes(ask({ pattern: 'go test *', irrecoverable: true })), ['once']);
  assert.deepEqual(scopes(ask({ irrecoverable: true })), ['once']);
});

test('a rule for good is offered only where the server has one', () => {
  const always = { prefix: ['go', 'test'], decision: 'allow', rest: 'known' };
  assert.equal(forGood(ask({ always })), 'go test …');
  assert.equal(forGood(ask({ always: { ...always, prefix: ['npm', 'ci'], packages: 'sha256-x' } })), 'npm ci'); // and nothing more
  assert.equal(forGood(ask({ pattern: 'go test *' })), undefined);
  assert.equal(forGood(ask({ always, irrecoverable: true })), undefined);
  assert.equal(forGood(ask({ always, rememberable: false })), undefined);
});

test('a message begins with what would be done, and says why', () => {
  const edit = ask({ title: 'Change `a.txt`?', detail: 'the mode asks\n\n--- a/a.txt', diff: '--- a/a.txt' });
  assert.equal(messageText(edit, t), 'Change `a.txt`? The mode asks.');
  assert.equal(messageText({ ...edit, agentPath: ['main', 'helper'] }, t), 'Change `a.txt`? The mode asks. Asked by main › helper.');
  assert.equal(messageText(ask({ title: 'Change `a.txt`?', detail: '--- a/a.txt', diff: '--- a/a.txt' }), t), 'Change `a.txt`?', 'control: no reason is known');
});

test('a dialog shows who asks, the facts, and as much of the diff as fits', () => {
  const long = Array.from({ length: 100 }, (_, i) => `+${i}`).join('\n');
  const text = dialogText(ask({ diff: long, detail: `the mode asks\n\n${long}`, agentPath: ['main', 'helper'], rule: 'mode.x' }), t, 10);
  assert.match(text, /^The mode asks\n\nagent: main › helper\n\n\+0\n/);
  assert.match(text, /… 91 more lines$/);
  assert.match(dialogText(ask({ title: 'Write it' }), t), /writes: a\.txt/, 'what the title does not say');
  assert.doesNotMatch(dialogText(ask(), t), /writes|default/);
  const run = ask({ title: 'Run `rm -rf price`?', detail: 'it can\'t be undone\nsandbox: bubblewrap', effects: { access: 'exec', command: 'rm -rf price' }, rule: 'irrecoverable', pattern: 'rm *' });
  assert.equal(dialogText(run, t), 'It can\'t be undone\nsandbox: bubblewrap', 'the command stands in the title alone');
  assert.match(dialogText({ ...run, title: 'Run `rm …`?', detail: 'why\n\nrm -rf price' }, t), /command: rm -rf price$/);
  assert.equal(asker(ask()), 'default');
  assert.match(documentText(ask({ diff: long }), t), /\+99/);
});

const diff = `diff --git a/a.txt b/a.txt
--- a/a.txt
+++ b/a.txt
@@ -1,3 +1,3 @@
 one
-two
+2
 three
@@ -9 +9,2 @@
---- a/not a header
+++++ b/nor this
+ten
\\ No newline at end of file
diff --git a/new b/new
--- /dev/null
+++ b/new
@@ -0,0 +1 @@
+new
diff --git a/old b/old
--- a/old
+++ /dev/null
@@ -1 +0,0 @@
-old
`;

test('the diff of a question is both texts again, of the very text it was made from or of its own lines', () => {
  const [a, created, deleted, ...more] = parsePatch(diff);
  assert.deepEqual([a, created, deleted].map(f => `${f?.path} ${f?.kind} ${f?.hunks.length}`), ['a.txt modify 2', 'new create 1', 'old delete 1']);
  assert.deepEqual(more, []);
  const text = 'one\ntwo\nthree\n4\n5\n6\n7\n8\n--- a/not a header\n';
  assert.deepEqual(patched(text, a!), { before: text, after: 'one\n2\nthree\n4\n5\n6\n7\n8\n++++ b/nor this\nten' });
  assert.equal(patched(text.replace('two', 'zwei'), a!), undefined);
  assert.equal(patched('', a!), undefined);
  assert.deepEqual(fragments(a!), { before: 'one\ntwo\nthree\n⋯ 9\n--- a/not a header\n', after: 'one\n2\nthree\n⋯ 9\n++++ b/nor this\nten' });
  assert.deepEqual(fragments(created!), { before: '', after: 'new\n' });
  assert.deepEqual(patched('old\n', deleted!), { before: 'old\n', after: '' });
  assert.deepEqual(patched('1\n2\n', parsePatch('--- a/x\n+++ b/x\n@@ -1,0 +2 @@\n+between\n')[0]!), { before: '1\n2\n', after: '1\nbetween\n2\n' });
  assert.deepEqual(parsePatch('Binary files a/x and b/x differ\n'), []);
});

test('calls follow their events; output and number are bounded', () => {
  const calls = new Calls();
  const e = (type: CallEvent['type'], more: Partial<CallEvent> = {}): CallEvent => ({ type, time: 'now', session: 's', callId: '1', tool: 't', ...more });
  assert.equal(calls.take(e('toolOutput', { chunk: 'early' })), undefined);
  assert.equal(calls.take(e('toolStarted', { callId: 'panel-1', tool: 'display_diagram' })), undefined, 'what the page asks for is nobody\'s activity');
  assert.equal(calls.take(e('toolStarted', { callId: 'panel-1', tool: 'write_file' }))?.state, 'running', 'but no agent hides behind that');
  calls.list.length = 0;
  calls.take(e('toolStarted', { arguments: { n: 1, path: 'a.go' } }));
  assert.equal(calls.take(e('permissionRequested', { outcome: 'ask' }))?.state, 'asking');
  assert.equal(calls.take(e('permissionResolved', { outcome: 'allow', by: 'user' }))?.state, 'running');
  for (let i = 0; i < 10; i++) { calls.take(e('toolOutput', { chunk: 'x'.repeat(10_000) })); }
  assert.equal(calls.list[0]?.output.length, 64_000);
  assert.equal(calls.take(e('toolCompleted', { ok: false, code: 'not_approved' }))?.state, 'denied');
  assert.match(callText(calls.list[0]!, t), /^# t: denied\n[\s\S]*allow by user/);
  for (let i = 2; i < 400; i++) { calls.take(e('toolStarted', { callId: String(i) })); }
  assert.equal(calls.list.length, 200);
  assert.equal(calls.take(e('toolCompleted', { callId: '399', ok: true }))?.state, 'ok');
  calls.clear();
  assert.equal(calls.list.length, 199, 'what runs stays');
  assert.equal(summary({ content: 'long', path: 'a b' }), 'a b');
  assert.equal(summary(null), '');
});

test('the activity list uses plain words', () => {
  const call = (tool: string, args: object, ...paths: string[]) => ({ tool, arguments: args, changes: paths.map(path => ({ path, kind: 'modify' as const, state: 'pending' as const })) });
  assert.equal(deed(call('run', {}, 'price.go'), t, 'Claude Code'), 'Claude Code changed price.go');
  assert.equal(deed(call('apply_patch', {}, 'a.go', 'b.go', 'c.go'), t), 'Changed a.go and 2 more');
  assert.equal(deed(call('grep', { pattern: 'line 17' }), t), 'Searched for line 17');
  assert.equal(deed(call('run_tests', {}), t, 'ada'), 'ada tested the project');
  assert.equal(deed(call('mcp_mine_echo', { text: 'hello' }), t), 'Mcp mine echo: hello');
  assert.equal(deed(call('constructor', {}), t), 'Constructor');
  assert.deepEqual([listed({ tool: 'know_how' }), listed({ tool: 'grep' })], [false, true]);
  assert.deepEqual([took(undefined, t), took(2, t), took(3210, t), took(65_400, t)], ['', '', '3.2 s', '65 s']);
});

test('the list of commands has no more of ours than a person reads', () => {
  const { contributes } = JSON.parse(fs.readFileSync('package.json', 'utf8')), never = new Set(contributes.menus.commandPalette.filter((m: { when: string }) => m.when === 'false').map((m: { command: string }) => m.command));
  const shown = contributes.commands.map((c: { command: string }) => c.command).filter((c: string) => !never.has(c));
  assert.ok(shown.length <= 30, `${shown.length}: ${shown.join(', ')}`);
  for (const always of ['manage', 'acceptHunk', 'rejectHunk', 'stopAllRuns', 'newRun', 'undoAccept', 'pickMode', 'deny']) { assert.ok(shown.includes(`sidecar.${always}`), always); }
});

test('the taking over of what programs write is a row where there are files, and names them', () => {
  const calls = new Calls(), change = (path: string) => ({ path, kind: 'modify' as const, state: 'pending' as const });
  const done = (tool: string, more: Partial<CallEvent> = {}) => {
    calls.list.length = 0;
    calls.take({ type: 'toolStarted', time: 'now', session: 's', callId: '1', tool });
    calls.take({ type: 'toolCompleted', time: 'now', session: 's', callId: '1', tool, ok: true, ...more });
    return calls.list.map(c => about(c, t));
  };
  assert.deepEqual(done('run'), []);
  assert.deepEqual(done('run', { changes: [] }), []);
  assert.deepEqual(done('run', { changes: [change('a.go')] }), ['a.go']);
  assert.deepEqual(done('run', { changes: [change('a.go'), change('b.go'), change('c.go')] }), ['a.go and 2 more']);
  assert.deepEqual(done('run', { ok: false, code: 'failed' }), [''], 'what went wrong is told');
  assert.deepEqual(done('run_command'), [''], 'and so is every tool');
  assert.equal(about({ arguments: { path: 'x.go' }, changes: [change('a.go')] }, t), 'x.go');
});

test('metrics are shares of the longest bar, and the most called tool comes first', () => {
  assert.deepEqual(metricRows({}, t), []);
  const [first, second, ...more] = metricRows({
    never: { calls: 0, ok: 0, errors: {}, denied: 0, truncated: 0, p50Ms: 0, p95Ms: 0, maxMs: 0 },
    seldom: { calls: 1, ok: 1, errors: {}, denied: 0, truncated: 0, p50Ms: 5, p95Ms: 5, maxMs: 5 },
    often: { calls: 4, ok: 2, errors: { timeout: 1 }, denied: 1, truncated: 0, p50Ms: 10, p95Ms: 2500, maxMs: 2600 },
  }, t);
  assert.deepEqual(more, []);
  assert.deepEqual(first!.went, [{ kind: 'ok', share: 0.5 }, { kind: 'no', share: 0.25 }, { kind: 'bad', share: 0.25 }]);
  assert.deepEqual([first!.tool, first!.wentText, first!.p95, first!.failures], ['often', 'ok 2, denied 1, failed 1', '2.5 s', 'timeout 1']);
  assert.deepEqual([second!.tool, second!.went[0]!.share], ['seldom', 0.25]);
});

test('the Agent view crowds a diff in a narrow window, and where its width is not known it stays', () => {
  assert.deepEqual([{ window: 900, own: 300 }, { window: 1100, own: 300 }, { window: 1200, own: 500 }, { window: 0, own: 300 }].map(crowds), [true, false, true, false]);
  assert.deepEqual([crowds({ window: 900, own: 300, focused: true }), crowds({ window: 900, own: 300, focused: true, typing: true })], [true, false], 'while somebody types there it stays');
});

test('messages of the page "Manage" are checked', () => {
  assert.deepEqual(checkFromPage({ type: 'act', tab: 'mcp', command: 'sidecar.mcpTrust', row: 'theirs', more: 1 }), { type: 'act', tab: 'mcp', command: 'sidecar.mcpTrust', row: 'theirs' });
  assert.deepEqual(checkFromPage({ type: 'ready', tab: 'nowhere' }), { type: 'ready' });
  for (const wrong of [undefined, 'ready', { type: 'tab', tab: 'constructor' }, { type: 'act', tab: 'mcp', command: 1 }, { type: 'act', tab: 'mcp', command: 'x', row: {} }, { type: 'server', what: 'stop' }, { type: 'eval' }]) {
    assert.equal(checkFromPage(wrong), undefined);
  }
});

test('the side bar has two views, and all else is a tab of one page', () => {
  const { contributes } = source();
  assert.deepEqual(contributes.views.sidecar.map((v: { id: string }) => v.id), ['sidecar.pending', 'sidecar.agents']);
  const known = Object.values(contributes.views).flat().map(v => (v as { id: string }).id);
  for (const { when = '' } of [...contributes.menus['view/title'], ...contributes.menus['view/item/context'], ...contributes.keybindings] as { when?: string }[]) {
    for (const [, id] of when.matchAll(/\b(?:view|focusedView) [!=]= ([\w.]+)/g)) { assert.ok(known.includes(id!), `${id} is no view`); }
  }
  assert.deepEqual(contributes.viewsWelcome.map((w: { view: string }) => w.view).filter((id: string) => !known.includes(id)), []);
  for (const view of known) { assert.ok(contributes.menus['view/title'].some((m: { command: string; when: string }) => m.command === 'sidecar.manage' && m.when.includes(view)), `${view} leads to the page`); }
});

test('diagrams are data of their page, and no HTML; what can\'t be drawn shows its source', () => {
  const d = { path: 'a<b>.md', language: 'mermaid', source: 'flowchart\n "<script>"', line: 3, index: 0, count: 2 };
  const html = diagramsHtml([d, { ...d, language: 'graphviz' }], { source: 'Source', notDrawn: '{0} is not drawn' });
  assert.ok(!html.includes('<script>') && !html.includes('<b>') && html.includes('graphviz is not drawn'));
  assert.equal(html.match(/data-diagram="/g)?.length, 1);
  assert.equal(html.match(/<details open>/g)?.length, 1);
});

const source = () => JSON.parse(fs.readFileSync('package.json', 'utf8'));

test('the package has the server\'s settings and tools, and trust is VS Code\'s', () => {
  const table = JSON.parse(fs.readFileSync('../../internal/config/testdata/vscode.json', 'utf8'));
  const made = manifest(source(), table, [{ ...tool }]);
  const properties = made.contributes.configuration.properties;
  for (const key of Object.keys(table)) {
    assert.equal(key in properties, key !== 'sidecar.workspace.trust', key);
  }
  assert.equal(made.contributes.languageModelTools[0].name, 'sidecar_find');
  assert.equal(made.devDependencies, undefined);
});

test('every command is contributed, has a title in the table of strings, and is used or in the palette', () => {
  const { contributes, capabilities } = source(), strings = JSON.parse(fs.readFileSync('package.nls.json', 'utf8'));
  const code = fs.readdirSync('src', { recursive: true }).map(f => path.join('src', String(f))).filter(f => f.endsWith('.ts')).map(f => fs.readFileSync(f, 'utf8')).join('\n');
  for (const { command } of contributes.commands) {
    assert.ok(code.includes(`'${command}'`), `${command} does nothing`);
  }
  for (const m of [...Object.values(contributes.menus).flat(), ...contributes.keybindings] as { command: string }[]) {
    assert.ok(contributes.commands.some((c: { command: string }) => c.command === m.command), `${m.command} is not contributed`);
  }
  const used = new Set([...JSON.stringify(source()).matchAll(/"%([\w.]+)%"/g)].map(m => m[1]!));
  assert.deepEqual([...used].filter(k => !(k in strings)), []);
  assert.deepEqual(Object.keys(strings).filter(k => !used.has(k)), []);
  const media = [...new Set([...JSON.stringify(contributes).matchAll(/media\/[\w-]+\.\w+/g)].map(m => m[0]))];
  assert.ok(media.length > 4);
  assert.deepEqual(media.filter(f => !fs.existsSync(f)), []);
  for (const key of ['sidecar.server.path', 'sidecar.mode']) { assert.ok(capabilities.untrustedWorkspaces.restrictedConfigurations.includes(key)); }
});

test('what people read can be translated', () => {
  const unmarked = (text: string) => text.split('\n').filter(l => !/^\s*(\/\/|\*|\/\*|import)/.test(l)).flatMap(l => [...l.matchAll(/(\bt\()?('(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)/g)])
    .filter(m => !m[1] && !/^.\s*<|^.default-src /.test(m[2]!) && /[A-Za-z]{2,} [a-z]{2,}/.test(m[2]!.replace(/\$\{[^}]*\}/g, ' '))).map(m => m[2]);
  assert.deepEqual(unmarked("throw new Error('it is not there'); t('this one is marked')"), ["'it is not there'"]);
  const code = fs.readdirSync('src', { recursive: true }).map(f => path.join('src', String(f))).filter(f => f.endsWith('.ts'));
  assert.deepEqual(code.flatMap(f => unmarked(fs.readFileSync(f, 'utf8'))), []);
});

test('nothing is installed from elsewhere than the registry in use', () => {
  assert.ok(!fs.readFileSync('package-lock.json', 'utf8').includes('"resolved"'));
});
