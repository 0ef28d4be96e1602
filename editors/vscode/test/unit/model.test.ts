import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import test from 'node:test';
import { asWritten } from '../../src/words';
import type { HeldOutput, Hunk, PendingEdit, ReviewList } from '../../src/protocol';
import { reconcile } from '../../src/review/reconcile';
import { agreed, bySession, dangers, markText, outputText, shownName, sizeText } from '../../src/review/held';
import { after, brokenElsewhere, hunkAt, hunkLabel, lines, only, parted, problemLines, selectionOf, stamp, step, stops, tree, type Node } from '../../src/review/model';

const hunk = (id: string, old: [number, number], now: [number, number], text = '', state: Hunk['state'] = 'clean'): Hunk =>
  ({ id, oldStart: old[0], oldLines: old[1], newStart: now[0], newLines: now[1], state, text });
const edit = (path: string, more: Partial<PendingEdit> = {}): PendingEdit =>
  ({ uri: `file:///w/${path}`, path, kind: 'modify', revision: 1, added: 1, removed: 1, state: 'clean', session: 'default', tool: 'edit_file', updatedAt: '2026-01-01T00:00:00Z', hunks: [hunk(`${path}-1`, [3, 1], [3, 1])], ...more });
const list = (edits: PendingEdit[], commits: ReviewList['commits'] = []): ReviewList => ({ revision: 7, batch: false, edits, commits });
const outline = (nodes: Node[], indent = ''): string[] => nodes.flatMap(n => [
  indent + (n.kind === 'folder' ? n.label + '/' : n.kind === 'file' ? n.edit.path.split('/').pop() : n.kind === 'hunk' ? '#' + n.hunk.id : n.kind === 'batch' ? `[${n.session}]` : n.kind === 'message' ? `"${n.message?.text ?? ''}"` : n.kind === 'filter' ? `only ${n.title}` : n.kind === 'total' ? `${n.edits.length} files` : n.kind === 'output' ? `<${n.held.session}>` : n.kind === 'outputFile' ? [n.name, ...n.marks].join(' ') : `(${n.commit.message})`),
  ...outline(n.children, indent + ' ')]);

test('folders come first, in order, and a folder of one folder is shown with it', () => {
  assert.deepEqual(outline(tree(list([edit('z.go'), edit('a/b/c/x.go'), edit('a/b/c/w.go'), edit('d/y.go'), edit('d/e/v.go')]))), [
    'a/b/c/', ' w.go', '  #a/b/c/w.go-1', ' x.go', '  #a/b/c/x.go-1', 'd/', ' e/', '  v.go', '   #d/e/v.go-1', ' y.go', '  #d/y.go-1', 'z.go', ' #z.go-1']);
});

test('a batch is one item with its commits, and a commit waits there without files, too', () => {
  const commits = [{ message: 'second', session: 'b', paths: [] }, { message: 'first', session: 'a', paths: ['x'] }];
  const roots = tree(list([edit('p/x', { batch: true, session: 'a' }), edit('y')], commits));
  assert.deepEqual(outline(roots), ['[a]', ' p/', '  x', '   #p/x-1', ' (first)', '[b]', ' (second)', 'y', ' #y-1']);
  assert.deepEqual(selectionOf([roots[0]!], 7), { session: 'a', revision: 7 });
});

test('ids stay what they are when others come and go, and differ from each other', () => {
  const ids = (nodes: Node[]): string[] => nodes.flatMap(n => [n.id, ...ids(n.children)]);
  const before = ids(tree(list([edit('a/x'), edit('a/y')]))), after = ids(tree(list([edit('0'), edit('a/x'), edit('a/y'), edit('a/b/z')])));
  assert.ok(before.every(id => after.includes(id)));
  assert.equal(new Set(after).size, after.length);
});

test('a commit that waits for its files makes no batch of them', () => {
  const commits = [{ message: 'by file', session: 'a', paths: ['x'], byFile: true }];
  assert.deepEqual(tree(list([edit('x', { session: 'a' })], commits)).map(n => n.kind), ['file', 'commit']);
});

