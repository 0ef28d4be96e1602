// What stands before the cursor: a mention or a command that is being written. Pure.

export interface Writing { kind: '@' | '/'; query: string; from: number }

export function writing(text: string, cursor: number): Writing | undefined {
  const before = text.slice(0, cursor);
  const command = /^\/([\w:.-]*)$/.exec(before);
  if (command) { return { kind: '/', query: command[1]!, from: 0 }; }
  const mention = /(?:^|[\s(])@([^\s@]{0,200})$/.exec(before);
  return mention ? { kind: '@', query: mention[1]!, from: cursor - mention[1]!.length - 1 } : undefined;
}

/** What takes the place of the writing. */
export function taken(text: string, cursor: number, w: Writing, name: string): string {
  return `${w.kind}${name}${/^\s/.test(text.slice(cursor)) ? '' : ' '}`;
}

/** The commands that fit, those that begin so before those that have it somewhere. */
export function fitting<T extends { name: string }>(commands: readonly T[], query: string): T[] {
  const q = query.toLowerCase();
  return [...commands.filter(c => c.name.toLowerCase().startsWith(q)), ...commands.filter(c => c.name.toLowerCase().indexOf(q) > 0)].slice(0, 50);
}
