// The page "Manage": tabs, and the rows of the one that is shown.
import { render } from 'preact';
import { Icon, Spinner } from '../../agent/page/dom/icons';
import { visible } from '../../agent/page/safe';
import { speak, t } from '../../agent/page/words';
import { tabs as ids, type Action, type FromPage, type MetricRow, type Row, type Tab, type TabId, type ToPage } from '../rows';
import './style.css';

declare function acquireVsCodeApi(): { postMessage(m: FromPage): void; getState(): unknown; setState(s: Saved): void };

/** State that survives while the page is hidden. */
interface Saved { tab: TabId; filter: string }

const host = acquireVsCodeApi(), root = document.getElementById('app')!;
const kept = (host.getState() ?? {}) as Partial<Saved>;
let tab: TabId = ids.find(id => id === kept.tab) ?? 'activity', filter = kept.filter ?? '';
let state: ToPage & { type: 'state' } | undefined;
const shown = new Map<TabId, ToPage & { type: 'rows' }>();

function turn(to: TabId): void {
  if (to !== tab) { filter = ''; }
  tab = to;
  host.setState({ tab, filter });
  draw();
}

function choose(to: TabId): void {
  turn(to);
  host.postMessage({ type: 'tab', tab: to });
}

const act = (command: string, row?: Row) => host.postMessage({ type: 'act', tab, command, ...(row ? { row: row.id } : {}) });

// As the pattern of tabs has it: the arrows, Home and End go to a tab and show it, and Tab goes into what it shows.
function keys(e: KeyboardEvent): void {
  const at = ids.indexOf(tab), to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: ids.length - 1 }[e.key];
  if (to !== undefined && !e.altKey && !e.ctrlKey && !e.metaKey) {
    e.preventDefault();
    const next = ids[(to + ids.length) % ids.length]!;
    choose(next);
    document.getElementById(`tab-${next}`)?.focus();
  }
}

function Tabs({ all }: { all: Tab[] }) {
  return (
    <div class="tabs" role="tablist" aria-label={t('Manage SideCar')} onKeyDown={keys}>
      {all.map(each => (
        <button key={each.id} type="button" role="tab" id={`tab-${each.id}`} aria-selected={each.id === tab} aria-controls="panel" tabIndex={each.id === tab ? 0 : -1} onClick={() => choose(each.id)}>{each.title}</button>
      ))}
    </div>
  );
}

function Panel({ of }: { of: Tab }) {
  const down = state!.health !== 'running', now = down && of.id !== 'activity' ? undefined : shown.get(of.id);
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = (now?.rows ?? []).filter(r => { const text = [r.label, r.detail, r.group ?? '', ...r.more ?? []].join('\n').toLowerCase(); return words.every(w => text.includes(w)); });
  return (
    <div id="panel" role="tabpanel" aria-labelledby={`tab-${of.id}`}>
      <p class="about dim">{of.about}</p>
      {down && <Down />}
      {!down && (of.actions.length > 0 || of.filter) && (
        <div class="bar">
          {of.filter && <input type="text" id="filter" value={filter} placeholder={t('Filter')} aria-label={t('Filter')} spellcheck={false} onInput={e => { filter = e.currentTarget.value; host.setState({ tab, filter }); draw(); }}
            onKeyDown={e => { if (e.key === 'Escape' && filter) { filter = ''; turn(tab); } }} />}
          {of.actions.map(a => <button key={a.command} type="button" class="second" onClick={() => act(a.command)}>{a.label}</button>)}
        </div>
      )}
      {now?.error && <p class="note bad" role="alert">{visible(now.error)}</p>}
      {now && !now.error && (of.id === 'metrics' ? now.metrics?.length ? <Metrics rows={now.metrics} /> : <p class="note dim">{of.none}</p> : rows.length > 0 ? <Rows rows={rows} /> : <p class="note dim">{words.length > 0 ? t('Nothing fits the filter.') : of.none}</p>)}
    </div>
  );
}

function Down() {
  return state!.health === 'starting' ? <p class="note"><Spinner /> {t('The server is starting.')}</p> : (
    <div class="note"><p>{t('The server is not running.')}</p>
      <div class="buttons"><button type="button" onClick={() => host.postMessage({ type: 'server', what: 'start' })}>{t('Start the Server')}</button>
        <button type="button" class="second" onClick={() => host.postMessage({ type: 'server', what: 'log' })}>{t('Show Log')}</button></div></div>
  );
}