test('what is decided is named by hunks; what has none by its file and the revision', () => {
  const roots = tree(list([edit('a/x', { hunks: [hunk('h1', [1, 1], [1, 1]), hunk('h2', [9, 1], [9, 1])] }), edit('a/moved', { kind: 'rename', hunks: [] })]));
  const folder = roots[0]!;
  assert.deepEqual(selectionOf([folder], 7), { hunks: ['h1', 'h2'], uris: ['file:///w/a/moved'], revision: 7 });
  assert.deepEqual(selectionOf([folder, folder.children[1]!.children[0]!], 7).hunks, ['h1', 'h2'], 'once each');
  assert.deepEqual(selectionOf([], 7), { hunks: [] }, 'nothing, which is not everything');
});

test('the hunk at the cursor, on both sides', () => {
  const e = edit('x', { hunks: [hunk('replace', [3, 2], [3, 1]), hunk('insert', [10, 0], [10, 2]), hunk('delete', [20, 3], [20, 0])] });
  const at = (side: 'proposed' | 'base', line: number) => hunkAt([e], { uri: e.uri, side, line })?.hunk?.id;
  assert.deepEqual([2, 3, 4, 5].map(l => at('base', l)), [undefined, 'replace', 'replace', undefined]);
  assert.deepEqual([2, 3, 4].map(l => at('proposed', l)), [undefined, 'replace', undefined]);
  assert.deepEqual([10, 11].map(l => at('proposed', l)), ['insert', 'insert']);
  assert.deepEqual([9, 10, 11, 12].map(l => at('base', l)), [undefined, 'insert', 'insert', undefined], 'an insertion is found from both neighbours');
  assert.deepEqual([20, 21].map(l => at('proposed', l)), ['delete', 'delete']);
  assert.equal(hunkAt([e], { uri: 'file:///other', side: 'base', line: 3 }), undefined);
});

test('next and previous go through all files and around the ends', () => {
  const all = stops(tree(list([edit('b', { hunks: [hunk('b1', [5, 1], [5, 1]), hunk('b2', [9, 1], [9, 1])] }), edit('a'), edit('c', { kind: 'rename', hunks: [] })])));
  assert.deepEqual(all.map(s => s.hunk?.id ?? s.edit.path), ['a-1', 'b1', 'b2', 'c']);
  const go = (path: string, line: number, forward: boolean) => { const s = step(all, { uri: `file:///w/${path}`, side: 'proposed', line }, forward); return s?.hunk?.id ?? s?.edit.path; };
  assert.equal(go('b', 1, true), 'b1');
  assert.equal(go('b', 5, true), 'b2');
  assert.equal(go('b', 9, true), 'c');
  assert.equal(go('b', 9, false), 'b1');
  assert.equal(go('b', 5, false), 'a-1');
  assert.equal(go('c', 1, true), 'a-1');
  assert.equal(go('elsewhere', 1, true), 'a-1');
  assert.equal(step(all, undefined, false)?.edit.path, 'c');
  assert.equal(step([], undefined, true), undefined);
});

test('labels say what a hunk brings, or else what it takes', () => {
  assert.equal(hunkLabel(hunk('x', [1, 1], [1, 1], '@@ -1 +1 @@\n-old\n+\tnew text\n')), 'new text');
  assert.equal(hunkLabel(hunk('x', [1, 1], [0, 0], '@@ -1 +0,0 @@\n-old\n')), '− old');
  assert.equal(hunkLabel(hunk('x', [1, 1], [4, 1], '@@ -1 +4 @@\n-\n+\n')), '@@ 4');
  assert.equal(hunkLabel(hunk('x', [1, 1], [1, 1], '+' + 'x'.repeat(200))).length, 80);
});

test('a stamp changes with what is shown', () => {
  const e = edit('x');
  assert.equal(stamp(e), stamp(edit('x')));
  for (const other of [edit('x', { revision: 2 }), edit('x', { state: 'conflict' }), edit('x', { hunks: [hunk('x-1', [4, 1], [4, 1])] })]) {
    assert.notEqual(stamp(e), stamp(other));
  }
});

