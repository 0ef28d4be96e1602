import assert from 'node:assert/strict';
import test from 'node:test';
import type { AgentEvent } from '../../src/agent/event';
import { Model, stoppable, type CallEntry, type Entry, type Message } from '../../src/agent/page/model';
import { project, rowOf, type Look } from '../../src/agent/page/rows';

/** Events of the run r, numbered and a second apart. */
export function events(...list: Partial<AgentEvent>[]): AgentEvent[] {
  return list.map((e, i) => ({ run: 'r', seq: i + 1, time: new Date(1e12 + i * 1000).toISOString(), ...e }) as AgentEvent);
}
const model = (...list: Partial<AgentEvent>[]): Model => {
  const m = new Model('r');
  m.apply(events(...list));
  return m;
};
const look = (more: Partial<Look> = {}): Look => ({ detail: 'steps', folds: {}, hunks: {}, now: 1e12 + 1e9, ...more });
const textOf = (e: Entry | undefined): string => `${e?.kind} ${(e as Message).text}${(e as Message).done ? '.' : '…'}`;
const call = (id: string, kind: string, more: Partial<AgentEvent['call']> = {}) => ({ call: id, kind, title: `${kind} ${id}`, ...more });
const whole = (id: string, kind: string, outcome = 'completed'): Partial<AgentEvent>[] => [
  { kind: 'call.proposed', call: call(id, kind) }, { kind: 'call.started', call: call(id, kind) }, { kind: 'call.finished', call: call(id, kind, { outcome }) }];

test('a message grows by its deltas and is replaced by its whole', () => {
  const m = model({ kind: 'text', message: 'a', role: 'assistant', delta: 'He' }, { kind: 'text', message: 'a', role: 'assistant', delta: 'llo' });
  assert.deepEqual(m.entries.map(textOf), ['text Hello…']);
  m.apply([{ run: 'r', seq: 3, time: '', kind: 'text', message: 'a', text: 'Hello.' }]);
  assert.deepEqual(m.entries.map(textOf), ['text Hello..']);
  m.apply([{ run: 'r', seq: 3, kind: 'text', message: 'a', text: 'again' }, { run: 'r', seq: 2, kind: 'text', message: 'a', delta: 'again' }, { run: 'other', seq: 9, kind: 'text', delta: 'x' }]);
  assert.deepEqual(m.entries.map(textOf), ['text Hello..']);
  m.apply([{ run: 'r', seq: 4, kind: 'text', message: 'a', delta: 'New' }]);
  assert.equal(m.entries.length, 2);
  assert.notEqual(m.entries[0]!.key, m.entries[1]!.key);
});

test('what was shown of a message that is told anew is taken back', () => {
  const m = model({ kind: 'thought', message: 'a-thought', delta: 'hm' }, { kind: 'text', message: 'b', delta: 'stays' }, { kind: 'text', message: 'a', delta: 'half an' }, { kind: 'note', reason: 'withdrawn', message: 'a', text: 'It ended in the middle' }, { kind: 'text', message: 'a', delta: 'whole' });
  assert.deepEqual(m.entries.filter(e => e.kind === 'text').map(textOf), ['text stays.', 'text whole…']);
});

test('a question may take any text besides its options', () => {
  const options = [{ id: '1', label: 'this' }];
  const m = model({ kind: 'question', question: 'q1', text: 'Which?', options, custom: true }, { kind: 'question', question: 'q2', text: 'Which?', options });
  assert.deepEqual(m.entries.map(e => e.kind === 'question' && e.custom), [true, false]);
});

test('what follows ends a message of which no whole was told', () => {
  const m = model({ kind: 'thought', message: 't', delta: 'hm' }, { kind: 'text', message: 'a', delta: 'x' }, { kind: 'call.proposed', call: call('1', 'read') });
  assert.deepEqual(m.entries.slice(0, 2).map(textOf), ['thought hm.', 'text x.']);
});

