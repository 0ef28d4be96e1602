// Runs as their events tell them, and what the extension says beside them: one for each state of the Agent view.
import { crc32, deflateSync } from 'node:zlib';

const start = Date.parse('2026-06-01T12:04:00');
const ago = ms => new Date(Date.now() - ms).toISOString();

/** Events of the run r, numbered, and a second apart unless they say when. */
export const events = (...list) => list.flat().map((e, i) => ({ run: 'r', seq: i + 1, time: new Date(start + i * 1000).toISOString(), ...e }));

export const agents = [
  { name: 'claude', title: 'Claude Code', kind: 'acp', available: true, version: '2.4.1', can: ['steer', 'fork', 'rewind', 'resume', 'images', 'commands'], sees: ['/home/ada/tally (all files but .env)', 'api.anthropic.com', 'ANTHROPIC_API_KEY'], consented: true, signIn: [{ id: 'browser', title: 'Sign in with the browser' }, { id: 'key', title: 'Use an API key' }] },
  { name: 'builtin', title: 'SideCar Agent', kind: 'builtin', available: true, version: '0.9.0', can: ['steer', 'resume'], sees: [], consented: false },
  { name: 'gemini', title: 'Gemini CLI', kind: 'acp', available: false, why: 'gemini is not in the PATH', can: [], sees: [], consented: false },
  { name: 'codex', title: 'Codex', kind: 'acp', available: false, why: 'codex is not in the PATH', can: [], sees: [], consented: false },
  { name: 'opencode', title: 'OpenCode', kind: 'acp', available: false, why: 'version 0.3 is too old, 1.0 is needed', can: [], sees: [], consented: false },
];
export const run = (more = {}) => ({ run: 'r', agent: 'claude', title: 'Count words in lower case', state: 'idle', session: 's1', children: 0, step: 1, pending: 0, openedAt: new Date(start).toISOString(), attached: true, ...more });
export const view = (more = {}) => ({
  type: 'view', view: {
    health: 'running', trusted: true, agents, mode: 'review', reviews: true, agentMode: 'Default', model: 'Sonnet 5', folders: ['/home/ada/tally'],
    runs: [run(), run({ run: 'r2', agent: 'gemini', title: 'Docs pass', state: 'waiting' }), run({ run: 'r3', title: 'Flaky test in CI', state: 'ended' })],
    settings: { enterSends: true, announce: 'paragraphs', detail: 'steps' }, ...more,
  },
});
export const reset = (list, more = {}) => ({ type: 'reset', run: 'r', events: list, more: false, next: list.at(-1)?.seq ?? 0, ...more });
const shown = (list, more) => [view(more), { type: 'select', run: 'r' }, reset(list)];

const call = (id, kind, title, more = {}) => ({ call: id, kind, title, ...more });
export const done = (id, kind, title, more = {}, output) => [
  { kind: 'call.proposed', call: call(id, kind, title, more) }, { kind: 'call.started', call: call(id, kind, title, more) },
  ...(output ? [{ kind: 'call.output', call: call(id, kind, title, more), delta: output }] : []),
  { kind: 'call.finished', call: call(id, kind, title, { ...more, outcome: 'completed' }) },
];
const at = (path, line) => ({ locations: [{ path: `/home/ada/tally/${path}`, ...(line ? { line } : {}) }] });
const own = (id, text) => ({ kind: 'text', role: 'user', message: id, text });
const says = (id, text) => ({ kind: 'text', role: 'assistant', message: id, text });
const oldCount = 'package count\n\nimport "strings"\n\n// Words counts each word of a text.\nfunc Words(text string) map[string]int {\n\tcounts := map[string]int{}\n\tfor _, word := range strings.Fields(text) {\n\t\tcounts[word]++\n\t}\n\treturn counts\n}\n';
const newCount = oldCount.replace('// Words counts each word of a text.', '// Words counts each word of a text, in lower case.').replace('counts[word]++', 'counts[strings.ToLower(word)]++');
const edit = { path: '/home/ada/tally/count/count.go', old: oldCount, new: newCount };
const added = { path: '/home/ada/tally/count/count_test.go', new: 'package count\n\nimport "testing"\n\nfunc TestWords(t *testing.T) {\n\tif n := Words("The the")["the"]; n != 2 {\n\t\tt.Errorf("the: %d, want 2", n)\n\t}\n}\n' };
const plan = (...status) => ({ kind: 'plan', plan: ['Read the package', 'Change Words', 'Add a test', 'Run all tests'].map((text, i) => ({ text, status: status[i] ?? 'pending' })) });

