// Output of commands that is held: its part of the tree, and what people read of it. No VS Code in here.
import { visible } from '../agent/page/safe';
import type { HeldOutput } from '../protocol';
import type { Translate } from '../words';
import type { OutputFileNode, OutputNode } from './model';

/** The server names so many of each kind, and then no more. */
const named = 200;

/** A name in one line, with every character in sight: what commands made can have any. */
export const shownName = (name: string) => visible(name).replace(/[\t\n\r]/g, c => `‹U+000${c.charCodeAt(0).toString(16).toUpperCase()}›`);

/** One entry for each session: several folders can hold output of the same one, and a decision is about all of it. */
export function bySession(entries: HeldOutput[]): HeldOutput[] {
  const found = new Map<string, HeldOutput>();
  for (const raw of entries) {
    const e = { ...raw, names: raw.names ?? [], programs: raw.programs ?? [], protected: raw.protected ?? [], deleted: raw.deleted ?? [] }; // an empty list may be null
    const other = found.get(e.session);
    found.set(e.session, other ? {
      session: e.session, at: other.at > e.at ? other.at : e.at, files: other.files + e.files, bytes: other.bytes + e.bytes,
      names: union(other.names, e.names), programs: union(other.programs, e.programs), protected: union(other.protected, e.protected), deleted: union(other.deleted, e.deleted),
    } : e);
  }
  return [...found.values()];
}

const union = (a: string[], b: string[]) => [...new Set([...a, ...b])];

/** The nodes of what is held: one for each session, with its names below, each once. */
export function outputNodes(entries: HeldOutput[]): OutputNode[] {
  return entries.map(held => {
    const id = `output:${held.session}`, files = new Map<string, OutputFileNode>();
    const add = (names: string[], mark?: OutputFileNode['marks'][number]) => {
      for (const name of names.slice(0, named)) {
        const node: OutputFileNode = files.get(name) ?? { kind: 'outputFile', id: `${id}/${name}`, name, marks: [], children: [] };
        files.set(name, node);
        if (mark && !node.marks.includes(mark)) {
          node.marks.push(mark);
        }
      }
    };
    add(held.names);
    add(held.programs, 'program');
    add(held.protected, 'protected');
    add(held.deleted, 'deleted');
    return { kind: 'output', id, held, children: [...files.values()] };
  });
}

/** How much is held, and where. */
export function outputText(held: HeldOutput, t: Translate): string {
  const much = `${fileCount(held.files, t)}, ${sizeText(held.bytes, t)}`;
  return held.names.length > 0 ? t('{0} in {1}', much, some(held.names, 3, t)) : much;
}

export const fileCount = (n: number, t: Translate) => (n === 1 ? t('1 file') : t('{0} files', n));

/** A number of bytes as people read it. */
export function sizeText(bytes: number, t: Translate): string {
  return bytes < 1 << 20 ? t('{0} KiB', Math.ceil(bytes / (1 << 10))) : t('{0} MiB', (bytes / (1 << 20)).toFixed(1));
}

/** What a person wants to know before it is in the workspace, a line for each kind; without any there is nothing to ask. */
export function dangers(entries: HeldOutput[], t: Translate): string[] {
  const line = (text: (names: string) => string, names: string[]) => (names.length > 0 ? [text(some(names, 10, t))] : []);
  return [
    ...line(names => t('Obeyed by programs, secret, or leading out: {0}', names), entries.flatMap(e => e.protected)),
    ...line(names => t('Programs: {0}', names), entries.flatMap(e => e.programs)),
    ...line(names => t('Deleted in the workspace: {0}', names), entries.flatMap(e => e.deleted)),
  ];
}

/**
 * What is held, once a person has agreed to what is dangerous of it; undefined is a no. A command can add to it while the
 * question stands: what the question did not name is asked about again.
 */
export async function agreed(look: () => Promise<HeldOutput[]>, sure: (held: HeldOutput[]) => Promise<boolean>): Promise<HeldOutput[] | undefined> {
  const grave = (held: HeldOutput[]) => held.flatMap(e => (['programs', 'protected', 'deleted'] as const).flatMap(kind => e[kind].map(name => [e.session, kind, name].join('\n'))));
  for (let held = await look(), seen: string[] = []; ; held = await look()) {
    const now = grave(held);
    if (now.every(name => seen.includes(name))) {
      return held;
    }
    if (!await sure(held)) {
      return undefined;
    }
    seen = now;
  }
}

/** Names, at most so many of them. */
function some(names: string[], most: number, t: Translate): string {
  const first = names.slice(0, most).map(shownName).join(', ');
  return names.length <= most ? first : names.length < named ? t('{0} and {1} more', first, names.length - most) : t('{0} and many more', first);
}

/** What each mark of a name says. */
export function markText(mark: OutputFileNode['marks'][number], t: Translate): string {
  return { program: t('program'), protected: t('obeyed by programs, secret, or leads out'), deleted: t('is deleted') }[mark];
}