function Rows({ rows }: { rows: Row[] }) {
  const groups = [...new Set(rows.map(r => r.group ?? ''))];
  return <>{groups.map(g => (
    <section key={g}>{g && <h2>{visible(g)}</h2>}
      <ul>{rows.filter(r => (r.group ?? '') === g).map(r => <OneRow key={r.id} row={r} />)}</ul></section>
  ))}</>;
}

function OneRow({ row }: { row: Row }) {
  const button = (a: Action) => <button key={a.command} type="button" class="second" aria-label={`${a.label} ${row.label}`} onClick={() => act(a.command, row)}>{a.label}</button>;
  return (
    <li class="item">
      {row.sign === 'spinner' ? <Spinner /> : <Icon name={row.sign} look={row.look ?? ''} />}
      <div class="text">
        <div class="first">{row.open ? <button type="button" class="name" onClick={() => act(row.open!, row)}>{visible(row.label)}</button> : <span class="name">{visible(row.label)}</span>}
          {row.detail && <span class="dim">{visible(row.detail)}</span>}</div>
        {row.more?.map((line, i) => <div key={i} class="more dim">{visible(line)}</div>)}
      </div>
      {row.actions.length > 0 && <div class="does">{row.actions.map(button)}</div>}
    </li>
  );
}

function Metrics({ rows }: { rows: MetricRow[] }) {
  const bar = (parts: { kind: string; share: number }[], name: string) => {
    let x = 0;
    return <svg class="bars" viewBox="0 0 100 12" preserveAspectRatio="none" role="img" aria-label={name}>{parts.map(({ kind, share }) => {
      const w = Math.max(1, share * 100), at = x;
      x += w;
      return <rect key={kind} class={kind} x={at} y="0" width={w} height="12" />;
    })}</svg>;
  };
  return (
    <>
      <p class="keys dim"><span><i class="key ok" />{t('ok')}</span><span><i class="key no" />{t('denied')}</span><span><i class="key bad" />{t('failed')}</span>
        <span><i class="key time" />{t('half of the calls took no longer')}</span><span><i class="key tail" />{t('95 of 100')}</span></p>
      <div class="wide" role="region" aria-label={t('Metrics')} tabIndex={0}>
        <table>
          <thead><tr><th scope="col">{t('Tool')}</th><th scope="col" colSpan={2}>{t('Calls')}</th><th scope="col" class="n">p50</th><th scope="col" class="n">p95</th><th scope="col" class="n">{t('most')}</th><th scope="col">{t('Time')}</th></tr></thead>
          <tbody>{rows.map(m => (
            <tr key={m.tool}><th scope="row"><code>{visible(m.tool)}</code>{m.failures && <div class="more dim">{visible(m.failures)}</div>}</th><td class="count">{m.calls}</td><td class="drawn">{bar(m.went, m.wentText)}</td>
              <td class="n">{m.p50}</td><td class="n">{m.p95}</td><td class="n">{m.most}</td><td class="drawn">{bar(m.took, `p50 ${m.p50}, p95 ${m.p95}`)}</td></tr>
          ))}</tbody>
        </table>
      </div>
    </>
  );
}

function draw(): void {
  const of = state?.tabs.find(each => each.id === tab);
  render(of ? <><header><h1>{t('Manage SideCar')}</h1><Tabs all={state!.tabs} /></header><Panel of={of} /></> : null, root);
}

window.addEventListener('message', e => {
  const m = e.data as ToPage;
  switch (m.type) {
    case 'state':
      state = m;
      speak(m.words ?? {});
      draw();
      break;
    case 'rows':
      shown.set(m.tab, m);
      if (m.tab === tab) { draw(); }
      break;
    case 'show':
      turn(m.tab);
      if (m.focus) { document.getElementById(m.focus === 'filter' ? 'filter' : `tab-${m.tab}`)?.focus(); }
      if (m.focus === 'filter') { document.querySelector<HTMLInputElement>('#filter')?.select(); }
  }
});
host.postMessage({ type: 'ready', tab });
