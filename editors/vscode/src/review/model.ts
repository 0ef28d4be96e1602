// The tree of pending changes, and where one is in it. No VS Code in here.
import type { HeldOutput, Hunk, PendingEdit, QueuedCommit, ReviewList } from '../protocol';
import type { Translate } from '../words';
import { outputNodes } from './held';

export type Node = FilterNode | TotalNode | BatchNode | CommitNode | MessageNode | FolderNode | FileNode | HunkNode | OutputNode | OutputFileNode;
interface Common { id: string; parent?: Node }
/** Says that the tree has only what a session has a part in. */
export interface FilterNode extends Common { kind: 'filter'; title: string; children: [] }
/** Says how much waits, where that is more than a screen shows, and decides on all of it. */
export interface TotalNode extends Common { kind: 'total'; edits: PendingEdit[]; children: [] }
export interface BatchNode extends Common { kind: 'batch'; session: string; children: Node[]; edits: PendingEdit[]; commits: QueuedCommit[] }
export interface CommitNode extends Common { kind: 'commit'; commit: QueuedCommit; children: [] }
/** What came of one message; of the last node, which has none, whatever else is pending. */
export interface MessageNode extends Common { kind: 'message'; message?: Message; children: Node[] }
export interface FolderNode extends Common { kind: 'folder'; label: string; path: string; children: Node[] }
/** Where is the folder of a file that stands without a row of its folder. */
export interface FileNode extends Common { kind: 'file'; edit: PendingEdit; where?: string; children: HunkNode[] }
export interface HunkNode extends Common { kind: 'hunk'; edit: PendingEdit; hunk: Hunk; children: [] }
/** Output of a session's commands that is held. It is decided on as a whole, apart from edits. */
export interface OutputNode extends Common { kind: 'output'; held: HeldOutput; children: OutputFileNode[] }
export interface OutputFileNode extends Common { kind: 'outputFile'; name: string; marks: ('program' | 'protected' | 'deleted')[]; children: [] }

export type Message = NonNullable<Hunk['message']>;

/** What of a list the tree shows, and how. */
export interface Shown {
  /** Only what this session has a part in; its title is what people read. */
  only?: { session: string; title: string };
  /** By the message that it came from, and by folder below that. */
  byMessage: boolean;
}

/** With more files than this there is a total, and a folder with one file has no row of its own. */
const many = 10;

export const nothing: ReviewList = { revision: 0, batch: false, edits: [], commits: [] };

/** The hunks of an edit that a session has a part in. */
export const hunksOf = (edit: PendingEdit, session: string): Hunk[] => edit.hunks.filter(h => (h.sessions ?? [edit.session]).includes(session));

/** Some hunks of an edit, as an edit: it adds and removes what they do. */
function part(edit: PendingEdit, hunks: Hunk[]): PendingEdit {
  const count = (sign: string) => hunks.reduce((n, h) => n + h.text.split('\n').filter(l => l.startsWith(sign)).length, 0);
  return hunks.length === edit.hunks.length ? edit : { ...edit, hunks, added: count('+'), removed: count('-') };
}

/** The list with nothing in it but what a session has a part in. A batch stays whole, as it is decided on as a whole. */
export function only(list: ReviewList, session: string): ReviewList {
  const edits = list.edits.flatMap((edit): PendingEdit[] => {
    const hunks = hunksOf(edit, session);
    return edit.batch || edit.hunks.length === 0 ? (edit.session === session ? [edit] : []) : hunks.length > 0 ? [part(edit, hunks)] : [];
  });
  return { ...list, edits, commits: list.commits.filter(c => c.session === session) };
}

/** The held output that the tree shows. */
export const heldBy = (held: HeldOutput[], { only }: Shown): HeldOutput[] => (only ? held.filter(h => h.session === only.session) : held);

