// The diff of a question taken apart, so that an editor for diffs can show it. No VS Code in here.

/** What a diff does in one file; without hunks it is one that says no more, as of a binary file. */
export interface FilePatch { path: string; kind: 'create' | 'modify' | 'delete'; hunks: PatchHunk[] }

/** Lines with their line ends, as they are and as they would be; start counts the lines of the file before them. */
export interface PatchHunk { start: number; before: string[]; after: string[] }

/** Both texts of a file. */
export interface Sides { before: string; after: string }

/** The files of a unified diff. */
export function parsePatch(diff: string): FilePatch[] {
  const lines = diff.split('\n');
  const files: FilePatch[] = [];
  for (let at = 0; at < lines.length;) {
    const line = lines[at]!;
    if (line.startsWith('--- ') && lines[at + 1]?.startsWith('+++ ')) {
      const [from, to] = [nameOf(line), nameOf(lines[at + 1]!)];
      files.push({ path: to ?? from ?? '', kind: from === undefined ? 'create' : to === undefined ? 'delete' : 'modify', hunks: [] });
      at += 2;
      continue;
    }
    const range = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line);
    const file = files.at(-1);
    at++;
    if (range && file) {
      const [hunk, end] = parseHunk(lines, at, Number(range[2] ?? 1), Number(range[3] ?? 1));
      hunk.start = Number(range[1]) - (hunk.before.length > 0 ? 1 : 0);
      file.hunks.push(hunk);
      at = end;
    }
  }
  return files;
}

// The counts say where a hunk ends: its lines may look like anything.
function parseHunk(lines: string[], at: number, old: number, fresh: number): [PatchHunk, number] {
  const hunk: PatchHunk = { start: 0, before: [], after: [] };
  for (; at < lines.length && (hunk.before.length < old || hunk.after.length < fresh); at++) {
    const line = lines[at]!, end = lines[at + 1]?.startsWith('\\') ? '' : '\n';
    if (line.startsWith('\\')) {
      continue;
    }
    if (!line.startsWith('+')) { hunk.before.push(line.slice(1) + end); }
    if (!line.startsWith('-')) { hunk.after.push(line.slice(1) + end); }
  }
  return [hunk, at];
}

function nameOf(line: string): string | undefined {
  const name = line.slice(4).replace(/\t.*$/, '');
  return name === '/dev/null' ? undefined : name.replace(/^[ab]\//, '');
}

/** The sides of a patch of this text; nothing when the text is not the one that the patch was made from. */
export function patched(text: string, patch: FilePatch): Sides | undefined {
  const lines = text.split(/(?<=\n)/), after: string[] = [];
  let at = 0;
  for (const { start, before, after: fresh } of patch.hunks) {
    if (start < at || before.some((line, i) => lines[start + i] !== line)) {
      return undefined;
    }
    after.push(...lines.slice(at, start), ...fresh);
    at = start + before.length;
  }
  return { before: text, after: [...after, ...lines.slice(at)].join('') };
}

/** The sides as far as the patch itself has them, with a mark where lines are left out. */
export function fragments(patch: FilePatch): Sides {
  const side = (which: 'before' | 'after') => patch.hunks.map(h => (h.start > 0 ? `⋯ ${h.start + 1}\n` : '') + h[which].join('')).join('');
  return { before: side('before'), after: side('after') };
}
