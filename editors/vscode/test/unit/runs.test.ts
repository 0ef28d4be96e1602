// The Agent view's parts that need no VS Code.
import assert from 'node:assert/strict';
import test from 'node:test';
import { hunkStates, pendingFiles, selected, selectionOf } from '../../src/agent/changes';
import type { Agent, AgentEvent } from '../../src/agent/event';
import { imageType } from '../../src/agent/images';
import { resolve } from '../../src/agent/links';
import { RunLog } from '../../src/agent/log';
import { conversation } from '../../src/agent/markdown';
import type { ToPage } from '../../src/agent/messages';
import { Outbox } from '../../src/agent/outbox';
import { Runs, type Ask, type Change } from '../../src/agent/runs';
import { summary } from '../../src/agent/words';
import type { PendingEdit, ReviewList } from '../../src/protocol';
import { asWritten } from '../../src/words';

const event = (seq: number, kind: AgentEvent['kind'], more: Partial<AgentEvent> = {}): AgentEvent => ({ run: 'r', seq, time: '2026-01-01T00:00:00Z', kind, ...more });
const part = (seq: number, delta: string) => event(seq, 'text', { message: 'm', delta });
const seqs = (events: AgentEvent[] | undefined) => events?.map(e => e.seq);

test('a log has each event once, and a whole message in the place of its parts', () => {
  const log = new RunLog();
  [event(1, 'run.start'), part(2, 'a'), event(3, 'usage'), part(4, 'b'), part(4, 'b'), event(2, 'note'), event(5, 'text', { message: 'm', text: 'ab' })].forEach(e => log.push(e));
  assert.deepEqual(seqs(log.events), [1, 3, 5]);
  assert.deepEqual(seqs(log.after(3)), [5]);
  assert.deepEqual(seqs(log.after(4)), [5], 'a page that had the parts gets the whole');
  assert.deepEqual(log.newest(2), { events: log.events.slice(1), more: true });
  assert.deepEqual(seqs(log.before(3, 9).events), [1]);
});

test('the parts of a long message are joined, and nobody gets a part twice', () => {
  const log = new RunLog();
  for (let i = 1; i <= 5000; i++) { log.push(part(i, String.fromCharCode(97 + i % 26))); }
  assert.ok(log.events.length < 2500, String(log.events.length));
  assert.equal(log.events.map(e => e.delta).join(''), Array.from({ length: 5000 }, (_, i) => String.fromCharCode(97 + (i + 1) % 26)).join(''));
  assert.equal(log.after(100), undefined, 'in the middle of what is joined');
  assert.deepEqual(seqs(log.after(4999)), [5000]);
});

test('questions are open until they are answered, also when the answer is older news', () => {
  const log = new RunLog();
  log.push(event(5, 'question', { question: 'q2' }));
  log.push(event(6, 'answered', { question: 'q1' }));
  log.prepend([event(1, 'question', { question: 'q0' }), event(2, 'question', { question: 'q1' })], false);
  assert.deepEqual([...log.questions.keys()], ['q2', 'q0']);
  log.push(event(7, 'answered', { question: 'q2' }));
  assert.deepEqual([...log.questions.keys()], ['q0']);
});

/** A server whose run has these events; what was asked is kept. */
function served(have: AgentEvent[]) {
  const asked: object[] = [], changes: Change[] = [], failed: unknown[] = [];
  let down = false;
  const ask = (async (command: string, a: { since?: number; before?: number; limit?: number } = {}) => {
    asked.push({ command, ...a });
    if (down) { throw new Error('down'); }
    if (command === 'sidecar.agent.history') {
      const fits = have.filter(e => e.seq > (a.since ?? 0) && (!a.before || e.seq < a.before));
      return { events: a.before ? fits.slice(-a.limit!) : fits.slice(0, a.limit) };
    }
    return { runs: [], agents: [] };
  }) as Ask;
  const runs = new Runs(ask, c => changes.push(c), e => failed.push(e));
  return { runs, asked, changes, failed, break: (how: boolean) => { down = how; } };
}
const settled = () => new Promise(r => setImmediate(() => setImmediate(r)));

test('what an agent can is asked for again when it has started', async () => {
  const s = served([]);
  const rows = () => s.asked.filter(a => (a as { command: string }).command === 'sidecar.agent.list').length;
  await s.runs.refresh();
  s.runs.agents = [{ name: 'a' } as Agent];
  await s.runs.refresh();
  s.runs.take(event(1, 'note', { reason: 'starting' }));
  await s.runs.refresh();
  assert.equal(rows(), 1, 'the control');
  s.runs.take(event(2, 'note', { reason: 'ready' }));
  await s.runs.refresh();
  assert.equal(rows(), 2);
  s.runs.dispose();
});