test('pictures are entries and parts of calls; what is none is left out', () => {
  const good = { image: `${'0'.repeat(32)}.png`, mime: 'image/png', bytes: 10, width: 2, height: 3, alt: 'a.png' }, bare = { ...good, alt: undefined };
  const bad = [7, null, {}, { ...good, image: 'x.png' }, { ...good, image: `../${good.image}` }, { ...good, image: `${'0'.repeat(32)}.svg`, mime: 'image/svg+xml' }, { ...good, mime: 'image/svg+xml' }, { ...good, mime: 'image/gif' }, { ...good, width: -1 }, { ...good, height: 0 }, { ...good, bytes: '7' }];
  const m = model({ kind: 'note', reason: 'image', text: '[Image]', images: [good, ...bad] as never }, ...whole('1', 'read').slice(0, 2), { kind: 'call.output', call: call('1', 'read'), images: [bare] }, { kind: 'call.output', call: call('1', 'read'), text: 'x', images: [good] }, whole('1', 'read')[2]!, ...whole('2', 'read'));
  assert.deepEqual(m.entries.map(e => [e.kind, (e as CallEntry).images?.map(i => i.alt)]), [['image', ['a.png']], ['call', [undefined, 'a.png']], ['call', undefined]]);
  assert.deepEqual(project(m, look()).map(r => [r.open, r.group]), [[false, undefined], [true, undefined], [false, undefined]], 'a call with pictures is in no group');
  assert.equal(model({ kind: 'note', reason: 'image', text: 'Why not', images: bad as never }).entries[0]?.kind, 'image');
});

test('what a sub-agent says and does is inside of its call, which is folded with a count', () => {
  const by = (parent: string, list: Partial<AgentEvent>[]) => list.map(e => ({ ...e, parent }));
  const list = [...whole('t', 'think').slice(0, 2), ...whole('u', 'think').slice(0, 2), ...by('t', [{ kind: 'text', role: 'user', message: 'x', text: 'Look' }, { kind: 'text', message: 'a', text: 'Hm' }, ...whole('1', 'read')]), ...by('u', whole('2', 'read')), ...by('t', whole('3', 'execute', 'failed')),
    ...by('1', whole('4', 'read')), ...by('gone', whole('5', 'fetch')), ...by('6', whole('6', 'other'))];
  const m = model(...list), keys = (l: Partial<Look> = {}) => project(m, look(l)).map(r => `${'-'.repeat(r.depth)}${r.key}${r.inside ? ` ${r.inside.calls}/${r.inside.failed}` : ''}`);
  assert.deepEqual(keys(), ['c:t 3/1', 'c:u 1/0', 'c:5', 'c:6'], 'what has no such parent, or itself as one, stands alone');
  assert.deepEqual(keys({ folds: { 'c:t': true } }), ['c:t 3/1', '-m:x', '-m:a', '-c:1 1/0', '-c:3', 'c:u 1/0', 'c:5', 'c:6']);
  assert.deepEqual(keys({ folds: { 'c:t': true, 'c:1': true, 'c:u': true } }), ['c:t 3/1', '-m:x', '-m:a', '-c:1 1/0', '--c:4', '-c:3', 'c:u 1/0', '-c:2', 'c:5', 'c:6']);
  assert.deepEqual(keys({ detail: 'replies' }).filter(k => /^-/.test(k)), []);
  assert.ok(!m.entries.some(e => e.kind === 'own'), 'nobody has said what a sub-agent was told');
  const folded = project(m, look()), open = project(m, look({ folds: { 'c:t': true } }));
  assert.deepEqual([folded[0]!.inside!.hidden.length, open[0]!.inside!.hidden.length], [5, 0]);
  assert.notEqual(folded[0]!.v, open[0]!.v);
  assert.equal(open[rowOf(open, m.entries.find(e => e.key === 'c:3')!.seq)]!.key, 'c:3');
});

test('what a sub-agent asks stands in the conversation, also when its call is folded', () => {
  const m = model(...whole('t', 'think').slice(0, 2), { kind: 'call.proposed', call: call('1', 'other'), parent: 't' }, ...whole('2', 'read').map(e => ({ ...e, parent: '1' })), { kind: 'call.proposed', call: call('3', 'execute'), parent: '1' }, { kind: 'question', question: 'q', text: 'May I?', options: [], call: call('3', 'execute') });
  const rows = () => project(m, look()).map(r => `${'-'.repeat(r.depth)}${r.key}${r.inside?.asks ? '?' : ''}${r.question ? '!' : ''}`);
  assert.deepEqual(rows(), ['c:t?', '-c:1?', '--c:3!']);
  m.apply([{ run: 'r', seq: 90, time: '', kind: 'answered', question: 'q', answer: 'y' }]);
  assert.deepEqual(rows(), ['c:t']);
});