/**
 * The tree of what is shown of a list: one item for each batch, then, if it is wanted, the messages, then the folders, then
 * the files, then the output that is held; before all of them what says that it is not everything. Ids stay what they are for as long as what they stand
 * for is pending.
 */
export function tree(all: ReviewList, shown: Shown = { byMessage: false }, held: HeldOutput[] = []): Node[] {
  const list = shown.only ? only(all, shown.only.session) : all;
  const roots: Node[] = shown.only ? [{ kind: 'filter', id: 'filter', title: shown.only.title, children: [] }] : [];
  if (list.edits.length > many) {
    roots.push({ kind: 'total', id: 'total', edits: list.edits, children: [] });
  }
  const batches = new Set([...list.edits.filter(e => e.batch).map(e => e.session), ...list.commits.filter(c => !c.byFile).map(c => c.session)]);
  for (const session of [...batches].sort()) {
    const edits = list.edits.filter(e => e.batch && e.session === session);
    const commits = list.commits.filter(c => !c.byFile && c.session === session);
    const id = `batch:${session}`;
    const node: BatchNode = { kind: 'batch', id, session, edits, commits, children: folders(edits, id) };
    node.children.push(...commits.map((commit, i): CommitNode => ({ kind: 'commit', id: `${id}/commit:${i}`, commit, children: [] })));
    roots.push(node);
  }
  const others = list.edits.filter(e => !e.batch);
  roots.push(...shown.byMessage ? messages(others) : folders(others, ''));
  roots.push(...list.commits.filter(c => c.byFile).map((commit, i): CommitNode => ({ kind: 'commit', id: `commit:${i}`, commit, children: [] })));
  roots.push(...outputNodes(heldBy(held, shown)));
  link(roots);
  return roots;
}

// One item for each message, those of a run in their order, and one for what came from none. Without a message there are folders alone.
function messages(edits: PendingEdit[]): Node[] {
  const key = (m: Message) => `message:${m.run}:${m.seq}`;
  const messages = new Map(edits.flatMap(e => e.hunks).flatMap(({ message }) => (message ? [[key(message), message] as const] : [])));
  const of = (fits: (h: Hunk) => boolean, bare: boolean) => edits.flatMap(e => {
    const hunks = e.hunks.filter(fits);
    return hunks.length > 0 || bare && e.hunks.length === 0 ? [part(e, hunks)] : [];
  });
  if (messages.size === 0) {
    return folders(edits, '');
  }
  const ordered = [...messages].sort(([, a], [, b]) => compare(a.run, b.run) || a.seq - b.seq);
  const nodes = ordered.map(([id, message]): MessageNode => ({ kind: 'message', id, message, children: folders(of(h => h.message !== undefined && key(h.message) === id, false), `${id}/`) }));
  const rest = folders(of(h => h.message === undefined, true), 'message/');
  return rest.length > 0 ? [...nodes, { kind: 'message', id: 'message', children: rest }] : nodes;
}

interface Dir { dirs: Map<string, Dir>; files: PendingEdit[] }

function folders(edits: PendingEdit[], prefix: string): Node[] {
  const top: Dir = { dirs: new Map(), files: [] };
  for (const edit of edits) {
    let at = top;
    for (const part of edit.path.split('/').slice(0, -1)) {
      let next = at.dirs.get(part);
      if (!next) {
        at.dirs.set(part, next = { dirs: new Map(), files: [] });
      }
      at = next;
    }
    at.files.push(edit);
  }
  return nodes(top, '', prefix, edits.length > many);
}

