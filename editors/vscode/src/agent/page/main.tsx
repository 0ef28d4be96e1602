// The page of the Agent view: its parts put together, and its keys.
import { render } from 'preact';
import type { FromPage, Saved, ToPage } from '../messages';
import { Announcer } from './announce';
import { condition } from './condition';
import { App } from './dom/app';
import { allows, answer, denies, settles } from './dom/ask';
import { ChangesBar, PlanBar, QueueBar, Runs } from './dom/bars';
import { menuOf, nameOf, RowView, stopCommand } from './dom/cards';
import { Composer } from './dom/composer';
import { el, mac } from './dom/el';
import { Find, highlight } from './dom/find';
import { Head } from './dom/head';
import { MenuView } from './dom/menu';
import { Banner, State } from './dom/states';
import { Transcript } from './dom/transcript';
import { act, type Act } from './keys';
import { stoppable } from './model';
import type { Row } from './rows';
import { t } from './words';
import './style.css';

declare function acquireVsCodeApi(): { postMessage(m: FromPage): void; getState(): unknown; setState(s: Saved): void };

const app = new App(acquireVsCodeApi());
const head = el('div'), find = el('div'), state = el('div', 'states'), middle = el('main', 'middle'), bottom = el('div', 'bottom'), bars = el('div', 'bars'), banner = el('div'), write = el('div');
const rail = el('aside', 'rail'), over = el('div'), status = el('div', 'sr-only'), alerts = el('div', 'sr-only'), pill = el('button', 'pill');
status.role = 'status';
alerts.role = 'alert';
pill.type = 'button';
const announcer = new Announcer();
let finding = false;
let seenAt: string | undefined; // the newest row when the end was last on the screen
let before: Element | null = null;

const transcript = new Transcript({
  draw: (row, at) => render(<RowView app={app} row={row} />, at),
  name: row => `${row.depth > 0 ? `${t('Sub-agent')}: ` : ''}${row.group ? `${row.group.length}: ` : ''}${nameOf(app, row.entry)}${row.inside ? `, ${t('{0} calls', row.inside.calls)}` : ''}`,
  gone: at => render(null, at),
}, () => { looked(); app.save(); });

middle.append(transcript.element, state, pill);
bottom.append(banner, bars, write);
const main = el('div', 'main', head, find, middle, bottom);
document.getElementById('app')!.append(main, rail, over, status, alerts);
pill.addEventListener('click', () => transcript.end());

app.anchor = () => transcript.place();
app.onFind = () => {
  if (!finding) { before = document.activeElement; }
  finding = true;
  app.redraw();
  find.querySelector('input')?.focus();
};
app.onRun = () => transcript.reset();
app.onSent = () => transcript.end();
app.onShow = key => {
  transcript.to(key);
  transcript.mark(key);
  setTimeout(() => transcript.mark(undefined), 2000);
};
app.onFrame = draw;

function draw(): void {
  const c = condition(app.view, app.run, app.model), wide = window.innerWidth >= 900, states = app.consent !== undefined || ['untrusted', 'first', 'signIn', 'connecting', 'failedStart'].includes(c) && !app.rows.length;
  document.body.classList.toggle('with-rail', wide);
  rail.hidden = !wide; // first: what is measured below has its width then
  if ((app.opened.has('wide')) !== transcript.element.clientWidth >= 700) {
    if (!app.opened.delete('wide')) { app.opened.add('wide'); }
    transcript.refresh();
  }
  render(<Head app={app} c={c} />, head);
  render(finding ? <Find app={app} to={found} close={closeFind} /> : null, find);
  render(states ? <State app={app} c={c} /> : null, state);
  transcript.element.hidden = states;
  transcript.update(app.rows);
  if (app.restored && app.model) {
    if (typeof app.restored.row === 'string' && typeof app.restored.offset === 'number') { transcript.restore(app.restored); }
    app.restored = undefined;
  }
  render(<Banner app={app} c={c} />, banner);
  render(<>{!wide && <PlanBar app={app} rail={false} />}{!wide && <ChangesBar app={app} rail={false} />}<QueueBar app={app} /></>, bars);
  render(<Composer app={app} c={c} />, write);
  render(wide ? <><PlanBar app={app} rail /><ChangesBar app={app} rail /><Runs app={app} /></> : null, rail);
  render(app.menu ? <MenuView app={app} /> : null, over);
  looked();
  announce();
}

function found(row: Row, query: string): void {
  if (!row.open && row.entry.kind !== 'text') { app.fold(row.key, true); }
  transcript.to(row.key);
  transcript.mark(row.key);
  requestAnimationFrame(() => requestAnimationFrame(() => highlight(transcript.elementOf(row.key), query))); // when it is drawn open
}

function closeFind(): void {
  finding = false;
  highlight(undefined, '');
  transcript.mark(undefined);
  if (before instanceof HTMLElement) { before.focus(); }
  app.redraw();
}

