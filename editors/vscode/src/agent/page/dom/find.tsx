// Finds in the conversation, also what is folded or not drawn.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Row } from '../rows';
import type { Entry } from '../model';
import { t } from '../words';
import type { App } from './app';
import { Icon } from './icons';

/** What can be found of an entry. */
export function textOf(e: Entry): string {
  switch (e.kind) {
    case 'call': return [e.call.title, ...(e.call.locations ?? []).map(l => l.path), ...(e.call.diff ?? []).flatMap(d => [d.path, d.old ?? '', d.new]), e.output].join('\n');
    case 'plan': return e.plan.map(p => p.text).join('\n');
    case 'child': return e.title;
    default: return e.text;
  }
}

/** Marks what was looked for in a row that is drawn; without one nothing. */
export function highlight(row: HTMLElement | undefined, query: string): void {
  const ranges: Range[] = [];
  const walk = row && query ? document.createTreeWalker(row, NodeFilter.SHOW_TEXT) : undefined;
  while (walk?.nextNode() && ranges.length < 1000) {
    const node = walk.currentNode as Text, text = node.data.toLowerCase();
    for (let at = text.indexOf(query); at >= 0 && ranges.length < 1000; at = text.indexOf(query, at + query.length)) {
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, Math.min(node.length, at + query.length));
      ranges.push(range);
    }
  }
  CSS.highlights.set('find', new Highlight(...ranges));
}

export function Find({ app, to, close }: { app: App; to(row: Row, query: string): void; close(): void }) {
  const [query, setQuery] = useState(''), [at, setAt] = useState(0), field = useRef<HTMLInputElement>(null);
  const q = query.toLowerCase();
  const hits = q ? app.rows.filter(r => [...r.group ?? [r.entry], ...r.inside?.hidden ?? []].some(e => textOf(e).toLowerCase().includes(q))) : [];
  useEffect(() => field.current?.focus(), []);
  const go = (n: number) => {
    const i = hits.length ? (n + hits.length) % hits.length : 0;
    setAt(i);
    if (hits[i]) { to(hits[i]!, q); }
  };
  return (
    <div class="find" role="search">
      <input ref={field} type="text" value={query} aria-label={t('Find in the conversation')} placeholder={t('Find')} spellcheck={false}
        onInput={e => { setQuery(e.currentTarget.value); setAt(-1); }}
        onKeyDown={e => {
          if (e.isComposing || e.keyCode === 229) { return; }
          if (e.key === 'Enter') { e.preventDefault(); go(e.shiftKey ? at - 1 : at + 1); }
          if (e.key === 'Escape') { e.stopPropagation(); close(); }
        }} />
      <span class="dim" role="status">{q ? (hits.length ? `${Math.max(0, at) + 1}/${hits.length}${app.more ? '+' : ''}` : t('No results')) : ''}</span>
      <button type="button" class="icon-only" aria-label={t('Previous')} title={t('Previous')} onClick={() => go(at - 1)}><Icon name="chevron" look="turned" /></button>
      <button type="button" class="icon-only" aria-label={t('Next')} title={t('Next')} onClick={() => go(at + 1)}><Icon name="down" /></button>
      {app.more && <button type="button" class="quiet" onClick={() => app.older()}>{t('Load older')}</button>}
      <button type="button" class="icon-only" aria-label={t('Close')} title={t('Close')} onClick={close}><Icon name="cross" /></button>
    </div>
  );
}
