// The lines that differ between two texts. Pure.
import type { FileDiff } from '../event';

export interface Line { kind: ' ' | '+' | '-'; text: string; old?: number; new?: number }
export interface Part { lines: Line[] }
export interface Diff { parts: Part[]; added: number; removed: number }

/** So many changes are looked for; beyond them all of what differs is one change. */
const most = 1000;

const split = (text: string): string[] => {
  const all = text.split('\n');
  if (all.at(-1) === '') { all.pop(); }
  return all;
};

/** The shortest list of lines to take and to keep, by Myers' greedy way, over what is between the equal ends. */
function script(a: string[], b: string[]): Line['kind'][] | undefined {
  const n = a.length, m = b.length, limit = Math.min(n + m, most);
  const trace: Int32Array[] = [];
  let v = new Int32Array(2 * limit + 3);
  const mid = limit + 1;
  for (let d = 0; d <= limit; d++) {
    trace.push(v.slice());
    for (let k = -d; k <= d; k += 2) {
      let x = k === -d || k !== d && v[mid + k - 1]! < v[mid + k + 1]! ? v[mid + k + 1]! : v[mid + k - 1]! + 1;
      while (x < n && x - k < m && a[x] === b[x - k]) { x++; }
      v[mid + k] = x;
      if (x >= n && x - k >= m) { return walk(trace, n, m, d, mid); }
    }
  }
  return undefined;
}

function walk(trace: Int32Array[], n: number, m: number, d: number, mid: number): Line['kind'][] {
  const out: Line['kind'][] = [];
  let x = n, y = m;
  for (; d > 0; d--) {
    const v = trace[d]!, k = x - y;
    const down = k === -d || k !== d && v[mid + k - 1]! < v[mid + k + 1]!;
    const before = down ? v[mid + k + 1]! : v[mid + k - 1]! + 1; // where the equal lines after the step begin
    while (x > before) { out.push(' '); x--; y--; }
    out.push(down ? '+' : '-');
    if (down) { y--; } else { x--; }
  }
  while (x > 0) { out.push(' '); x--; }
  return out.reverse();
}

/** Parts with this many equal lines around each change. */
export function diff(file: FileDiff, around = 3): Diff {
  const a = split(file.old ?? ''), b = split(file.new);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) { start++; }
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) { end++; }
  const midA = a.slice(start, a.length - end), midB = b.slice(start, b.length - end);
  const kinds = script(midA, midB) ?? [...midA.map(() => '-' as const), ...midB.map(() => '+' as const)];
  const all: Line[] = [];
  let i = 0, j = 0;
  const put = (kind: Line['kind']) => {
    if (kind === '-') { all.push({ kind, text: a[i]!, old: ++i }); }
    else if (kind === '+') { all.push({ kind, text: b[j]!, new: ++j }); }
    else { all.push({ kind, text: a[i]!, old: ++i, new: ++j }); }
  };
  for (let n = 0; n < start; n++) { put(' '); }
  kinds.forEach(put);
  for (let n = 0; n < end; n++) { put(' '); }
  return { parts: parts(all, around), added: all.filter(l => l.kind === '+').length, removed: all.filter(l => l.kind === '-').length };
}

function parts(all: Line[], around: number): Part[] {
  const out: Part[] = [];
  let upTo = -1; // lines before this are in a part
  all.forEach((l, i) => {
    if (l.kind === ' ') { return; }
    const from = Math.max(0, i - around), to = Math.min(all.length, i + around + 1);
    if (out.length > 0 && from <= upTo) {
      out.at(-1)!.lines.push(...all.slice(upTo, Math.max(upTo, to)));
    } else {
      out.push({ lines: all.slice(from, to) });
    }
    upTo = Math.max(upTo, to);
  });
  return out;
}

/** The lines of a part as two columns: what was taken beside what came in its place. */
export function sideBySide(part: Part): { old?: Line; new?: Line }[] {
  const out: { old?: Line; new?: Line }[] = [];
  for (let i = 0; i < part.lines.length;) {
    if (part.lines[i]!.kind === ' ') {
      out.push({ old: part.lines[i], new: part.lines[i] });
      i++;
      continue;
    }
    const removed: Line[] = [], added: Line[] = [];
    for (; i < part.lines.length && part.lines[i]!.kind !== ' '; i++) {
      (part.lines[i]!.kind === '-' ? removed : added).push(part.lines[i]!);
    }
    for (let n = 0; n < Math.max(removed.length, added.length); n++) { out.push({ old: removed[n], new: added[n] }); }
  }
  return out;
}