test('a command that the server runs can be stopped while it goes on, once, and its row says so', () => {
  const begin = (uri?: string) => [{ kind: 'call.proposed' as const, call: call('1', 'execute', uri === undefined ? {} : { uri }) }, { kind: 'call.started' as const, call: call('1', 'execute') }];
  const first = (m: Model) => m.entries[0] as CallEntry;
  for (const [uri, can] of [['terminal:term-1', true], [undefined, false], ['file:///x', false], ['', false]] as const) {
    assert.equal(stoppable(first(model(...begin(uri)))), can, uri);
  }
  const stopped = { kind: 'note' as const, reason: 'stopped', text: 'Stopped by a person: x', call: call('1', 'execute') };
  const m = model(...begin('terminal:term-1'), stopped);
  assert.deepEqual([m.entries.length, first(m).state, stoppable(first(m))], [1, 'running', false]);
  m.apply(events(...begin('terminal:term-1'), stopped, { kind: 'call.finished', call: call('1', 'execute', { outcome: 'failed' }) }));
  assert.equal(first(m).state, 'stopped');
  assert.equal(first(model(...begin('terminal:term-1'), { kind: 'call.finished', call: call('1', 'execute', { outcome: 'failed' }) })).state, 'failed');
  assert.equal(model({ ...stopped, call: call('2', 'execute') }).entries[0]?.kind, 'note', 'of a call that is not here, the words are');
});

test('a call is one entry over its life, and its id used again another', () => {
  const m = model(...whole('1', 'execute'), { kind: 'call.output', call: call('1', 'execute'), delta: 'late' }, { kind: 'call.proposed', call: call('1', 'read') });
  assert.deepEqual(m.entries.map(e => `${e.key} ${(e as CallEntry).state} ${(e as CallEntry).output}`), ['c:1 completed late', 'c:1~2 proposed ']);
});

test('output is added up, and a call that the end of the step finds is stopped', () => {
  const m = model({ kind: 'step.start', step: 1 }, { kind: 'call.started', call: call('1', 'execute') }, { kind: 'call.output', call: call('1', 'execute'), delta: 'a' }, { kind: 'call.output', call: call('1', 'execute'), delta: 'b' }, { kind: 'run.end', reason: 'interrupted' });
  const [c, end] = m.entries as [CallEntry, Entry];
  assert.equal(c.output + c.state, 'abstopped');
  assert.equal(end.kind === 'end' && `${end.reason} ${end.calls} ${end.took}`, 'interrupted 1 4000');
});

test('a question is open until it is answered; with a call it stands in the row of the call', () => {
  const m = model({ kind: 'call.proposed', call: call('1', 'execute') }, { kind: 'question', question: 'q1', text: 'Run?', options: [{ id: 'y', label: 'Yes' }], call: call('1', 'execute') }, { kind: 'question', question: 'q2', text: 'Which?' });
  assert.deepEqual([...m.open.keys()], ['q1', 'q2']);
  const rows = project(m, look());
  assert.deepEqual(rows.map(r => `${r.key} ${r.question?.id} ${r.open}`), ['c:1 q1 true', 'q:q2 undefined true']);
  assert.equal(rowOf(rows, 2), 0);
  m.apply([{ run: 'r', seq: 4, kind: 'answered', question: 'q1', answer: 'y', by: 'me' }, { run: 'r', seq: 5, kind: 'call.decided', call: call('1', 'execute', { outcome: 'deny' }), by: 'me' }]);
  assert.deepEqual([...m.open.keys()], ['q2']);
  assert.deepEqual(project(m, look()).map(r => `${r.key} ${r.open}`), ['c:1 false', 'q:q2 true']);
  assert.equal((m.entries[0] as CallEntry).state, 'denied');
});

test('neighbours that look are one row, and what failed, asks or changes stays by itself', () => {
  const list = [...whole('1', 'read'), ...whole('2', 'read'), ...whole('3', 'search'), ...whole('4', 'read', 'failed'), ...whole('5', 'read'), ...whole('6', 'edit')];
  const shape = (detail: Look['detail']) => project(model(...list), look({ detail })).map(r => `${r.key}${r.group ? ` ×${r.group.length}` : ''}${r.open ? ' open' : ''}`);
  assert.deepEqual(shape('steps'), ['c:1 ×2', 'c:3', 'c:4 open', 'c:5', 'c:6']);
  assert.deepEqual(shape('replies'), ['c:1 ×3', 'c:4 open', 'c:5 ×2']);
  assert.deepEqual(shape('everything').length, 6);
});

test('a fold by hand wins, and a command opens when it has run a while', () => {
  const m = model({ kind: 'call.started', call: call('1', 'execute') });
  assert.equal(project(m, look({ now: 1e12 + 1999 }))[0]!.open, false);
  assert.equal(project(m, look({ now: 1e12 + 2000 }))[0]!.open, true);
  assert.equal(project(m, look({ folds: { 'c:1': false } }))[0]!.open, false);
});