test('lines of what has none on a side', () => {
  assert.deepEqual(lines(hunk('x', [0, 0], [1, 3]), 'base'), [1, 1]);
  assert.deepEqual(lines(hunk('x', [0, 0], [1, 3]), 'proposed'), [1, 3]);
});

test('only what has changed is drawn again, and nodes stay the same objects', () => {
  const before = tree(list([edit('a/x'), edit('a/y'), edit('z')]));
  const [folder, z] = before;
  const draw = (edits: PendingEdit[]) => {
    const { roots, changed } = reconcile(before, tree(list(edits)));
    return { roots, changed: changed === 'all' ? changed : changed.map(n => n.id) };
  };
  assert.deepEqual(draw([edit('a/x'), edit('a/y'), edit('z')]).changed, []);
  const one = draw([edit('a/x'), edit('a/y', { added: 9 }), edit('z')]);
  assert.deepEqual(one.changed, ['file:a/y']);
  assert.equal(one.roots[0], folder);
  assert.equal((folder!.children[1] as { edit: PendingEdit }).edit.added, 9);
  assert.equal(folder!.children[1]!.children[0]!.parent, folder!.children[1]);
  assert.deepEqual(draw([edit('a/x'), edit('a/y', { added: 9, hunks: [hunk('new', [1, 1], [1, 1])] }), edit('z')]).changed, ['file:a/y'], 'with its new hunk');
  assert.deepEqual(draw([edit('a/w'), edit('a/x'), edit('a/y'), edit('z')]).changed, ['folder:a'], 'with its new file');
  const all = draw([edit('z'), edit('zz')]);
  assert.equal(all.changed, 'all');
  assert.equal(all.roots[0], z);
});

test('problems are told by file; those of files that nothing is pending for are told, too', () => {
  const problem = (path: string, line: number) => ({ path, uri: '', line, column: 1, severity: 'error', source: 'go', message: 'undefined: x' });
  const l: ReviewList = { ...list([edit('a')]), problems: [problem('a', 3), problem('b', 4), problem('b', 5)] };
  assert.deepEqual(problemLines(l, 'a', asWritten), ['3: error: undefined: x (go)']);
  assert.deepEqual(brokenElsewhere(l), ['b']);
  assert.deepEqual(brokenElsewhere(list([edit('a')])), []);
  const before = tree(list([edit('a')])), { changed } = reconcile(before, tree(list([edit('a', { problems: { errors: 1, warnings: 0 } })])));
  assert.deepEqual(changed, before, 'a badge that comes later is drawn');
});

const from = (seq: number, text: string, run = 'r') => ({ message: { run, seq, number: seq, text } });
const of = (id: string, sessions: string[], text = '@@\n-a\n+b\n', more: object = {}): Hunk => ({ ...hunk(id, [1, 1], [1, 1], text), sessions, ...more });

test('of a session only its hunks are shown, counted and decided about', () => {
  const both = edit('a/both', { added: 9, removed: 9, hunks: [of('mine', ['ada'], '@@\n+b\n+c\n'), of('theirs', ['grace']), of('ours', ['ada', 'grace'])] });
  const l = list([both, edit('theirs', { session: 'grace' }), edit('moved', { kind: 'rename', session: 'ada', hunks: [] }), edit('b', { batch: true, session: 'grace' })],
    [{ message: 'hers', session: 'ada', paths: [], byFile: true }, { message: 'not hers', session: 'grace', paths: [], byFile: true }]);
  const ada = only(l, 'ada'), roots = tree(l, { only: { session: 'ada', title: 'Count' }, byMessage: false });
  assert.deepEqual(outline(roots), ['only Count', 'a/', ' both', '  #mine', '  #ours', 'moved', '(hers)']);
  assert.deepEqual([ada.edits[0]!.added, ada.edits[0]!.removed], [3, 1]);
  assert.equal(both.hunks.length, 3, 'the list stays as it was');
  assert.deepEqual(selectionOf(roots.slice(0, 2), 7), { hunks: ['mine', 'ours'] });
  assert.deepEqual(selectionOf(roots.slice(0, 1), 7), { hunks: [] }, 'the item that says so decides nothing');
  assert.deepEqual(stops(roots).map(s => s.hunk?.id ?? s.edit.path), ['mine', 'ours', 'moved']);
  assert.deepEqual(outline(tree(only(l, 'nobody'))), []);
  assert.equal(only(l, 'grace').edits.find(e => e.batch)?.path, 'b', 'a batch stays whole');
});