function nodes(dir: Dir, path: string, prefix: string, compact: boolean): Node[] {
  const out: Node[] = [];
  for (let [label, child] of sorted([...dir.dirs], d => d[0])) {
    // a folder that holds but one folder is shown together with it
    for (let only = [...child.dirs]; child.files.length === 0 && only.length === 1; only = [...child.dirs]) {
      label += '/' + only[0]![0];
      child = only[0]![1];
    }
    const full = path + label;
    const children = nodes(child, full + '/', prefix, compact), [one] = children;
    if (compact && children.length === 1 && one?.kind === 'file') {
      one.where = label;
      out.push(one);
    } else {
      out.push({ kind: 'folder', id: `${prefix}folder:${full}`, label, path: full, children });
    }
  }
  for (const edit of sorted(dir.files, e => e.path)) {
    const id = `${prefix}file:${edit.path}`;
    const children = edit.kind === 'modify' || edit.hunks.length > 1
      ? edit.hunks.map((hunk): HunkNode => ({ kind: 'hunk', id: `${id}#${hunk.id}`, edit, hunk, children: [] }))
      : [];
    out.push({ kind: 'file', id, edit, children });
  }
  return out;
}

// As people order names: f2 before f10.
const { compare } = new Intl.Collator('en', { numeric: true });
function sorted<T>(list: T[], key: (t: T) => string): T[] {
  return list.sort((a, b) => compare(key(a), key(b)));
}

function link(list: Node[], parent?: Node): void {
  for (const node of list) {
    node.parent = parent;
    link(node.children, node);
  }
}

/** Every edit below a node. */
export function editsOf(node: Node): PendingEdit[] {
  switch (node.kind) {
    case 'batch': return node.edits;
    case 'total': return node.edits;
    case 'filter': case 'commit': case 'output': case 'outputFile': return [];
    case 'message': case 'folder': return node.children.flatMap(editsOf);
    case 'file': case 'hunk': return [node.edit];
  }
}

/** The sessions that have a part in an edit, apart from the editor's own. */
export function owners(edit: PendingEdit): string[] {
  return [...new Set(edit.hunks.flatMap(h => h.sessions ?? [edit.session]))].filter(s => s !== 'default').sort();
}

/**
 * What accepting or rejecting these nodes means to the server. Hunks are named, never only their files: a hunk's id
 * stands for its content, so what is decided is what was shown. A batch is named by its session.
 */
export function selectionOf(chosen: Node[], revision: number): { session?: string; hunks?: string[]; uris?: string[]; revision?: number } {
  const batch = chosen.find(n => n.kind === 'batch');
  if (batch?.kind === 'batch') {
    return { session: batch.session, revision };
  }
  const hunks = new Set<string>();
  const uris = new Set<string>();
  const take = (node: Node): void => {
    if (node.kind === 'hunk') {
      hunks.add(node.hunk.id);
    } else if (node.kind === 'file') {
      node.edit.hunks.forEach(h => hunks.add(h.id));
      if (node.edit.hunks.length === 0) {
        uris.add(node.edit.uri);
      }
    } else {
      node.children.forEach(take);
    }
  };
  chosen.forEach(take);
  return { hunks: [...hunks], ...(uris.size > 0 ? { uris: [...uris], revision } : {}) };
}

/** A place in the review: a hunk, or a file that has none to point at. */
export interface Stop { edit: PendingEdit; hunk?: Hunk }

/** Every place, in the order of the tree. */
export function stops(roots: Node[]): Stop[] {
  return roots.flatMap((node): Stop[] => {
    switch (node.kind) {
      case 'file': return node.edit.hunks.length > 0 ? node.edit.hunks.map(hunk => ({ edit: node.edit, hunk })) : [{ edit: node.edit }];
      case 'batch': case 'message': case 'folder': return stops(node.children);
      default: return [];
    }
  });
}

/** Where a person is: in a file's proposal or in the file itself, on a line counted from one. */
export interface Here { uri: string; side: 'proposed' | 'base'; line: number }

/** The lines of a hunk on a side, first to last, counted from one. What has no lines there stands at the line behind it. */
export function lines(hunk: Hunk, side: Here['side']): [number, number] {
  const [start, count] = side === 'proposed' ? [hunk.takenStart ?? hunk.newStart, hunk.newLines] : [hunk.oldStart, hunk.oldLines];
  return count > 0 ? [start, start + count - 1] : [start + 1, start + 1];
}