test('a late answer about runs does not put back the agents of before', async () => {
  const waiting: { command: string; answer: (r: object) => void }[] = [], failed: unknown[] = [];
  const runs = new Runs(((command: string) => new Promise<object>(answer => waiting.push({ command, answer }))) as Ask, () => {}, e => failed.push(e));
  const answer = (command: string, r: object) => { waiting.splice(waiting.findIndex(w => w.command === command), 1)[0]!.answer(r); };
  const asked = () => waiting.map(w => w.command).join();
  runs.agents = [{ name: 'a' } as Agent];
  const first = runs.refresh();
  await settled();
  assert.equal(asked(), 'sidecar.agent.runs');
  runs.take(event(1, 'note', { reason: 'ready' }));
  const second = runs.refresh(), third = runs.refresh();
  await settled();
  assert.equal(asked(), 'sidecar.agent.runs', 'it waits for the first');
  answer('sidecar.agent.runs', { runs: [] });
  await first;
  await settled();
  assert.equal(asked(), 'sidecar.agent.runs,sidecar.agent.list', 'the two share one');
  answer('sidecar.agent.list', { agents: [{ name: 'a', modes: [{ id: 'code', title: 'Code' }] }] });
  answer('sidecar.agent.runs', { runs: [] });
  await Promise.all([second, third]);
  assert.equal(runs.agent('a')?.modes?.[0]?.title, 'Code');
  assert.deepEqual(failed, []);
  runs.dispose();
});

test('what could not be asked for is asked for again', async () => {
  const s = served([]);
  const rows = () => s.asked.filter(a => (a as { command: string }).command === 'sidecar.agent.list').length;
  s.runs.agents = [{ name: 'a' } as Agent];
  s.break(true);
  await s.runs.refresh(true);
  assert.deepEqual([s.failed.length, rows()], [1, 1]);
  s.break(false);
  await s.runs.refresh();
  assert.deepEqual([s.failed.length, rows()], [1, 2]);
  s.runs.dispose();
});

test('what is missing before an event is asked for, and nothing is kept twice', async () => {
  const all = Array.from({ length: 12 }, (_, i) => event(i + 1, 'note', { text: String(i + 1) }));
  const s = served(all);
  s.runs.take(all[4]!); // the first that is heard of
  s.runs.take(all[5]!);
  await settled();
  assert.deepEqual(seqs(s.runs.log('r')!.events), [1, 2, 3, 4, 5, 6]);
  s.runs.take(all[8]!); // two are missing
  s.runs.take(all[9]!);
  s.runs.take(all[9]!);
  await settled();
  s.runs.take(all[10]!); // it came with what was missing
  assert.deepEqual(seqs(s.runs.log('r')!.events), seqs(all));
  assert.equal(s.asked.filter(a => (a as { command: string }).command === 'sidecar.agent.history').length, 2); // the lists are asked for by a clock
  assert.deepEqual(s.changes.flatMap(c => c.what === 'events' ? seqs(c.events) : []), seqs(all), 'each event is sent once');
  s.runs.dispose();
});

test('what can\'t be asked for waits, and comes later', async () => {
  const all = Array.from({ length: 6 }, (_, i) => event(i + 1, 'note'));
  const s = served(all);
  s.break(true);
  s.runs.take(all[3]!);
  await settled();
  assert.deepEqual(seqs(s.runs.log('r')!.events), []);
  assert.equal(s.failed.length, 1);
  s.break(false);
  s.runs.take(all[4]!);
  await settled();
  assert.deepEqual(seqs(s.runs.log('r')!.events), [1, 2, 3, 4, 5]);
  s.runs.dispose();
});

test('two runs do not mix', async () => {
  const s = served([]);
  for (let i = 1; i <= 3; i++) {
    s.runs.take(event(i, 'note', { run: 'a', text: `a${i}` }));
    s.runs.take(event(i, 'note', { run: 'b', text: `b${i}` }));
  }
  assert.deepEqual(s.runs.log('a')!.events.map(e => e.text), ['a1', 'a2', 'a3']);
  assert.deepEqual(s.runs.log('b')!.events.map(e => e.text), ['b1', 'b2', 'b3']);
  s.runs.dispose();
});

