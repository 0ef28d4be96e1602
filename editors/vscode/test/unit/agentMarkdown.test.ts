import assert from 'node:assert/strict';
import test from 'node:test';
import { blocks, Growing, type Block } from '../../src/agent/page/markdown';

const shape = (list: Block[]) => list.map(b => `${b.from}-${b.to} ${b.tokens.map(t => `${t.type}${t.nesting}${t.info}${t.content}${t.hidden}`).join('|')}`);
const samples = [
  '# One\n\nText *with* `code` and\nmore.\n\n- a\n- b\n  - c\n\n  d\n\n---\n\n1. x\n2. y\n',
  'Para\n\n```go\nfunc f() {\n\n}\n```\n\nafter\n```\nopen\n',
  '> quote\nlazy\n> more\n\nx | y\n--|--\n1 | 2\n3 | 4\n\nTitle\n=====\n\n    code\n\n    more code\n\nend',
  '* a\n\n* b\n\n\n* c\n\npara\n- d\n\n**bold** text\n\n* * *\n\n- - x\n\n-- not a rule\n',
  '<script>alert(1)</script>\n\n<b>x</b> & &amp; [l](command:x) ![i](http://e/x.png)\n\n1) a\n\n   b\n2) c\n+ plus\n\n\t tab\n',
];

test('a text that grows has after each character the blocks of the whole', () => {
  for (const text of samples) {
    const g = new Growing();
    for (let n = 1; n <= text.length; n++) {
      const before = shape(g.list), from = g.set(text.slice(0, n));
      assert.deepEqual(shape(g.list), shape(blocks(text.slice(0, n))), JSON.stringify(text.slice(0, n)));
      assert.deepEqual(shape(g.list).slice(0, from), before.slice(0, from));
    }
  }
});

test('by far the most of a long text is read once', () => {
  const g = new Growing();
  const text = 'A line of text.\n\n'.repeat(2000);
  let changed = 0;
  for (let n = 100; n <= text.length; n += 100) {
    const from = g.set(text.slice(0, n));
    changed += g.list.length - from;
  }
  assert.ok(changed < 4 * 2000, String(changed));
});

test('links by name are those of the whole text when it is whole', () => {
  const text = 'See [it][x].\n\n[x]: https://go.dev\n';
  const g = new Growing();
  g.set(text.slice(0, 14));
  g.set(text.slice(0, 25));
  g.set(text, true);
  assert.deepEqual(shape(g.list), shape(blocks(text)));
  assert.ok(g.list[0]!.tokens[1]!.children!.some(t => t.type === 'link_open'));
});

test('another text takes the place of the one before', () => {
  const g = new Growing();
  g.set('one\n\ntwo');
  assert.equal(g.set('three'), 0);
  assert.deepEqual(shape(g.list), shape(blocks('three')));
});

test('what is nested too deep is shown as it is, and what is not is read', () => {
  const deep = `${'> '.repeat(60)}deep`;
  assert.deepEqual(blocks(`a\n\n${deep}\n\nb`).map(b => b.deep), [undefined, deep, undefined]);
  assert.equal(blocks('> > > three')[0]!.deep, undefined);
});

test('bare addresses are links, names of files are not', () => {
  const links = (text: string) => blocks(text)[0]!.tokens[1]!.children!.filter(t => t.type === 'link_open').map(t => t.attrGet('href'));
  assert.deepEqual(links('see https://go.dev/doc and main.go, example.com, a@b.org'), ['https://go.dev/doc']);
});

test('a block that grows very long is read when it is whole', () => {
  const g = new Growing(), text = `a\n\n${'*b* '.repeat(20_000)}`;
  g.set('a\n\n*b*');
  assert.equal(g.set(text), 1);
  assert.deepEqual(g.list.map(b => b.deep?.length), [undefined, 80_000]);
  assert.equal(g.set(`${text}c`), 1);
  assert.equal(g.list[1]!.deep!.length, 80_001);
  assert.equal(g.set(`${text}c`, true), 1);
  assert.deepEqual(shape(g.list), shape(blocks(`${text}c`)));
  assert.equal(g.set(`${text}c`, true), 2);
});