/** The hunk at a place, if there is one. */
export function hunkAt(edits: PendingEdit[], here: Here): Stop | undefined {
  const edit = edits.find(e => e.uri === here.uri);
  const hunk = edit?.hunks.find(h => {
    const [first, last] = lines(h, here.side);
    return first <= here.line && here.line <= last || here.line === first - 1 && first === last && (here.side === 'proposed' ? h.newLines : h.oldLines) === 0;
  });
  return edit && hunk ? { edit, hunk } : undefined;
}

/** The next place from here, or the previous one; around the ends. */
export function step(all: Stop[], here: Here | undefined, forward: boolean): Stop | undefined {
  const ordered = forward ? all : [...all].reverse();
  const mine = here ? ordered.filter(s => s.edit.uri === here.uri) : [];
  if (!here || mine.length === 0) {
    return ordered[0];
  }
  const beyond = mine.find(s => s.hunk && (forward ? lines(s.hunk, here.side)[0] > here.line : lines(s.hunk, here.side)[1] < here.line));
  if (beyond) {
    return beyond;
  }
  return ordered[(ordered.indexOf(mine[mine.length - 1]!) + 1) % ordered.length];
}

/** Where a person goes when files are decided: the next of those that were there before and wait still, else the first that waits. */
export function after(order: string[], decided: string, waiting: ReadonlySet<string>): string | undefined {
  const at = order.indexOf(decided);
  return [...order.slice(at + 1), ...order.slice(0, Math.max(at, 0))].find(uri => waiting.has(uri)) ?? [...waiting][0];
}

/** The hunks of an edit that are in conflict, and those that are not. */
export function parted(edit: PendingEdit): { conflicts: string[]; others: string[] } {
  const ids = (conflict: boolean) => edit.hunks.filter(h => (h.state === 'conflict') === conflict).map(h => h.id);
  return { conflicts: ids(true), others: ids(false) };
}

/** What a hunk does, in one line: the first line that it brings, or else the first that it takes. */
export function hunkLabel(hunk: Hunk): string {
  const all = hunk.text.split('\n').filter(l => !l.startsWith('@@'));
  const line = all.find(l => l.startsWith('+') && l.length > 1 && l.slice(1).trim()) ?? all.find(l => l.startsWith('-') && l.slice(1).trim());
  const text = line ? (line.startsWith('-') ? '− ' : '') + line.slice(1).trim() : '';
  return text.length > 80 ? text.slice(0, 79) + '…' : text || `@@ ${hunk.newStart}`;
}

/** Counts as people write them. */
export const counts = (added: number, removed: number) => [added > 0 ? `+${added}` : '', removed > 0 ? `−${removed}` : ''].filter(Boolean).join(' ');

export function hunkCounts(hunk: Hunk): string {
  const of = (sign: string) => hunk.text.split('\n').filter(l => l.startsWith(sign)).length;
  return counts(of('+'), of('-'));
}

/** The problems of a list by file, each in a line. */
export function problemLines(list: ReviewList, path: string, t: Translate): string[] {
  return (list.problems ?? []).filter(p => p.path === path).map(p => `${p.line}: ${severity(p.severity, t)}: ${p.message}${p.source ? ` (${p.source})` : ''}`);
}

const severity = (word: string, t: Translate) => ({ error: t('error'), warning: t('warning') }[word] ?? word);

/** The files that pending edits would break although none is pending for them. */
export function brokenElsewhere(list: ReviewList): string[] {
  const pending = new Set(list.edits.map(e => e.path));
  return [...new Set((list.problems ?? []).map(p => p.path).filter(p => !pending.has(p)))];
}

/** A text that changes when what an editor shows of the edit may have changed. */
export const stamp = (e: PendingEdit) => [e.revision, e.updatedAt, e.state, ...e.hunks.map(h => `${h.id}@${h.oldStart},${h.newStart}`)].join(' ');