/** What of the transcript is on the screen: whether there is more below, and which questions are seen. */
let seenQuestions = '';
function looked(): void {
  const last = app.rows.at(-1), ask = app.asked && app.rows.find(r => (r.question ?? (r.entry.kind === 'question' ? r.entry : undefined))?.id === app.asked!.id);
  const visible = transcript.visible();
  if (transcript.stuck) { seenAt = last && `${last.key}${last.v}`; }
  const waits = ask !== undefined && !visible.includes(ask);
  const below = !transcript.stuck && last !== undefined && seenAt !== `${last.key}${last.v}`;
  pill.hidden = transcript.element.hidden || !waits && !below && transcript.stuck;
  pill.classList.toggle('quiet-pill', !below && !waits);
  pill.textContent = waits ? t('Needs you') : below ? t('New below') : t('To the end');
  pill.onclick = waits ? () => transcript.to(ask.key) : null;
  const questions = visible.flatMap(r => r.question?.id ?? (r.entry.kind === 'question' && !r.entry.closed ? r.entry.id : []));
  if (questions.join('\n') !== seenQuestions) {
    seenQuestions = questions.join('\n');
    app.send({ type: 'seen', questions });
  }
  if (app.more && transcript.element.scrollTop < 400) { app.older(); }
}

let unannounced: string[] = [], announcing: ReturnType<typeof setTimeout> | undefined;
function announce(): void {
  const news = announcer.look(app.model, app.view?.settings.announce ?? 'paragraphs', document.body.classList.contains('vscode-using-screen-reader'), app.agentTitle || t('The agent'));
  if (news.alert.length > 0) { alerts.textContent = news.alert.join('\n'); }
  unannounced.push(...news.status);
  if (unannounced.length > 0) {
    announcing ??= setTimeout(() => { // at most one in two seconds
      announcing = undefined;
      status.textContent = unannounced.join('\n');
      unannounced = [];
    }, 2000);
  }
}

// ---- Keys

const starts = () => app.view?.starting !== undefined && !app.view.starting.error;

function does(a: Act, target: HTMLElement): boolean {
  const q = app.asked && app.model?.open.get(app.asked.id), key = transcript.current, row = transcript.row(key);
  switch (a) {
    case 'close':
      if (app.menu) { app.closeMenu(); return true; }
      if (app.composer?.close()) { return true; }
      if (app.consent !== undefined) { app.consent = undefined; app.redraw(); return true; }
      if (finding) { closeFind(); return true; }
      return false;
    case 'stop': if (starts()) { app.send({ type: 'cancelStart' }); } else if (app.run) { app.send({ type: 'control', run: app.run, what: 'cancel' }); } return true;
    case 'allow': case 'deny': {
      const option = q?.options.find(a === 'allow' ? allows : denies);
      if (q && option) { answer(app, q, option.id); }
      return true;
    }
    case 'previousOwn': case 'nextOwn': transcript.next(r => r.entry.kind === 'own', a === 'nextOwn' ? 1 : -1); return true;
    case 'find': app.onFind(); return true;
    case 'up': transcript.step(-1); return true;
    case 'down': transcript.step(1); return true;
    case 'first': transcript.edge(false); return true;
    case 'last': transcript.edge(true); return true;
    case 'pageUp': transcript.page(-1); return true;
    case 'pageDown': transcript.page(1); return true;
    case 'open': case 'fold': if (row && key) { app.fold(key, a === 'open'); } return true;
    case 'act':
      if (!target.classList.contains('row')) { return false; }
      { // an answer is looked at first: Enter in the transcript allows nothing
        const answers = target.querySelector<HTMLElement>('.ask button:not(:disabled), .ask input');
        if (answers) { answers.focus(); } else { target.querySelector<HTMLElement>('.actions button, .path, .chevron, button')?.click(); }
      }
      return true;
    case 'menu': if (row && key) { app.openMenu(transcript.elementOf(key)!, menuOf(app, row.entry)); } return true;
    case 'stopCommand':
      if (row?.entry.kind !== 'call' || !stoppable(row.entry)) { return false; }
      stopCommand(app, row.entry);
      return true;
    default: return app.composer?.act(a) ?? false;
  }
}

document.addEventListener('keydown', e => {
  const target = e.target as HTMLElement, q = app.asked && app.model?.open.get(app.asked.id);
  const inField = target.matches('textarea, input');
  const a = act(e, {
    place: target.matches('.composer textarea') ? 'composer' : !inField && target.closest('.transcript') ? 'transcript' : 'elsewhere', mac,
    over: app.menu !== undefined || finding || app.consent !== undefined || app.composer?.listed === true, working: app.working || starts(),
    asks: q !== undefined && !q.irrecoverable && app.asked !== undefined && Date.now() - app.asked.since >= settles,
    enterSends: app.view?.settings.enterSends ?? true, empty: app.draft === '', listed: app.composer?.listed === true,
  });
  if (a && does(a, target)) {
    e.preventDefault();
    e.stopPropagation();
  }
});

window.addEventListener('message', e => {
  const m = e.data as ToPage;
  if (m.type === 'measure') {
    const focused = document.hasFocus(), typing = focused && app.draft !== '' && document.activeElement?.matches('.composer textarea') === true;
    app.send({ type: 'size', window: Math.max(0, Math.round(window.outerWidth)), own: window.innerWidth, focused, typing });
  } else { app.take(m); }
});
window.addEventListener('resize', () => app.redraw());
setInterval(() => {
  const m = app.model;
  if (app.working || app.view?.starting || m && m.open.size > 0) { app.redraw(); }
}, 1000);
app.send({ type: 'ready', ...(app.run ? { run: app.run } : {}) });
