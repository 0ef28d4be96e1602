import assert from 'node:assert/strict';
import test from 'node:test';
import { Window } from '../../src/agent/page/window';

/** Numbers that look random and are the same each time. */
function random(seed: number): (below: number) => number {
  return below => { seed = (seed * 1103515245 + 12345) & 0x7fffffff; return Math.floor(seed / 0x80000000 * below); };
}

test('whatever is added, folded, measured or taken away, the anchored row stays where it is', () => {
  for (let seed = 1; seed <= 60; seed++) {
    const next = random(seed), w = new Window(28);
    let keys: string[] = [], made = 0;
    const high = new Map<string, number>();
    const insert = (at: number, n: number) => { keys = [...keys.slice(0, at), ...Array.from({ length: n }, () => `k${made++}`), ...keys.slice(at)]; };
    insert(0, 200);
    w.setRows(keys);
    let y = next(4000), anchor = w.anchor(y)!;
    for (let step = 0; step < 200; step++) {
      const i = next(keys.length), kind = next(5);
      if (kind === 0) { insert(next(keys.length + 1), 1 + next(5)); }
      else if (kind === 1 && keys.length > 20 && keys[i] !== anchor.row) { keys = keys.filter((_, n) => n !== i); }
      else if (kind === 2) { for (const k of keys.slice(i, i + 30)) { high.set(k, 20 + next(300)); w.measured(k, high.get(k)!); } }
      else if (kind === 3) { high.set(keys[i]!, 20 + next(900)); w.measured(keys[i]!, high.get(keys[i]!)!); }
      else { y = next(Math.max(1, w.total)); anchor = w.anchor(y)!; continue; }
      w.setRows(keys);
      const now = w.scrollOf(anchor)!;
      let top = 0;
      for (const k of keys) { if (k === anchor.row) { break; } top += high.get(k) ?? 28; }
      assert.equal(w.top(w.index(anchor.row)), top, `seed ${seed} step ${step}`);
      assert.equal(now - top, Math.min(anchor.offset, (high.get(anchor.row) ?? 28) - 1));
      assert.equal(w.total, keys.reduce((n, k) => n + (high.get(k) ?? 28), 0));
    }
  }
});

test('what is drawn covers the view and one more each way, and no more rows than that', () => {
  const w = new Window(28);
  w.setRows(Array.from({ length: 5000 }, (_, i) => String(i)));
  for (const y of [0, 1, 27, 28, 70_000, 139_400, 1e9]) {
    const [from, to] = w.range(y, 600), at = Math.min(y, w.total - 600);
    assert.ok(w.top(from) <= Math.max(0, at - 600) + 28 && w.top(to - 1) + w.height(to - 1) >= Math.min(w.total, at + 600), String(y));
    assert.ok(to - from <= 1800 / 28 + 3);
  }
  w.setRows([]);
  assert.deepEqual(w.range(0, 600), [0, 0]);
  assert.equal(w.anchor(0), undefined);
  assert.equal(w.scrollOf({ row: 'gone', offset: 3 }), undefined);
});