test('hunks are grouped by the message that they came from, a file below each of them', () => {
  const l = list([
    edit('x', { hunks: [of('x2', ['s'], '@@\n+b\n', from(12, 'second')), of('x1', ['s'], '@@\n+b\n', from(3, 'first')), of('x0', ['s'])] }),
    edit('d/y', { hunks: [of('y1', ['s'], '@@\n+b\n', from(3, 'first'))] }), edit('moved', { kind: 'rename', hunks: [] }), edit('b', { batch: true, session: 'z' })]);
  const roots = tree(l, { byMessage: true });
  assert.deepEqual(outline(roots), ['[z]', ' b', '  #b-1', '"first"', ' d/', '  y', '   #y1', ' x', '  #x1', '"second"', ' x', '  #x2', '""', ' moved', ' x', '  #x0']);
  const ids = (nodes: Node[]): string[] => nodes.flatMap(n => [n.id, ...ids(n.children)]);
  assert.equal(new Set(ids(roots)).size, ids(roots).length);
  assert.deepEqual(selectionOf([roots[1]!], 7), { hunks: ['y1', 'x1'] });
  assert.deepEqual(stops(roots).map(s => s.hunk?.id ?? s.edit.path), ['b-1', 'y1', 'x1', 'x2', 'moved', 'x0']);
  assert.deepEqual(outline(tree(list([edit('z')]), { byMessage: true })), ['z', ' #z-1'], 'without a message there are folders alone');
  assert.deepEqual(outline(tree(l)).filter(o => o.startsWith('"')), [], 'and none where they are not wanted');
});

test('a message is drawn again when what is below it comes or goes', () => {
  const first = edit('x', { hunks: [of('x1', ['s'], '@@\n+b\n', from(3, 'first'))] }), more = edit('y', { hunks: [of('y1', ['s'], '@@\n+b\n', from(3, 'first'))] });
  const before = tree(list([first]), { byMessage: true });
  const { roots, changed } = reconcile(before, tree(list([first, more]), { byMessage: true }));
  assert.deepEqual(changed === 'all' ? changed : changed.map(n => n.id), ['message:r:3']);
  assert.equal(roots[0], before[0]);
  assert.equal(reconcile(before, tree(list([first]))).changed, 'all', 'grouped in another way, all is');
});

const held = (session: string, more: Partial<HeldOutput> = {}): HeldOutput =>
  ({ session, at: '2026-01-01T00:00:00Z', files: 2, bytes: 1500, names: ['build'], programs: [], protected: [], deleted: [], ...more });

test('output that is held stands behind the files, each name once with what it is', () => {
  const entry = held('a', { names: ['.env', 'build'], programs: ['build/run'], protected: ['.env', 'build/out -> /etc'], deleted: ['build/old', 'build/run'] });
  const roots = tree(list([edit('x')], [{ message: 'by file', session: 'a', paths: ['x'], byFile: true }]), undefined, [entry, held('b')]);
  assert.deepEqual(outline(roots), ['x', ' #x-1', '(by file)', '<a>', ' .env protected', ' build', ' build/run program deleted', ' build/out -> /etc protected', ' build/old deleted', '<b>', ' build']);
  const ids = (nodes: Node[]): string[] => nodes.flatMap(n => [n.id, ...ids(n.children)]);
  assert.equal(new Set(ids(roots)).size, ids(roots).length);
  assert.equal(roots[2]!.children[0]!.parent, roots[2]);
  assert.deepEqual(selectionOf(roots.slice(2), 7), { hunks: [] }, 'a decision about edits is none about output');
  assert.deepEqual(stops(roots).map(s => s.edit.path), ['x']);
  assert.deepEqual(outline(tree(list([]), { only: { session: 'b', title: 'B' }, byMessage: false }, [entry, held('b')])), ['only B', '<b>', ' build']);
  assert.equal(outline(tree(list([]), undefined, [held('a', { names: Array.from({ length: 5000 }, (_, i) => `n${i}`) })])).length, 201, 'a row for each of many names would be slow');
});

