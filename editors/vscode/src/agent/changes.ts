// What a run has changed: files, and what became of the hunks of each of its calls. No VS Code in here.
import * as path from 'node:path';
import type { Hunk, PendingEdit, ReviewList, Selection } from '../protocol';
import { hunksOf } from '../review/model';
import type { AgentEvent, Call } from './event';
import type { ChangedFile, Changes, Hunks } from './messages';

type Edited = Pick<PendingEdit, 'path' | 'from' | 'session'>;
type Lines = Pick<Hunk, 'text' | 'sessions'>;

/** A hunk that somebody has decided about: what is kept of it. */
export interface Decision { outcome: 'accepted' | 'rejected'; edit: Edited; hunk: Lines; reason?: string }

/** How many decisions are kept, and of how many characters at most. */
const mostDecisions = 500, mostText = 10_000;

/** The decisions with those about a selection behind them, the oldest left out. */
export function decide(before: Decision[], outcome: Decision['outcome'], about: { edit: PendingEdit; hunk: Hunk }[], reason: string | undefined): Decision[] {
  return [...before, ...about.filter(({ hunk }) => hunk.text.length <= mostText).map(({ edit: { path, from, session }, hunk: { text, sessions } }): Decision =>
    ({ outcome, edit: { path, from, session }, hunk: { text, sessions }, ...(reason ? { reason } : {}) }))].slice(-mostDecisions);
}

/** The edits that a session has a part in. */
export const editsOf = (list: ReviewList, session: string): PendingEdit[] =>
  list.edits.filter(e => e.hunks.length > 0 ? hunksOf(e, session).length > 0 : e.session === session);

const count = (hunk: Hunk, sign: string) => hunk.text.split('\n').filter(l => l.startsWith(sign)).length;

/** The files that wait for a review. */
export function pendingFiles(list: ReviewList, session: string): Changes {
  return {
    written: false,
    files: editsOf(list, session).map((edit): ChangedFile => {
      const hunks = hunksOf(edit, session), all = hunks.length === edit.hunks.length;
      const problems = (edit.problems?.errors ?? 0) + (edit.problems?.warnings ?? 0);
      return {
        path: edit.path, kind: edit.kind,
        added: all ? edit.added : hunks.reduce((n, h) => n + count(h, '+'), 0), removed: all ? edit.removed : hunks.reduce((n, h) => n + count(h, '-'), 0),
        ...(edit.state === 'conflict' ? { conflict: true } : {}), ...(problems > 0 ? { problems } : {}),
      };
    }),
  };
}

/** What accepting or rejecting all of a session, or what it has in a file, means to the server. */
export function selectionOf(list: ReviewList, session: string, file?: string): { edits: PendingEdit[]; selection: Selection } {
  const edits = editsOf(list, session).filter(e => file === undefined || e.path === file);
  if (edits.some(e => e.batch)) {
    return { edits, selection: { session, revision: list.revision } };
  }
  const uris = edits.filter(e => e.hunks.length === 0).map(e => e.uri);
  return { edits, selection: { hunks: edits.flatMap(e => hunksOf(e, session).map(h => h.id)), ...(uris.length > 0 ? { uris, revision: list.revision } : {}) } };
}

/** The hunks that a selection is about. */
export function selected(list: ReviewList, s: Selection): { edit: PendingEdit; hunk: Hunk }[] {
  const all = list.edits.flatMap(edit => edit.hunks.map(hunk => ({ edit, hunk })));
  const named = s.hunks !== undefined || s.uris !== undefined;
  return all.filter(({ edit, hunk }) => (named ? s.hunks?.includes(hunk.id) || s.uris?.includes(edit.uri) : s.session === undefined || edit.session === s.session));
}

/** By call, what became of its hunks. */
export function hunkStates(events: AgentEvent[], root: string, list: ReviewList, session: string, decided: Decision[]): Record<string, Hunks> {
  const calls = new Map<string, Call>();
  for (const e of events) {
    if (e.call && (e.call.diff?.length || ['edit', 'delete', 'move'].includes(e.call.kind ?? ''))) {
      const before = calls.get(e.call.call);
      calls.set(e.call.call, { ...before, ...e.call, diff: e.call.diff ?? before?.diff, locations: e.call.locations ?? before?.locations });
    }
  }
  const newest = [...calls.values()].reverse();
  const out: Record<string, Hunks> = {};
  const add = (edit: Edited, hunk: Lines, what: 'pending' | 'accepted' | 'rejected', reason?: string) => {
    const call = callOf(newest, root, edit, hunk);
    if (call) {
      const h = out[call.call] ??= { pending: 0, accepted: 0, rejected: 0 };
      h[what]++;
      if (reason) {
        h.reason = reason;
      }
    }
  };
  for (const edit of list.edits) {
    hunksOf(edit, session).forEach(h => add(edit, h, 'pending'));
  }
  for (const d of decided.filter(d => (d.hunk.sessions ?? [d.edit.session]).includes(session))) {
    add(d.edit, d.hunk, d.outcome, d.reason);
  }
  return out;
}

// The newest call whose diff has the hunk in it, or else the newest one of the file.
function callOf(newest: Call[], root: string, edit: Edited, hunk: Lines): Call | undefined {
  const same = (p: string) => path.resolve(root, p) === path.resolve(root, edit.path) || edit.from !== undefined && path.resolve(root, p) === path.resolve(root, edit.from);
  const ofFile = newest.filter(c => c.diff?.some(d => same(d.path)) || c.locations?.some(l => same(l.path)));
  const lines = (sign: string) => hunk.text.split('\n').filter(l => l.startsWith(sign)).map(l => l.slice(1));
  const added = lines('+'), removed = lines('-');
  const holds = (text: string | undefined, wanted: string[]) => {
    const there = new Set((text ?? '').split(/\r?\n/));
    return wanted.every(l => there.has(l));
  };
  return ofFile.find(c => c.diff?.some(d => same(d.path) && holds(d.new, added) && holds(d.old, removed))) ?? ofFile[0];
}
