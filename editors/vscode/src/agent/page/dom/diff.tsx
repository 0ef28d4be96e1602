// The lines of an edit, in one column or, where there is room, in two.
import { useMemo, useState } from 'preact/hooks';
import type { FileDiff } from '../../event';
import { diff, sideBySide, type Diff, type Line } from '../diff';
import { visible } from '../safe';
import { t } from '../words';

const first = 20;
const known = new WeakMap<FileDiff, Diff>();

/** The difference, worked out once. */
export function differs(file: FileDiff): Diff {
  let d = known.get(file);
  if (!d) {
    d = diff(file);
    known.set(file, d);
  }
  return d;
}

/** The white space that all these lines begin with: it goes where there is little room. */
function indent(lines: readonly Line[]): number {
  const all = lines.filter(l => l.text.trim() !== '').map(l => /^[\t ]*/.exec(l.text)![0]);
  let common = all[0] ?? '';
  for (const i of all) { while (!i.startsWith(common)) { common = common.slice(0, -1); } }
  return common.length;
}

const cut = (text: string) => visible(text.length > 2000 ? `${text.slice(0, 2000)}…` : text) || ' ';
const word = { '+': 'added', '-': 'removed', ' ': '' } as const;

function Half({ line, side }: { line: Line | undefined; side: 'old' | 'new' }) {
  const kind = line ? line.kind : undefined;
  return (
    <>
      <span class={`n ${kind ? word[kind] : 'none'}`}>{line?.[side] ?? ''}</span>
      <span class={`c ${kind ? word[kind] : 'none'}`}>{line ? cut(line.text) : ''}</span>
    </>
  );
}

export function DiffView({ file, wide, name }: { file: FileDiff; wide: boolean; name: string }) {
  const [all, setAll] = useState(false);
  const d = useMemo(() => differs(file), [file]);
  const total = d.parts.reduce((n, p) => n + p.lines.length, 0);
  let left = all ? 2000 : total <= first + 4 ? total : first;
  const parts = d.parts.map(p => ({ lines: p.lines.slice(0, Math.max(0, (left -= p.lines.length) + p.lines.length)) })).filter(p => p.lines.length > 0);
  const two = wide && file.old !== undefined;
  const from = useMemo(() => d.parts.map(p => wide ? 0 : indent(p.lines)), [d, wide]);
  return (
    <>
      <div class={`diff ${two ? 'two' : ''}`} role="group" aria-label={t('{0}: lines added: {1}, removed: {2}', name, d.added, d.removed)}>
        {parts.map((p, i) => (
          <div key={i} class="part">
            {two
              ? sideBySide(p).map((r, n) => <div key={n} class="line2"><Half line={r.old} side="old" /><Half line={r.new} side="new" /></div>)
              : p.lines.map((l, n) => (
                <div key={n} class={`line1 ${word[l.kind]}`}>
                  <span class="sign">{l.kind === '-' ? '−' : l.kind}</span><span class="c">{cut(l.text.slice(from[i]))}</span>
                </div>
              ))}
          </div>
        ))}
        {total === 0 && <div class="part dim">{t('No lines differ.')}</div>}
      </div>
      {!all && total > first + 4 && <button class="quiet" type="button" onClick={() => setAll(true)}>{t('Show All ({0} lines)', total)}</button>}
    </>
  );
}