const begin = [
  { kind: 'run.start', agent: 'claude', title: 'Count words in lower case', session: 's1' }, { kind: 'state', state: 'idle' }, { kind: 'step.start', step: 1 },
  own('item-1', 'Make Words count in lower case, and test it. @count/count.go:18-25'), { kind: 'queue' }, { kind: 'state', state: 'running' },
  { kind: 'thought', message: 't1', role: 'assistant', text: 'The function splits by fields and counts as they are. I will lower them, and look for callers that rely on case.' },
];
const reads = [...done('c1', 'read', 'Read count/count.go', at('count/count.go')), ...done('c2', 'read', 'Read count/count_test.go', at('count/count_test.go')), ...done('c3', 'read', 'Read main.go', at('main.go')), ...done('c4', 'search', 'Search "Words("', {}, 'count/count.go:7:func Words(text string)\nmain.go:14:\tfor w, n := range count.Words(text) {\n')];
const edits = [...done('c5', 'edit', 'Edit count/count.go', { diff: [edit] }), ...done('c6', 'edit', 'Write count/count_test.go', { diff: [added] })];
const tests = done('c7', 'execute', 'go test ./...', {}, '\u001b[32mok\u001b[0m  \texample.com/tally/count\t0.004s\n?   \texample.com/tally\t[no test files]\n');
export const task = events(begin, plan('completed', 'in_progress'), says('m1', 'I’ll change `Words` and its test. The rule to keep:\n\n- A word is what stands between white space.\n- `The` and `the` are **one** word from now on.\n'), reads, plan('completed', 'completed', 'in_progress'), edits, tests, plan('completed', 'completed', 'completed', 'completed'),
  says('m2', '`Words` now lowers each word before it is counted ([count.go](count/count.go:9)), and a test holds it.\n\n```go\nfor _, word := range strings.Fields(text) {\n\tcounts[strings.ToLower(word)]++ // one entry for The and the\n}\n```\n\n| input | before | now |\n|---|--:|--:|\n| `The the` | 1, 1 | 2 |\n| `a A a` | 2, 1 | 3 |\n\nSee [strings.ToLower](https://pkg.go.dev/strings#ToLower) for what it does with other scripts.'),
  { kind: 'usage', usage: { used: 82_400, size: 200_000, cost: 0.214, currency: 'USD' } }, { kind: 'run.end', reason: 'done' }, { kind: 'state', state: 'idle', reason: 'done' });
const files = { type: 'changes', run: 'r', changes: { written: false, files: [
  { path: 'count/count.go', kind: 'modify', added: 2, removed: 2, problems: 2 }, { path: 'count/count_test.go', kind: 'create', added: 9, removed: 0 }, { path: 'internal/reports/templates/long-name-of-a-template.html', kind: 'modify', added: 2, removed: 5, conflict: true }, { path: 'old.go', kind: 'delete', added: 0, removed: 1 },
] } };
const hunks = { type: 'hunks', run: 'r', calls: { c5: { pending: 1, accepted: 1, rejected: 0 }, c6: { pending: 0, accepted: 0, rejected: 1, reason: 'use a table' } } };