test('output is drawn again when it has changed', () => {
  const before = tree(list([edit('x')]), undefined, [held('a')]), draw = (entries: HeldOutput[]) => reconcile(before, tree(list([edit('x')]), undefined, entries)).changed;
  assert.deepEqual(draw([held('a')]), []);
  const changed = draw([held('a', { files: 3, protected: ['build'] })]);
  assert.deepEqual(changed === 'all' ? changed : changed.map(n => n.id), ['output:a']);
  assert.equal(draw([]), 'all');
});

test('what several folders hold of a session is one entry, as a decision is about all of it', () => {
  const [one, ...more] = bySession([held('a', { programs: ['p'] }), held('a', { at: '2026-02-01T00:00:00Z', names: ['build', 'out'], protected: ['q'], deleted: ['d'] })]);
  assert.deepEqual(one, held('a', { at: '2026-02-01T00:00:00Z', files: 4, bytes: 3000, names: ['build', 'out'], programs: ['p'], protected: ['q'], deleted: ['d'] }));
  assert.deepEqual(more, []);
  assert.deepEqual(bySession([{ ...held('a'), names: null, deleted: null } as unknown as HeldOutput]), [held('a', { names: [] })], 'an empty list may be null');
  assert.deepEqual(bySession([held('b'), held('a')]).map(e => e.session), ['b', 'a'], 'the newest stays the first');
});

test('output says how much it is and where; what is dangerous of it is named, in bounds', () => {
  assert.equal(outputText(held('a', { files: 34, bytes: 1_258_291, names: ['node_modules', 'build'] }), asWritten), '34 files, 1.2 MiB in node_modules, build');
  assert.equal(outputText(held('a', { files: 1, names: [] }), asWritten), '1 file, 2 KiB');
  assert.equal(outputText(held('a', { names: ['a', 'b', 'c', 'd', 'e'] }), asWritten), '2 files, 2 KiB in a, b, c and 2 more');
  assert.deepEqual([0, 1, 1 << 20].map(n => sizeText(n, asWritten)), ['0 KiB', '1 KiB', '1.0 MiB']);
  assert.deepEqual(dangers([held('a')], asWritten), [], 'nothing to ask about');
  const many = (n: number) => Array.from({ length: n }, (_, i) => `p${i}`);
  assert.deepEqual(dangers([held('a', { programs: many(12) }), held('b', { protected: ['.env'], deleted: ['d'] })], asWritten), [
    'Obeyed by programs, secret, or leading out: .env', 'Programs: p0, p1, p2, p3, p4, p5, p6, p7, p8, p9 and 2 more', 'Deleted in the workspace: d']);
  assert.match(dangers([held('a', { programs: many(200) })], asWritten)[0]!, /p9 and many more$/, 'the server names no more of them');
  assert.equal(markText('protected', asWritten), 'obeyed by programs, secret, or leads out');
});

test('names of output are one line with every character in sight', () => {
  assert.equal(shownName('a\nb\t\r\u202ec'), 'a‹U+000A›b‹U+0009›‹U+000D›‹U+202E›c');
  assert.deepEqual(dangers([held('a', { programs: ['x\nPrograms: none'] })], asWritten), ['Programs: x‹U+000A›Programs: none']);
  assert.equal(outputText(held('a', { names: ['\u202eb'] }), asWritten), '2 files, 2 KiB in ‹U+202E›b');
});

