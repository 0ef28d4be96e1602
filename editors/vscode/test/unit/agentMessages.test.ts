import assert from 'node:assert/strict';
import test from 'node:test';
import { checkFromPage } from '../../src/agent/messages';

test('a message of the page is taken with what belongs to it, and nothing else', () => {
  assert.deepEqual(checkFromPage({ type: 'follow', run: 'r', since: 3, command: 'x' }), { type: 'follow', run: 'r', since: 3 });
  assert.deepEqual(checkFromPage({ type: 'ready' }), { type: 'ready' });
  assert.deepEqual(checkFromPage({ type: 'fork', run: 'r' }), { type: 'fork', run: 'r' });
  assert.deepEqual(checkFromPage({ type: 'answer', run: 'r', question: 'q1', answer: 'y', reason: 'no' }), { type: 'answer', run: 'r', question: 'q1', answer: 'y', reason: 'no' });
  assert.deepEqual(checkFromPage({ type: 'prompt', run: 'r', text: '', when: 'steer', chips: ['a'] }), { type: 'prompt', run: 'r', text: '', when: 'steer', chips: ['a'] });
});

test('anything else from the page is refused', () => {
  for (const bad of [
    undefined, null, 7, 'ready', [], {}, { type: 'toString' }, { type: '__proto__' }, { type: 'constructor' }, { type: 7 },
    { type: 'follow' }, { type: 'follow', run: 7 }, { type: 'follow', run: 'r', since: -1 }, { type: 'follow', run: 'r', since: 1.5 }, { type: 'follow', run: 'r', since: '1' },
    Object.assign(Object.create({ run: 'r' }) as object, { type: 'follow' }),
    { type: 'follow', run: 'r'.repeat(1001) },
    { type: 'prompt', run: 'r', text: 'x', when: 'now', chips: [] }, { type: 'prompt', run: 'r', text: 'x', when: 'queue', chips: [1] }, { type: 'prompt', run: 'r', text: 'x', when: 'queue', chips: Array(101).fill('c') },
    { type: 'attachImage', name: 'x', mime: 'image/svg+xml', data: '' }, { type: 'control', run: 'r', what: 'fork' }, { type: 'do', what: 'workbench.action.quit' },
    { type: 'answer', run: 'r', question: 'q1' }, { type: 'always', run: 'r', question: 'q1' }, { type: 'always', run: 'r', question: 'q1', scope: 'machine' }, { type: 'fork' }, { type: 'fork', run: 'r', at: -1 }, { type: 'set', detail: 'all' }, { type: 'consent', agent: 'a', yes: 'yes' },
    { type: 'image', run: 'r', image: 'x' }, { type: 'image', run: 'r', image: 7, large: true }, { type: 'image', run: 'r', image: 'x', large: 1 },
    { type: 'stopCommand', run: 'r' }, { type: 'stopCommand', run: 'r', call: 7 },
  ]) {
    assert.equal(checkFromPage(bad), undefined, JSON.stringify(bad)?.slice(0, 80));
  }
});