const now = (...list) => { // the newest were told just now
  const all = events(...list);
  return all.map((e, i) => ({ ...e, time: e.time && ago((all.length - 1 - i) * 700) }));
};
const streaming = () => now(begin, reads, { kind: 'call.proposed', call: call('c5', 'edit', 'Edit count/count.go', { diff: [edit] }) }, { kind: 'call.started', call: call('c5', 'edit', 'Edit', { diff: [edit] }) }, { kind: 'call.finished', call: call('c5', 'edit', 'Edit', { diff: [edit], outcome: 'completed' }) },
  says('m1', 'The function is changed. Now its test, which has two cases to keep:'), { kind: 'thought', message: 't2', role: 'assistant', delta: 'A table of cases is what the others have' }, { kind: 'call.proposed', call: call('c6', 'execute', 'go test ./... -run TestWords -count=1', { uri: 'terminal:term-1' }) }, { kind: 'call.started', call: call('c6', 'execute', 'go test ./... -run TestWords -count=1'), time: ago(3000) },
  { kind: 'call.output', call: call('c6', 'execute', 'go test'), delta: '=== RUN   TestWords\n=== RUN   TestWords/lower\n=== RUN   TestWords/mixed\n=== RUN   TestWords/empty\n' }).map((e, i, all) => i >= all.length - 2 ? { ...e, time: ago(4000) } : e);
const options = [{ id: 'y', label: 'Allow', kind: 'allow_once' }, { id: 's', label: 'Allow for Session', kind: 'allow_always' }, { id: 'n', label: 'Deny', kind: 'reject_once' }];
const asks = (title, more = {}, c = {}) => [{ kind: 'call.proposed', call: call('q', 'execute', title, c) }, { kind: 'question', question: 'q1', text: title, options, call: call('q', 'execute', title, c), ...more }, { kind: 'state', state: 'waiting' }];
const talk = says('m1', 'I’ll run the tests now.');

/** A PNG, larger when more follows its end. */
export function png(width, height, more = 0) {
  const chunk = (name, data) => {
    const body = Buffer.concat([Buffer.from(name), data]), all = Buffer.alloc(body.length + 8);
    all.writeUInt32BE(data.length, 0);
    body.copy(all, 4);
    all.writeUInt32BE(crc32(body), body.length + 4);
    return all;
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const rows = Buffer.alloc((width * 3 + 1) * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) { rows.set([255 * x / width, 255 * y / height, (x >> 4 ^ y >> 4) & 1 ? 160 : 90], y * (width * 3 + 1) + 1 + x * 3); }
  }
  return Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), chunk('IHDR', head), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0)), Buffer.alloc(more)]);
}
/** A picture as events name it; n tells those apart. */
export const image = (n, width, height, more = {}) => ({ image: `${String(n).padStart(32, '0')}.png`, mime: 'image/png', bytes: 4000, width, height, ...more });
const pictured = events(begin.slice(0, 3), says('m1', 'This is how the page looks before:'), { kind: 'note', reason: 'image', role: 'assistant', text: '[Image: before.png, image/png, 640 × 320]', images: [image(1, 640, 320, { alt: 'before.png' })] },
  { kind: 'call.proposed', call: call('s', 'other', 'Take a screenshot') }, { kind: 'call.started', call: call('s') }, { kind: 'call.output', call: call('s'), text: 'Saved.', images: [image(2, 320, 480), image(3, 2400, 1200, { bytes: 3_300_000, alt: 'whole.png' })] }, { kind: 'call.finished', call: call('s', undefined, undefined, { outcome: 'completed' }) },
  { kind: 'note', reason: 'image', role: 'assistant', text: '[An image is not shown: it is no PNG, JPEG, GIF or WebP image]' }, { kind: 'run.end', reason: 'done' });
const given = (n, data) => ({ type: 'image', run: 'r', image: image(n).image, data: data.toString('base64') });

