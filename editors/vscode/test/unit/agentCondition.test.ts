import assert from 'node:assert/strict';
import test from 'node:test';
import type { AgentEvent } from '../../src/agent/event';
import type { View } from '../../src/agent/messages';
import { condition, takesText } from '../../src/agent/page/condition';
import { Model } from '../../src/agent/page/model';

const view = (more: Partial<View> = {}): View => ({ health: 'running', trusted: true, mode: 'review', reviews: true, settings: { enterSends: true, announce: 'paragraphs', detail: 'steps' },
  agents: [{ name: 'a', title: 'A', kind: 'acp', available: true, can: ['resume'], sees: [], consented: true }, { name: 'b', title: 'B', kind: 'acp', available: true, can: [], sees: [], consented: true }],
  runs: [{ run: 'r', agent: 'a', title: '', state: 'idle', session: 's', step: 1, pending: 0, openedAt: '' }, { run: 'old', agent: 'b', title: '', state: 'idle', session: 's', step: 1, pending: 0, openedAt: '', attached: false }], ...more });
const at = (run: string, ...list: Partial<AgentEvent>[]) => {
  const m = new Model(run);
  m.apply(list.map((e, i) => ({ run, seq: i + 1, time: '2026-01-01T00:00:00Z', ...e })));
  return m;
};

test('what the header says follows from the view and the events', () => {
  const running: Partial<AgentEvent>[] = [{ kind: 'step.start', step: 1 }, { kind: 'state', state: 'running' }];
  const end = (reason: string, text = ''): Partial<AgentEvent>[] => [...running, { kind: 'run.end', reason, text }, { kind: 'state', state: 'idle' }];
  const c = (v: View | undefined, run: string | undefined, ...list: Partial<AgentEvent>[]) => condition(v, run, run && at(run, ...list) || undefined);
  assert.equal(c(undefined, 'r'), 'loading');
  assert.equal(c(view({ trusted: false }), 'r'), 'untrusted');
  assert.equal(c(view({ health: 'failed' }), 'r', ...running), 'down');
  assert.equal(c(view(), undefined), 'first');
  assert.equal(condition(view(), 'r', undefined), 'loading');
  assert.equal(c(view({ starting: { agent: 'a', since: 0 } }), undefined), 'connecting');
  assert.equal(c(view({ starting: { agent: 'a', since: 0, step: 'signIn' } }), undefined), 'signIn');
  assert.equal(c(view({ starting: { agent: 'a', since: 0, error: { text: 'x', lines: [] } } }), undefined), 'failedStart');
  assert.equal(c(view(), 'r'), 'idle');
  assert.equal(c(view(), 'r', ...running), 'streaming');
  assert.equal(c(view(), 'r', ...running, { kind: 'state', state: 'waiting' }), 'waiting');
  assert.equal(c(view(), 'r', ...running, { kind: 'state', state: 'running', reason: 'rate_limited', retryAt: '2026-01-01T00:01:00Z' }), 'limited');
  assert.equal(c(view(), 'r', ...running, { kind: 'state', state: 'running', retryAt: '2026-01-01T00:01:00Z' }, { kind: 'text', message: 'm', delta: 'x' }), 'streaming');
  assert.equal(c(view(), 'r', ...end('done')), 'idle');
  assert.equal(c(view(), 'r', ...end('failed', 'gone')), 'failed');
  assert.equal(c(view(), 'r', ...end('interrupted')), 'stopped');
  assert.equal(c(view(), 'r', ...end('interrupted', 'The server ended.')), 'interrupted');
  assert.equal(c(view(), 'r', { kind: 'queue', items: [], paused: true }, { kind: 'state', state: 'paused' }), 'paused');
  assert.equal(c(view(), 'r', ...end('done'), { kind: 'state', state: 'ended' }), 'ended');
  assert.equal(c(view(), 'old', ...end('done')), 'readOnly');
});

test('a message can be typed wherever it can be sent later', () => {
  assert.deepEqual((['first', 'connecting', 'down', 'waiting', 'streaming', 'readOnly'] as const).map(takesText), ['no', 'type', 'type', 'yes', 'yes', 'no']);
});
