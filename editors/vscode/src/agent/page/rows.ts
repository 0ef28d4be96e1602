// The rows of the transcript: entries as the step of detail and the folds have them. Pure.
import type { Detail, Hunks } from '../messages';
import { looks, type CallEntry, type Entry, type Model, type Question } from './model';

export interface Row {
  key: string;
  entry: Entry;
  /** Several that are told in one line. */
  group?: Entry[];
  /** The open question that this call waits for. */
  question?: Question;
  hunks?: Hunks;
  /** How many sub-agents this is inside of. */
  depth: number;
  /** Of a sub-agent's call: what it has said and done. */
  inside?: Inside;
  open: boolean;
  /** Of the end of a step: nothing comes after it. */
  last?: boolean;
  /** Another value when it is to be drawn anew. */
  v: string;
}

export interface Inside {
  calls: number; running: number; failed: number;
  /** Something in it waits for an answer. */
  asks: boolean;
  /** What the fold hides. */
  hidden: Entry[];
}

export interface Look {
  detail: Detail;
  /** By key, what a person has opened or folded. */
  folds: Readonly<Record<string, boolean>>;
  hunks: Readonly<Record<string, Hunks>>;
  /** In milliseconds; a command is opened after a while. */
  now: number;
}

/** How long a command runs before its row opens. */
const opensAfter = 2000;

const over = (c: Entry): c is CallEntry => c.kind === 'call' && c.state === 'completed' && !c.images;
const step = (e: Entry): boolean => e.kind === 'thought' || e.kind === 'plan' || e.kind === 'note' || e.kind === 'compaction' || e.kind === 'call' && !e.asked && !e.images && e.state !== 'failed';

export function project(model: Model, look: Look): Row[] {
  const rows: Row[] = [];
  const { detail } = look;
  const asking = new Set<string>(); // questions that stand in the row of their call
  for (const e of model.entries) {
    if (e.kind === 'call' && e.asked && model.open.has(e.asked)) { asking.add(e.asked); }
  }
  const nested = families(model.entries);
  const repeats = detail === 'everything' ? new Set<Entry>() : repeated(model.entries);
  const put = (entry: Entry, depth: number): void => {
    if (repeats.has(entry)) { return; }
    if (entry.kind === 'other' && detail !== 'everything' || entry.kind === 'question' && (asking.has(entry.id) || entry.closed && entry.call && !entry.answer && detail !== 'everything')) {
      return;
    }
    if (entry.kind === 'question' && entry.closed && entry.call && model.entries.length > 0 && hasCall(model, entry.call.call)) {
      return; // its call says how it was decided
    }
    const last = rows.at(-1);
    const grouped = last && last.depth === depth && last.entry.parent === entry.parent && !last.inside && !nested?.has(entry) && (detail === 'replies'
      ? step(last.entry) && step(entry)
      : detail === 'steps' && over(last.entry) && over(entry) && looks(entry.call.kind) && last.entry.call.kind === entry.call.kind);
    if (grouped) {
      (last.group ??= [last.entry]).push(entry);
      return;
    }
    const row: Row = { key: entry.key, entry, depth, open: false, v: '' };
    rows.push(row);
    const within = nested?.get(entry);
    if (within) {
      row.inside = summary(within, nested!, asking);
      const open = look.folds[row.key] ?? opensItself(row, look);
      if (open) { row.inside.hidden = []; }
      for (const e of within) {
        if (open || waits(e, asking) || nested!.has(e) && summary(nested!.get(e)!, nested!, asking).asks) { put(e, depth + 1); }
      }
    }
  };
  for (const entry of model.entries) {
    if (!nested?.own.has(entry)) { put(entry, 0); }
  }
  for (const row of rows) {
    const { entry } = row;
    if (entry.kind === 'call') {
      row.question = entry.asked ? model.open.get(entry.asked) : undefined;
      row.hunks = look.hunks[entry.call.call];
    }
    row.open = look.folds[row.key] ?? opensItself(row, look);
    if (entry.kind === 'end') { row.last = entry === model.entries.at(-1); }
    const ticks = entry.kind === 'call' && entry.state === 'running' || (row.question ?? (entry.kind === 'question' && !entry.closed ? entry : undefined))?.expiresAt !== undefined;
    const h = row.hunks;
    const i = row.inside;
    row.v = `${row.depth}${i ? `${i.calls}/${i.running}/${i.failed}${i.asks ? '?' : ''}` : ''}${row.open ? 'o' : 'f'}${(row.group ?? [entry]).reduce((n, e) => n + e.v + 1, 0)}${row.question ? 'q' : ''}${row.last ? 'l' : ''}${ticks ? `@${Math.floor(look.now / 1000)}` : ''}${h ? `${h.pending},${h.accepted},${h.rejected}` : ''}`;
  }
  return rows;
}