const of = (parent, list) => list.map(e => ({ ...e, parent }));
const helped = asked => events(begin.slice(0, 3), { kind: 'call.proposed', call: call('task', 'think', 'Look for callers of Words') }, { kind: 'call.started', call: call('task') }, { kind: 'call.proposed', call: call('task2', 'think', 'Read the tests') }, { kind: 'call.started', call: call('task2') },
  of('task', [{ kind: 'text', role: 'user', message: 'sub', text: 'Find all callers.' }, says('s1', 'I’ll search for **callers** first.'), ...done('sc1', 'search', 'Words(', {}, 'main.go:9\n')]), of('task2', done('sd1', 'read', 'Read', at('count/count_test.go'))),
  of('task', [...done('sc2', 'read', 'Read', at('main.go')), ...done('sc3', 'execute', 'go vet ./...', {}, 'vet: bad\n').map(e => e.kind === 'call.finished' ? { ...e, call: { ...e.call, outcome: 'failed' } } : e)]),
  asked ? [...of('task', [{ kind: 'call.proposed', call: call('q', 'execute', 'go build ./...') }]), { kind: 'question', question: 'q1', text: 'go build ./...', options, call: call('q', 'execute', 'go build ./...') }, { kind: 'state', state: 'waiting' }] : [],
  { kind: 'call.finished', call: call('task2', undefined, undefined, { outcome: 'completed' }) }, asked ? [] : [{ kind: 'call.finished', call: call('task', undefined, undefined, { outcome: 'completed' }) }, says('m1', 'Two places call it.'), { kind: 'run.end', reason: 'done' }]);