test('older events come from the server once', async () => {
  const all = Array.from({ length: 1000 }, (_, i) => event(i + 1, 'note'));
  const s = served(all);
  const log = await s.runs.open('r');
  assert.equal(log.first, 601);
  const older = await s.runs.older('r', 601, 300);
  assert.deepEqual([older.events[0]!.seq, older.events.at(-1)!.seq, older.more], [301, 600, true]);
  assert.equal(s.asked.length, 2);
  assert.equal((await s.runs.older('r', 301, 50)).events[0]!.seq, 251, 'these are here already');
  assert.equal(s.asked.length, 2);
  assert.equal((await s.runs.whole('r')).length, 1000);
  assert.deepEqual(seqs(log.events), seqs(all));
});

test('a page gets one message in a frame, the newest of its kind', async () => {
  const sent: ToPage[] = [], at: number[] = [];
  const box = new Outbox(m => { sent.push(m); at.push(Date.now()); });
  box.put('chips', () => ({ type: 'chips', chips: [] }));
  box.put('find', () => ({ type: 'find' }));
  box.put('chips', () => ({ type: 'chips', chips: [{ id: 'c', kind: 'file', label: 'f' }] }));
  box.put('none', () => undefined);
  box.put('focus', () => ({ type: 'focus' }));
  while (sent.length < 3) { await new Promise(r => setTimeout(r)); }
  assert.deepEqual(sent.map(m => m.type), ['chips', 'find', 'focus']);
  assert.equal(sent[0]!.type === 'chips' && sent[0].chips.length, 1);
});

test('links lead into the workspace, to the web, or nowhere', () => {
  const roots = ['/w', '/other'];
  for (const [link, want] of Object.entries({
    'a/b.go': '/w/a/b.go', 'a/b.go:12': '/w/a/b.go:12', 'a/b.go:12:3': '/w/a/b.go:12', './a.go#L7-L9': '/w/a.go:7', '/other/x': '/other/x', 'a%20b.txt': '/w/a b.txt',
    'file:///w/a.go:3': '/w/a.go:3', 'Makefile:4': '/w/Makefile:4',
  })) {
    const to = resolve(link, roots);
    assert.equal(to.kind === 'file' ? to.path + (to.line ? `:${to.line}` : '') : to.kind, want, link);
  }
  for (const link of ['', '.', '..', '../w2/x', '/etc/passwd', 'file:///etc/passwd', 'file://host/w/a', 'a/../../etc/passwd', '..%2f..%2fetc%2fpasswd', 'a%00b', '//host/share', '\\\\host\\share',
    'command:workbench.action.quit', 'COMMAND:x', 'vscode://x', 'data:text/html,x', 'javascript:alert(1)', 'mailto:a@b', 'blob:x', 'a\u202eb.txt', 'a\nb', 'http://example.org', 'https://u:p@example.org', 'https://bank.example@evil.example', 'https:']) {
    assert.equal(resolve(link, roots).kind, 'none', link);
  }
  assert.deepEqual(resolve('https://example.org/x', roots), { kind: 'web', url: 'https://example.org/x', host: 'example.org', ask: false });
  assert.deepEqual(resolve('http://127.0.0.1:8080/', roots), { kind: 'web', url: 'http://127.0.0.1:8080/', host: '127.0.0.1:8080', ask: true });
});

const edit = (path: string, session: string, hunks: [id: string, text: string, sessions?: string[]][], more: Partial<PendingEdit> = {}): PendingEdit => ({
  uri: `file:///w/${path}`, path, kind: 'modify', revision: 1, added: 9, removed: 9, state: 'clean', session, tool: 'run', updatedAt: '',
  hunks: hunks.map(([id, text, sessions]) => ({ id, text, ...(sessions ? { sessions } : {}), oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, state: 'clean' })), ...more,
});
const list = (...edits: PendingEdit[]): ReviewList => ({ revision: 7, batch: false, edits, commits: [] });

test('a run\'s changes are its hunks, also in files that others have changed', () => {
  const l = list(edit('a.go', 'other', [['h1', '-a\n+A\n', ['mine', 'other']], ['h2', '+x\n+y\n', ['other']]]), edit('b.go', 'other', [['h3', '+z\n']]), edit('c.go', 'mine', [['h4', '-c\n']], { state: 'conflict' }));
  assert.deepEqual(pendingFiles(l, 'mine').files, [{ path: 'a.go', kind: 'modify', added: 1, removed: 1 }, { path: 'c.go', kind: 'modify', added: 9, removed: 9, conflict: true }]);
  assert.deepEqual(selectionOf(l, 'mine').selection, { hunks: ['h1', 'h4'] });
  assert.deepEqual(selectionOf(l, 'mine', 'c.go').selection, { hunks: ['h4'] });
  assert.deepEqual(selected(l, { uris: ['file:///w/a.go'] }).map(s => s.hunk.id), ['h1', 'h2']);
  assert.deepEqual(selected(l, {}).length, 4);
  const batch = list(edit('a.go', 'mine', [['h1', '+a\n']], { batch: true }));
  assert.deepEqual(selectionOf(batch, 'mine').selection, { session: 'mine', revision: 7 }, 'a batch is decided as a whole');
});

