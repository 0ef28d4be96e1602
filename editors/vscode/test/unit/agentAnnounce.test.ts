import assert from 'node:assert/strict';
import test from 'node:test';
import type { AgentEvent } from '../../src/agent/event';
import { Announcer } from '../../src/agent/page/announce';
import { fitting, taken, writing } from '../../src/agent/page/complete';
import { Model } from '../../src/agent/page/model';

test('ends, settled messages and questions are told once, and nothing of what was there before', () => {
  const m = new Model('r'), a = new Announcer();
  let seq = 0;
  const look = (e: Partial<AgentEvent>, reader = true) => { m.apply([{ run: 'r', seq: ++seq, time: new Date(seq * 1000).toISOString(), ...e }]); return a.look(m, 'paragraphs', reader, 'Claude'); };
  m.apply([{ run: 'r', seq: ++seq, time: '', kind: 'text', message: 'old', text: 'old' }]);
  assert.deepEqual(a.look(m, 'paragraphs', true, 'Claude'), { status: [], alert: [] });
  assert.deepEqual(look({ kind: 'step.start', step: 1 }), { status: [], alert: [] });
  assert.deepEqual(look({ kind: 'state', state: 'running' }).status, ['Claude works']);
  assert.deepEqual(look({ kind: 'text', message: 'a', delta: 'Hel' }).status, []);
  assert.deepEqual(look({ kind: 'usage', usage: { used: 1 } }).status, []);
  assert.deepEqual(look({ kind: 'text', message: 'a', text: 'Hello.' }).status, ['Hello.']);
  assert.deepEqual(look({ kind: 'text', message: 'b', text: 'Unheard.' }, false).status, []);
  assert.deepEqual(look({ kind: 'question', question: 'q', text: 'Run it?' }, false).alert, ['Claude asks: Run it?']);
  assert.deepEqual(look({ kind: 'state', state: 'waiting' }), { status: [], alert: [] });
  assert.deepEqual(look({ kind: 'answered', question: 'q' }), { status: [], alert: [] });
  assert.deepEqual(look({ kind: 'run.end', reason: 'done' }, false).status, ['Done, 9.0 s']);
  assert.deepEqual(look({ kind: 'run.end', reason: 'failed', text: 'gone\nx' }).alert, ['Failed: gone, 10 s']);
});

test('a mention and a command are found before the cursor, and nowhere else', () => {
  assert.deepEqual(writing('see @cou', 8), { kind: '@', query: 'cou', from: 4 });
  assert.deepEqual(writing('@', 1), { kind: '@', query: '', from: 0 });
  assert.deepEqual(writing('/rev', 4), { kind: '/', query: 'rev', from: 0 });
  for (const none of ['a@b.c', 'see @cou ', 'x /rev', '/a b']) { assert.equal(writing(none, none.length), undefined, none); }
  assert.equal(taken('see @cou now', 8, { kind: '@', query: 'cou', from: 4 }, 'count.go'), '@count.go');
  assert.equal(taken('/re', 3, { kind: '/', query: 're', from: 0 }, 'review'), '/review ');
  assert.deepEqual(fitting([{ name: 'preview' }, { name: 'Review' }, { name: 'x' }], 'rev').map(c => c.name), ['Review', 'preview']);
});
