import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Model } from '../../src/agent/page/model';
import { shownOf } from '../../src/agent/shown';

test('the document of a question is one of the run, and nothing else is', () => {
  for (const what of ['plan', 'best'] as const) {
    const uri = `file:///home/me/p/.sidecar/show/run-a-${what}-4.0.md`;
    assert.deepEqual(shownOf('run-a', uri), { uri, what });
    for (const other of [undefined, '', 'file:///etc/passwd', uri.replace('run-a', 'run-b'), uri.replace('file:', 'https:'), uri.replace('.md', '.sh'), `${uri}?x=.md`, `file:///run-a-${what}-1.md/../../etc/passwd`, `terminal:run-a-${what}-1.md`, uri.replace(what, 'else')]) {
      assert.equal(shownOf('run-a', other), undefined, String(other));
    }
  }
});

test('a question keeps its document, and whether any text answers it', () => {
  const m = new Model('run-a');
  const asked = (seq: number, more: object) => m.apply([{ run: 'run-a', seq, time: '2026-01-02T03:04:05Z', kind: 'question', question: `q${seq}`, text: 'Shall it?', options: [{ id: 'approve_review', label: 'Approve' }], ...more }]);
  asked(1, { custom: true, call: { call: '4.0', kind: 'propose_plan', uri: 'file:///s/run-a-plan-4.0.md' } });
  asked(2, { custom: 'yes' });
  assert.deepEqual([...m.open.values()].map(q => [q.custom, shownOf('run-a', q.call?.uri)?.what]), [[true, 'plan'], [false, undefined]]);
});

test('the latest summary alone can be changed, until it is taken away', () => {
  const m = new Model('run-a');
  const compact = (seq: number, more: object) => m.apply([{ run: 'run-a', seq, time: '2026-01-02T03:04:05Z', kind: 'compaction', text: 'It was.', ...more }]);
  compact(1, { reason: 'summary', ref: '7' });
  compact(2, { reason: 'summary', ref: '9' });
  compact(3, { reason: 'pruned' });
  assert.equal(m.summary?.ref, '9');
  compact(4, { reason: 'restored' });
  assert.equal(m.summary, undefined);
});
