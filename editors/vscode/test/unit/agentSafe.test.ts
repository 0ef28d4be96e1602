import assert from 'node:assert/strict';
import test from 'node:test';
import { diff, sideBySide } from '../../src/agent/page/diff';
import { deceives, lines, link, readable, terminal, visible } from '../../src/agent/page/safe';

test('links: files of the workspace and https; everything else is text', () => {
  assert.deepEqual(link('count/count.go'), { kind: 'file', path: 'count/count.go' });
  assert.deepEqual(link('count/count.go:18'), { kind: 'file', path: 'count/count.go', line: 18 });
  assert.deepEqual(link('count/count.go#L18-L20'), { kind: 'file', path: 'count/count.go', line: 18 });
  assert.deepEqual(link('a%20b.go'), { kind: 'file', path: 'a b.go' });
  assert.deepEqual(link('https://go.dev/doc?x=1#y'), { kind: 'web', host: 'go.dev' });
  assert.deepEqual(link('http://localhost:8080/'), { kind: 'web', host: 'localhost:8080' });
  for (const bad of [
    'command:workbench.action.quit', 'COMMAND:x', 'vscode://x/y', 'vscode:x', 'data:text/html,x', 'javascript:alert(1)', 'file:///etc/passwd', 'http://example.com', 'ftp://x/y', 'blob:x', 'vscode-webview://x',
    '//example.com/x', '../x', 'a/../../x', '%2e%2e/x', 'a%2f..%2f..%2fx', 'command%3Ax', 'C:\\x', '\\\\host\\x', 'https://user:pw@example.com', 'https:', 'x\u202Ey', 'x%00y', 'x\u0000', '%zz', '', '#', '#top', 'a'.repeat(3000), ' command:x'.trim(),
  ]) {
    assert.equal(link(bad).kind, 'none', bad.slice(0, 40));
  }
});

test('characters that hide or turn are shown by their number', () => {
  assert.equal(visible('rm \u202Etxt.\u200b'), 'rm ‹U+202E›txt.‹U+200B›');
  assert.ok(deceives('a\u2066b') && deceives('\u{e0041}') && !deceives('naïve 日本語\t\n'));
  assert.equal(readable('👩‍💻 ok'), '👩‍💻 ok');
  assert.equal(readable('x\u202Ey'), 'x‹U+202E›y');
});

test('of a terminal its colours are shown, and nothing is obeyed', () => {
  assert.deepEqual(terminal('\u001b[31mred\u001b[0m plain \u001b[1;92mok\u001b[m'), [{ text: 'red', look: 'fg-1' }, { text: ' plain ', look: '' }, { text: 'ok', look: 'fg-10 bold' }]);
  const all = (s: string) => terminal(s).map(p => p.text).join('');
  assert.equal(all('\u001b]8;;command:x\u0007link\u001b]8;;\u0007'), 'link');
  assert.equal(all('a\u001b]52;c;ZXZpbA==\u0007b\u001b]0;title\u001b\\c'), 'abc');
  assert.equal(all('\u001b[2J\u001b[1;1Hx\u001b[5Ay\u001b[?1049hz\u001bc!'), 'xyz!');
  assert.equal(all('10 %\r50 %\r100 %\ndone\r\nend'), '100 %\ndone\nend');
  assert.equal(all('bell\u0007 \u0001 \u202E'), 'bell ‹U+0001› ‹U+202E›');
  assert.equal(all('\u001b[38;5;200mx\u001b[38;2;1;2;3my\u001b[38;5mz\u001b[9999999999;;mw\u001b['), 'xyzw');
  assert.equal(all(`\u001b]${'x'.repeat(1000)}`), '');
});

test('long lines are cut', () => {
  assert.deepEqual(lines(`${'x'.repeat(1 << 20)}\ny`).map(l => l.length), [2001, 1]);
});

test('a diff is the lines that differ, with some around them', () => {
  const d = diff({ path: 'a', old: 'a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\n', new: 'a\nb\nC\nd\ne\nf\ng\nh\ni\nj\nK\nl\n' }, 1);
  assert.equal(`${d.added} ${d.removed}`, '3 2');
  assert.deepEqual(d.parts.map(p => p.lines.map(l => l.kind + l.text)), [[' b', '-c', '+C', ' d'], [' j', '-k', '+K', '+l']]);
  assert.deepEqual(d.parts[0]!.lines.map(l => [l.old, l.new]), [[2, 2], [3, undefined], [undefined, 3], [4, 4]]);
  assert.deepEqual(sideBySide(d.parts[1]!).map(r => `${r.old?.text}|${r.new?.text}`), ['j|j', 'k|K', 'undefined|l']);
  assert.equal(diff({ path: 'n', new: 'x\ny' }).added, 2);
  assert.equal(diff({ path: 'n', old: 'x\ny', new: '' }).removed, 2);
  assert.deepEqual(diff({ path: 'n', old: 'x', new: 'x' }), { parts: [], added: 0, removed: 0 });
});

test('a diff makes the one text of the other, whatever they are', () => {
  let seed = 7;
  const next = (n: number) => { seed = (seed * 1103515245 + 12345) & 0x7fffffff; return seed % n; };
  for (let i = 0; i < 300; i++) {
    const make = () => Array.from({ length: next(14) }, () => 'abcd'[next(4)]!);
    const a = make(), b = make();
    const all = diff({ path: 'x', old: a.join('\n'), new: b.join('\n') }, 1000).parts.flatMap(p => p.lines);
    if (a.join('\n').replace(/\n$/, '') === b.join('\n').replace(/\n$/, '')) { assert.equal(all.length, 0); continue; }
    assert.deepEqual(all.filter(l => l.kind !== '+').map(l => l.text), a);
    assert.deepEqual(all.filter(l => l.kind !== '-').map(l => l.text), b);
  }
  const far = diff({ path: 'x', old: Array.from({ length: 3000 }, (_, i) => `a${i}`).join('\n'), new: Array.from({ length: 3000 }, (_, i) => `b${i}`).join('\n') });
  assert.equal(far.added + far.removed, 6000);
});