export const scenes = {
  helped: { messages: () => shown(helped(false)), then: async p => { await p.locator('[data-key="c:task"] .chevron').click(); } },
  helperAsks: { messages: () => shown(helped(true), { runs: [run({ state: 'waiting' })] }) },
  images: { messages: () => shown(pictured), then: (_, send) => send(given(1, png(640, 320)), given(2, png(320, 480))) },
  first: { messages: () => [view({ runs: [] }), { type: 'select' }] },
  none: { messages: () => [view({ runs: [], agents: agents.slice(2) }), { type: 'select' }] },
  consent: { messages: () => [view({ runs: [] }), { type: 'select' }], then: p => p.getByRole('button', { name: 'Start SideCar Agent' }).click() },
  untrusted: { messages: () => [view({ trusted: false, runs: [] }), { type: 'select' }] },
  connecting: { messages: () => [view({ runs: [], starting: { agent: 'claude', since: Date.now() - 12_000, step: 'starting' } }), { type: 'select' }] },
  signIn: { messages: () => [view({ runs: [], starting: { agent: 'claude', since: Date.now(), step: 'signIn' } }), { type: 'select' }] },
  failedStart: { messages: () => [view({ runs: [], starting: { agent: 'claude', since: 0, error: { text: 'The program ended with status 1 before it answered.', lines: ['node:internal/modules/cjs/loader:1228', '  throw err;', 'Error: Cannot find module \'/usr/lib/node_modules/claude-agent/dist/index.js\''] } } }), { type: 'select' }] },
  idle: { messages: () => [...shown(events(begin.slice(0, 2))), { type: 'chips', chips: [{ id: 'a', kind: 'file', label: 'count.go' }, { id: 'b', kind: 'range', label: 'main.go:14–31' }, { id: 'c', kind: 'diagnostics', label: '3 problems' }, { id: 'd', kind: 'file', label: '.env', hidden: true }] }] },
  done: { messages: () => [...shown(task), files, hunks] },
  edits: { messages: () => [...shown(task), files, hunks], then: async p => { await p.locator('[data-key="c:c6"] .chevron').click(); await p.locator('[data-key="c:c5"] .chevron').click(); await p.locator('[data-key="c:c5"]').evaluate(e => e.scrollIntoView()); } },
  files: { messages: () => [...shown(task), files], then: async p => { const b = p.locator('.bar-fold', { hasText: 'files' }); if (await b.count()) { await b.click(); } } },
  streaming: { messages: () => [...shown(streaming(), { runs: [run({ state: 'running' })] }), files] },
  command: { messages: () => [...shown(now(begin, talk, asks('go test ./...')), { runs: [run({ state: 'waiting' })] })] },
  longCommand: { messages: () => [...shown(now(begin, talk, asks(Array.from({ length: 400 }, (_, i) => `echo "line ${i} of a script that goes on and on" >> /tmp/out-${i}.txt`).join('\n'), { text: 'The rule exec-ask wants this to be asked' })))] },
  irrecoverable: { messages: () => [...shown(now(begin, talk, asks('git push --force origin \u202Emain', { irrecoverable: true, expiresAt: new Date(Date.now() + 95_000).toISOString() })))] },
  askEdit: { messages: () => [...shown(now(begin, talk, { kind: 'call.proposed', call: call('q', 'edit', 'Edit count.go', { diff: [edit] }) }, { kind: 'question', question: 'q1', text: 'Edit count/count.go', options: [...options, { id: 'a', label: 'Always Allow Edits in This Project', kind: 'allow_always' }], call: call('q', 'edit', 'Edit count.go', { diff: [edit] }) }, { kind: 'state', state: 'waiting' }))] },
  form: { messages: () => [...shown(now(begin, talk, { kind: 'question', question: 'q1', text: 'Which database should the tests use?\nThe project has settings for three.', options: [{ id: 'p', label: 'PostgreSQL' }, { id: 's', label: 'SQLite' }, { id: 'm', label: 'MySQL' }, { id: '_decline', label: 'Decline' }] }, { kind: 'question', question: 'q2', text: 'How many workers?' }, { kind: 'state', state: 'waiting' }))] },
  queue: { messages: () => [...shown([...streaming(), { run: 'r', seq: 900, time: ago(100), kind: 'queue', items: [{ item: 'i1', text: 'Then update the README, too.' }, { item: 'i2', text: 'And say in the changelog that case no longer matters for anything that is counted' }, { item: 'i3', text: 'Run the linter' }] }, { run: 'r', seq: 901, time: ago(100), ...plan('completed', 'in_progress') }])], then: p => p.locator('.bar-fold', { hasText: 'queued' }).click() },
  paused: { messages: () => shown(events(begin, says('m1', 'I’ll begin with the func'), { kind: 'run.end', reason: 'interrupted' }, { kind: 'queue', items: [{ item: 'i1', text: 'Then update the README, too.' }], paused: true }, { kind: 'state', state: 'paused' })) },
  limited: { messages: () => shown(now(begin, talk, { kind: 'state', state: 'running', reason: 'rate_limited', retryAt: new Date(Date.now() + 24_500).toISOString(), attempt: 2 })) },
  failed: { messages: () => shown(events(begin, talk, done('c7', 'execute', 'go test ./...', {}, '--- FAIL: TestWords (0.00s)\n    count_test.go:7: the: 1, want 2\nFAIL\n').map(e => e.kind === 'call.finished' ? { ...e, call: { ...e.call, outcome: 'failed' } } : e), { kind: 'run.end', reason: 'failed', text: 'The agent is gone: it ended with status 137.\n[12:04:11] stream closed\nFATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n 1: 0xb8d0a0 node::Abort() [claude]' }, { kind: 'state', state: 'idle' })) },
  stopped: { messages: () => shown(events(begin, says('m1', 'I’ll begin with the function and then'), { kind: 'run.end', reason: 'interrupted' }, { kind: 'state', state: 'idle' })) },
  interrupted: { messages: () => [...shown(events(begin, reads, edits, { kind: 'run.end', reason: 'interrupted', text: 'The server ended while the agent worked.' }, { kind: 'state', state: 'idle' })), files] },
  readOnly: { messages: () => shown(events(begin, reads, says('m2', 'Done.'), { kind: 'run.end', reason: 'done' }, { kind: 'state', state: 'ended' }), { runs: [run({ agent: 'gemini', state: 'ended' })] }) },
  down: { messages: () => shown(task, { health: 'failed' }) },
  mentions: { messages: () => [...shown(events(begin.slice(0, 2)))], then: async (p, send) => { await p.locator('.composer textarea').fill('Look at @co'); await send({ type: 'completions', id: 1, items: [{ id: '1', label: 'count/count.go', kind: 'file' }, { id: '2', label: 'count/', kind: 'folder' }, { id: '3', label: 'Count', detail: 'struct in count/count.go', kind: 'symbol' }, { id: '4', label: 'Problems', detail: '3 in this workspace', kind: 'diagnostics' }] }); } },
  menu: { messages: () => [...shown(task), files], then: async p => { await p.locator('.row.own .own-more').evaluate(e => e.scrollIntoView()).catch(() => {}); await p.locator('.head .icon-only').click(); } },
  everything: { messages: () => shown(events(begin, reads, { kind: 'note', reason: 'available_commands_update', raw: { commands: ['review', 'init'] } }, edits, tests, { kind: 'child', child: 'r2', title: 'Look for callers' }, { kind: 'compaction', text: 'What was said so far.' }, { kind: 'run.end', reason: 'budget' }), { settings: { enterSends: true, announce: 'paragraphs', detail: 'everything' } }) },
  replies: { messages: () => shown(task, { settings: { enterSends: true, announce: 'paragraphs', detail: 'replies' } }) },
  hostile: { messages: () => shown(hostile) },
};

