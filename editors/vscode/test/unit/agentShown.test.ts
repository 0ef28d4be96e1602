import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Model } from '../../src/agent/page/model';
import { planOf } from '../../src/agent/plan';

test('the document of a plan is one of the run, and nothing else is', () => {
  const plan = 'file:///home/me/p/.sidecar/show/run-a-plan-4.0.md';
  assert.equal(planOf('run-a', plan), plan);
  for (const other of [undefined, '', 'file:///etc/passwd', plan.replace('run-a', 'run-b'), plan.replace('file:', 'https:'), plan.replace('.md', '.sh'), `${plan}?x=.md`, 'file:///run-a-plan-1.md/../../etc/passwd', 'terminal:run-a-plan-1.md']) {
    assert.equal(planOf('run-a', other), undefined, String(other));
  }
});

test('a question keeps its document, and whether any text answers it', () => {
  const m = new Model('run-a');
  const asked = (seq: number, more: object) => m.apply([{ run: 'run-a', seq, time: '2026-01-02T03:04:05Z', kind: 'question', question: `q${seq}`, text: 'Shall it?', options: [{ id: 'approve_review', label: 'Approve' }], ...more }]);
  asked(1, { custom: true, call: { call: '4.0', kind: 'propose_plan', uri: 'file:///s/run-a-plan-4.0.md' } });
  asked(2, { custom: 'yes' });
  assert.deepEqual([...m.open.values()].map(q => [q.custom, planOf('run-a', q.call?.uri)]), [[true, 'file:///s/run-a-plan-4.0.md'], [false, undefined]]);
});