test('what is dangerous of output is agreed to before it is accepted, and again when there is more of it', async () => {
  const play = async (looks: HeldOutput[][], answers: boolean[]) => {
    const asked: string[] = [];
    const result = await agreed(() => Promise.resolve(looks.length > 1 ? looks.shift()! : looks[0]!), now => { asked.push(dangers(now, asWritten).join()); return Promise.resolve(answers.shift() ?? false); });
    return { asked, result: result?.map(e => e.session) };
  };
  assert.deepEqual(await play([[held('a')]], []), { asked: [], result: ['a'] }, 'nothing is asked where nothing is dangerous');
  assert.deepEqual(await play([[]], []), { asked: [], result: [] });
  const run = held('a', { programs: ['run'] }), more = held('a', { programs: ['run'], protected: ['.env'] });
  assert.deepEqual(await play([[run]], [true]), { asked: ['Programs: run'], result: ['a'] });
  assert.deepEqual(await play([[run]], [false]), { asked: ['Programs: run'], result: undefined });
  assert.deepEqual(await play([[run], [more]], [true, false]), { asked: ['Programs: run', 'Obeyed by programs, secret, or leading out: .env,Programs: run'], result: undefined });
  assert.deepEqual(await play([[run], [{ ...run, files: 9 }]], [true]), { asked: ['Programs: run'], result: ['a'] }, 'a watcher that writes on does not ask for ever');
});

test('no button for edits stands at output', () => {
  const menus: { command: string; when: string }[] = JSON.parse(fs.readFileSync('package.json', 'utf8')).contributes.menus['view/item/context'];
  const at = (item: string) => [...new Set(menus.filter(m => m.when.includes('view == sidecar.pending')).filter(m => {
    const [, pattern, exact] = /viewItem (?:=~ \/(.*)\/|== (\w+))$/.exec(m.when)!;
    return pattern ? new RegExp(pattern).test(item) : exact === item;
  }).map(m => m.command))];
  assert.deepEqual(at('output'), ['sidecar.acceptOutput', 'sidecar.buildOutput', 'sidecar.dropOutput']);
  assert.deepEqual(at('outputFile'), []);
  assert.ok(at('file').includes('sidecar.reject') && !at('file').includes('sidecar.acceptOutput'));
});

test('with many files there is a total, and no row for a folder with one file', () => {
  const many = Array.from({ length: 11 }, (_, i) => edit(`pkg${i}/sub/f.go`)), shown = tree(list([...many, edit('pkg0/other.go'), edit('top.go')]));
  assert.deepEqual(shown.map(n => n.kind).slice(0, 3), ['total', 'folder', 'file']);
  assert.equal(shown[0]?.kind === 'total' && shown[0].edits.length, 13);
  assert.deepEqual(shown.flatMap(n => n.kind === 'file' ? [n.where] : []), [...Array.from({ length: 10 }, (_, i) => `pkg${i + 1}/sub`), undefined]);
  assert.deepEqual(shown[1]?.children.map(n => n.kind === 'file' && n.where), ['sub', undefined]);
  assert.equal(stops(shown).length, 13, 'the total is no place');
  assert.deepEqual(selectionOf([shown[0]!], 7), { hunks: [] }, 'and chooses nothing by itself');
  assert.deepEqual(tree(list(many.slice(0, 10))).map(n => n.kind), Array(10).fill('folder'), 'few files are as they were');
});

test('behind a decided file comes the next that waits, then the first, then none', () => {
  const order = ['a', 'b', 'c', 'd'];
  assert.equal(after(order, 'b', new Set(['a', 'c', 'd'])), 'c');
  assert.equal(after(order, 'b', new Set(['a', 'd'])), 'd');
  assert.equal(after(order, 'd', new Set(['a', 'c'])), 'a');
  assert.equal(after(order, 'x', new Set(['c'])), 'c');
  assert.equal(after(order, 'a', new Set()), undefined);
});

test('in a file in conflict hunks stand where its text with the conflicts has them', () => {
  const conflict = { ...hunk('c', [3, 1], [3, 1], '', 'conflict'), takenStart: 3 }, behind = { ...hunk('h', [9, 1], [9, 1]), takenStart: 7 };
  const e = edit('x', { state: 'conflict', hunks: [conflict, behind] });
  assert.deepEqual(parted(e), { conflicts: ['c'], others: ['h'] });
  assert.equal(hunkAt([e], { uri: e.uri, side: 'proposed', line: 7 })?.hunk?.id, 'h');
  assert.equal(hunkAt([e], { uri: e.uri, side: 'proposed', line: 9 }), undefined);
  assert.equal(hunkAt([e], { uri: e.uri, side: 'base', line: 9 })?.hunk?.id, 'h');
});