export const hostile = events(begin.slice(0, 3), own('item-1', 'Text with ‮turned‬ letters and <b>tags</b>'), says('h1', [
  '<script>window.hacked = 1</script>', '<img src=x onerror="window.hacked = 2">', '[run](command:workbench.action.quit) [vs](vscode://x) [d](data:text/html,x) [j](javascript:alert(1)) [f](file:///etc/passwd) [up](../../etc/passwd) [enc](command%3Ax)',
  '[bank](https://evil.example/login) [ok](https://evil.example) ![pixel](https://evil.example/p.png) <https://go.dev> [local](http://127.0.0.1:9/x) [http](http://evil.example)', 'A word with a\u202Eturn, a zero\u200bwidth space, and `rm \u202Egnp.x\u2066`.',
  `${'> '.repeat(60)}deep`, `${'- '.repeat(60)}deep`, `| ${'a | '.repeat(80)}\n|${'-|'.repeat(80)}\n| ${'b | '.repeat(80)}`, '```mermaid\ngraph TD; A-->B\n```', '```" onload="x\nx\n```', 'x'.repeat(5000)].join('\n\n')),
done('h2', 'execute', 'printf \u202Ex', {}, '\u001b]8;;command:x\u0007a link\u001b]8;;\u0007 \u001b]52;c;ZXZpbA==\u0007 \u001b[2J\u001b[31mred\u001b[0m \u0007\u202E\n'.repeat(3)), done('h2', 'other', '<b>again</b>', {}, 'x'.repeat(1 << 20)), done('h2', 'read', 'third', { locations: [{ path: '/etc/pass\u202Ewd', line: -1 }, { path: 7 }] }),
{ kind: 'question', question: 'h3', text: '<b>Sure?</b>\u202E', options: Array.from({ length: 1000 }, (_, i) => ({ id: `o${i}`, label: `Option \u202E${i}`, kind: i % 2 ? 'allow_once' : 'x' })) },
{ kind: 'note', reason: 'image', text: '<b>x</b>\u202e', images: [{ image: '../x.svg', mime: 'image/svg+xml', bytes: 1, width: 1, height: 1 }, { image: 'https://evil.example/x.png', mime: 'image/png', bytes: 1, width: 1, height: 1 }, 7] },
{ kind: 'plan', plan: [{ text: '<i>x</i>', status: '__proto__' }, { text: 7 }] }, { kind: 'run.end', reason: 'constructor', text: '<b>x</b>' }, { kind: 'constructor', raw: { __proto__: 1 } });

/** A long run: so many events, of all that a row can be. */
export function long(count) {
  const list = [{ kind: 'run.start', agent: 'claude', title: 'Long' }, { kind: 'step.start', step: 1 }];
  for (let i = 0; list.length < count; i++) {
    if (i % 12 === 0) { list.push(own(`item-${i}`, `Message ${i}: please look at package number ${i} and tell what it does.`)); }
    list.push(says(`m${i}`, `Paragraph ${i} of **text** with \`code\`.\n\n- one\n- two\n\n${i % 5 ? '' : '```go\nfunc f() int {\n\treturn 1\n}\n```\n'}`), ...done(`r${i}`, 'read', `Read f${i}.go`, at(`pkg/f${i}.go`)), ...done(`e${i}`, 'edit', `Edit f${i}.go`, { diff: [{ path: `/home/ada/tally/pkg/f${i}.go`, old: 'a\nb\nc\n', new: 'a\nB\nc\n' }] }), ...done(`x${i}`, 'execute', `go test ./pkg/${i}`, {}, 'ok\n'));
  }
  return events(list.slice(0, count));
}