test('a call\'s hunks are those of its diff', () => {
  const call = (seq: number, id: string, old: string | undefined, fresh: string) => event(seq, 'call.finished', { call: { call: id, kind: 'edit', diff: [{ path: '/w/a.go', old, new: fresh }] } });
  const events = [call(1, 'c1', 'a\nb\n', 'A\nb\n'), call(2, 'c2', 'A\nb\n', 'A\nB\n'), event(3, 'call.finished', { call: { call: 'c3', kind: 'read', locations: [{ path: '/w/a.go' }] } })];
  const l = list(edit('a.go', 's', [['h1', '-a\n+A\n'], ['h2', '-b\n+B\n']]));
  const one = { pending: 1, accepted: 0, rejected: 0 };
  assert.deepEqual(hunkStates(events, '/w', l, 's', []), { c1: one, c2: one });
  const [first] = l.edits[0]!.hunks, decided = [{ outcome: 'rejected' as const, edit: l.edits[0]!, hunk: first!, reason: 'no' }];
  assert.deepEqual(hunkStates(events, '/w', list(edit('a.go', 's', [['h2', '-b\n+B\n']])), 's', decided), { c1: { pending: 0, accepted: 0, rejected: 1, reason: 'no' }, c2: one });
  assert.deepEqual(hunkStates(events, '/w', l, 'another', decided), {}, 'of another session there is nothing');
});

test('pictures are known by their first bytes', () => {
  const bytes = (...parts: (string | number)[]) => Buffer.concat(parts.map(p => typeof p === 'string' ? Buffer.from(p, 'latin1') : Buffer.from([p])));
  assert.equal(imageType(bytes(0x89, 'PNG\r\n\x1a\n')), 'image/png');
  assert.equal(imageType(bytes(0xff, 0xd8, 0xff)), 'image/jpeg');
  assert.equal(imageType(bytes('GIF89a')), 'image/gif');
  assert.equal(imageType(bytes('RIFF....WEBP')), 'image/webp');
  for (const no of ['<svg xmlns=', 'RIFF....WAVE', '', '\x89PNX\r\n\x1a\n']) { assert.equal(imageType(bytes(no)), undefined, no); }
});

test('a conversation is a document', () => {
  const text = conversation({ run: 'r', agent: 'Claude', title: 'Fix it', state: 'idle', session: 's', step: 1, pending: 0, openedAt: '' }, [
    event(1, 'run.start', { agent: 'claude' }), event(2, 'text', { role: 'user', message: 'u', text: 'please' }), event(3, 'thought', { message: 't', text: 'hm' }),
    event(4, 'call.proposed', { call: { call: 'c', title: 'Edit a' } }), event(5, 'call.output', { call: { call: 'c' }, text: '```\nout' }), event(6, 'call.output', { call: { call: 'c' }, delta: 'put' }),
    event(7, 'call.finished', { call: { call: 'c', diff: [{ path: 'a', old: '1\n2\n3', new: '1\nzwei\n3' }], outcome: 'completed' } }),
    event(8, 'question', { question: 'q', text: 'May I?', options: [{ id: 'y', label: 'Yes' }] }), event(9, 'answered', { question: 'q', answer: 'y' }),
    event(10, 'text', { message: 'm', delta: 'half of ' }), event(11, 'text', { message: 'm', delta: 'it' }), event(12, 'run.end', { reason: 'interrupted' }),
  ], asWritten);
  for (const part of ['# Fix it\n', '## You', 'please', '<details><summary>Thought</summary>\n\nhm', '- **Edit a**', '--- a\n+++ a\n-2\n+zwei\n```', '````\n```\noutput\n````', '> **Question**: May I?', '> **Answer**: Yes', 'half of it', '> **Ended**: interrupted']) {
    assert.ok(text.includes(part), `${part}\n---\n${text}`);
  }
});

test('the status bar says who works and who waits', () => {
  const run = (state: 'running' | 'waiting' | 'idle') => ({ run: state, agent: 'a', title: '', state, session: '', step: 0, pending: 0, openedAt: '' });
  assert.equal(summary([run('running'), run('idle'), run('waiting')], asWritten), '1 working · 1 needs you');
  assert.equal(summary([run('idle')], asWritten), '');
});