test('a plan stays one row of its step, and says what has changed', () => {
  const m = model({ kind: 'step.start', step: 1 }, { kind: 'plan', plan: [{ text: 'a' }, { text: 'b' }] }, { kind: 'plan', plan: [{ text: 'a', status: 'completed' }, { text: 'b' }] });
  assert.deepEqual(m.entries.map(e => e.kind === 'plan' && [...e.changed]), [[0]]);
});

test('queue, usage, state and title are as last told; unknown events are kept', () => {
  const m = model({ kind: 'run.start', agent: 'x', title: 'A' }, { kind: 'queue', items: [{ item: 'i', text: 't' }], paused: true }, { kind: 'usage', usage: { used: 5, size: 9 } },
    { kind: 'state', state: 'running', reason: 'rate_limited', retryAt: new Date(2e12).toISOString(), attempt: 2 }, { kind: 'note', title: 'B', ref: 's' }, { kind: 'new.kind' as never, text: 'x' });
  assert.deepEqual([m.agent, m.title, m.queue[0]?.text, m.paused, m.usage?.used, m.state, m.retryAt, m.attempt], ['x', 'B', 't', true, 5, 'running', 2e12, 2]);
  assert.deepEqual(m.entries.map(e => e.kind), ['other']);
  assert.equal(project(m, look()).length, 0);
  assert.equal(project(m, look({ detail: 'everything' })).length, 1);
});

test('read in parts, backwards, or live, a run has the same rows', () => {
  const live = events({ kind: 'run.start', agent: 'x' }, { kind: 'step.start', step: 1 }, { kind: 'text', role: 'user', message: 'item-1', text: 'go' }, { kind: 'text', message: 'a', delta: 'x' }, { kind: 'text', message: 'a', delta: 'y' },
    { kind: 'text', message: 'a', text: 'xy' }, ...whole('1', 'read'), ...whole('2', 'read'), { kind: 'run.end', reason: 'done' });
  const keys = (m: Model) => project(m, look()).map(r => `${r.key} ${r.group?.length ?? 1}`);
  const one = new Model('r');
  for (const e of live) { one.apply([e]); }
  const settled = live.filter(e => e.delta === undefined);
  for (let cut = 0; cut < settled.length; cut++) {
    const late = new Model('r');
    late.apply(settled.slice(cut));
    assert.deepEqual(keys(late.withOlder(settled.slice(0, cut))), keys(one), `cut ${cut}`);
  }
});

test('members of the wrong type are left out, and nothing throws', () => {
  const wrong: unknown[] = [7, 'x', true, null, [], {}, [[]], [null], { call: 1 }, -1, NaN];
  const members = ['message', 'role', 'delta', 'text', 'call', 'state', 'reason', 'retryAt', 'attempt', 'question', 'options', 'expiresAt', 'irrecoverable', 'always', 'answer', 'items', 'plan', 'usage', 'child', 'raw', 'time', 'title'];
  const kinds = ['run.start', 'step.start', 'text', 'thought', 'call.proposed', 'call.decided', 'call.started', 'call.output', 'call.finished', 'note', 'steer', 'plan', 'usage', 'state', 'compaction', 'child', 'question', 'answered', 'queue', 'run.end', 'constructor', '__proto__'];
  const m = new Model('r');
  let seq = 0;
  m.apply([null, 7, [], {}, { run: 'r' }, { run: 'r', seq: 'x', kind: 'text' }, { run: 'r', seq: 1.5, kind: 'text' }]);
  assert.equal(m.seq, 0);
  for (const kind of kinds) {
    for (const member of members) {
      for (const value of wrong) {
        m.apply([{ run: 'r', seq: ++seq, time: '2026-01-01T00:00:00Z', kind, call: { call: 'c', kind: 'edit' }, question: 'q', [member]: value }]);
      }
    }
  }
  assert.equal(m.seq, seq);
  for (const r of project(m, look({ detail: 'everything' }))) {
    assert.ok(typeof r.key === 'string' && r.v);
  }
});

test('what is too long is cut', () => {
  const m = model({ kind: 'text', message: 'a', delta: 'x'.repeat(300_000) }, { kind: 'text', message: 'a', delta: 'y'.repeat(300_000) }, { kind: 'call.output', call: call('1', 'execute'), delta: `${'x'.repeat(1 << 20)}` }, { kind: 'call.output', call: call('1', 'execute'), delta: 'end' });
  assert.equal((m.entries[0] as Message).text.length, 256 << 10);
  assert.ok((m.entries[0] as Message).cut > 0 && (m.entries[1] as CallEntry).output.endsWith('end') && (m.entries[1] as CallEntry).output.length <= 256 << 10);
});