/** The notes that say what the end of their step, which has failed, says again. */
function repeated(entries: readonly Entry[]): Set<Entry> {
  const again = new Set<Entry>();
  entries.forEach((end, at) => {
    for (let i = at - 1; end.kind === 'end' && end.reason === 'failed' && end.text && i >= 0 && entries[i]!.kind !== 'end'; i--) {
      const note = entries[i]!;
      if (note.kind === 'note' && note.text && (end.text.includes(note.text.trim()) || note.text.includes(end.text.split('\n')[0]!))) { again.add(note); }
    }
  });
  return again;
}

/** By the call of a sub-agent, what is inside of it; own are all of those. Undefined when there is none. */
class Families extends Map<Entry, Entry[]> { readonly own = new Set<Entry>(); }
function families(entries: readonly Entry[]): Families | undefined {
  if (!entries.some(e => e.parent)) { return undefined; }
  const all = new Families(), calls = new Map<string, Entry>();
  for (const e of entries) { // a call comes before what is inside of it, so that nothing is inside of itself
    const parent = e.parent === undefined ? undefined : calls.get(e.parent);
    if (parent) {
      all.own.add(e);
      const list = all.get(parent);
      if (list) { list.push(e); } else { all.set(parent, [e]); }
    }
    if (e.kind === 'call') { calls.set(e.call.call, e); }
  }
  return all;
}

const waits = (e: Entry, asking: ReadonlySet<string>): boolean => e.kind === 'call' && e.asked !== undefined && asking.has(e.asked) || e.kind === 'question' && !e.closed;

function summary(within: readonly Entry[], nested: Families, asking: ReadonlySet<string>): Inside {
  const sum: Inside = { calls: 0, running: 0, failed: 0, asks: false, hidden: [] };
  for (const e of within) {
    sum.hidden.push(e);
    if (e.kind === 'call') {
      sum.calls++;
      if (e.state === 'running') { sum.running++; }
      if (e.state === 'failed') { sum.failed++; }
    }
    sum.asks ||= waits(e, asking);
    const more = nested.get(e);
    if (more) {
      const s = summary(more, nested, asking);
      sum.hidden.push(...s.hidden);
      sum.calls += s.calls; sum.running += s.running; sum.failed += s.failed;
      sum.asks ||= s.asks;
    }
  }
  return sum;
}

const known = new WeakMap<Model, { n: number; ids: Set<string> }>();
function hasCall(model: Model, id: string): boolean {
  let k = known.get(model);
  if (!k || k.n !== model.entries.length) {
    k = { n: model.entries.length, ids: new Set(model.entries.flatMap(e => e.kind === 'call' ? [e.call.call] : [])) };
    known.set(model, k);
  }
  return k.ids.has(id);
}

function opensItself(row: Row, { detail, now }: Look): boolean {
  const e = row.entry;
  if (row.question || e.kind === 'question') { return true; }
  if (row.group) { return false; }
  if (detail === 'replies') { return e.kind === 'call' && e.state === 'failed'; }
  switch (e.kind) {
    case 'call':
      return e.state === 'failed' || e.images !== undefined || detail === 'everything' && (e.output !== '' || (e.call.diff?.length ?? 0) > 0)
        || e.state === 'running' && e.call.kind === 'execute' && e.started !== undefined && now - e.started >= opensAfter;
    case 'thought': return detail === 'everything';
    case 'plan': return true;
    default: return false;
  }
}

/** The row in which something of this seq is told; -1 without one. */
export function rowOf(rows: readonly Row[], seq: number): number {
  let at = -1;
  rows.forEach((r, i) => { if (r.entry.seq <= seq && (at < 0 || r.entry.seq >= rows[at]!.entry.seq)) { at = i; } });
  return at;
}
