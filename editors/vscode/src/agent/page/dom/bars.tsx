// What stands over the composer, or in a wide page beside the transcript: the plan, the changed files, the queue, the runs.
import { useState } from 'preact/hooks';
import type { ChangedFile, Changes } from '../../messages';
import type { RunState } from '../../event';
import { readable, visible } from '../safe';
import { t } from '../words';
import type { App, MenuItem } from './app';
import { Count } from './cards';
import { Icon, Spinner } from './icons';
import { Path } from './path';
import { PlanList } from './plan';

export function PlanBar({ app, rail }: { app: App; rail: boolean }) {
  const plan = app.model?.plan ?? [];
  if (plan.length === 0) { return null; }
  const done = plan.filter(p => p.status === 'completed').length, now = plan.find(p => p.status === 'in_progress') ?? plan.find(p => p.status !== 'completed');
  const open = rail || app.opened.has('plan');
  return (
    <section class="bar" aria-label={t('Plan')}>
      <Title app={app} name="plan" rail={rail} open={open}>
        {rail ? <><h2>{t('Plan')}</h2><span class="meta">{done}/{plan.length}</span></> : <><span class="verb">{t('Plan {0}/{1}', done, plan.length)}</span>{now && <span class="target"> · {readable(now.text.split('\n')[0]!)}</span>}</>}
      </Title>
      {open && <PlanList plan={plan} />}
    </section>
  );
}

function Title({ app, name, rail, open, children, after }: { app: App; name: string; rail: boolean; open: boolean; children: preact.ComponentChildren; after?: preact.ComponentChildren }) {
  return rail
    ? <div class="bar-title">{children}</div>
    : <div class="bar-title"><button type="button" class="bar-fold" aria-expanded={open} onClick={() => app.toggle(name)}><Icon name="chevron" look={open ? 'open' : ''} /><span class="what">{children}</span></button>{after}</div>;
}

const letters = { create: 'A', modify: 'M', delete: 'D', rename: 'R' } as const;
const kindName = (f: ChangedFile) => ({ create: t('added'), modify: t('changed'), delete: t('deleted'), rename: t('renamed') })[f.kind];

export function ChangesBar({ app, rail }: { app: App; rail: boolean }) {
  const c = app.changes, run = app.run;
  if (!c || c.files.length === 0 || !run) { return null; }
  const sum = c.files.reduce((n, f) => ({ added: n.added + f.added, removed: n.removed + f.removed }), { added: 0, removed: 0 });
  const open = rail || app.opened.has('changes');
  const send = (what: 'review' | 'accept' | 'reject' | 'diffs' | 'verify' | 'undo', path?: string) => app.send({ type: 'changes', run, what, ...(path ? { path } : {}) });
  const menu: MenuItem[] = c.written
    ? [{ label: t('Show All Diffs'), run: () => send('diffs') }]
    : [{ label: t('Accept All'), run: () => send('accept') }, { label: t('Reject All'), run: () => send('reject') }, { label: t('Show All Diffs'), run: () => send('diffs') }, { label: t('Verify'), run: () => send('verify') }];
  const name = c.written ? (c.files.length === 1 ? t('1 file written') : t('{0} files written', c.files.length)) : c.files.length === 1 ? t('1 file') : t('{0} files', c.files.length);
  const buttons = (
    <>
      {c.written ? <button type="button" class="second small-button" onClick={() => send('undo')}>{t('Undo')}</button> : <button type="button" class="second small-button" onClick={() => send('review')}>{t('Review')}</button>}
      {rail && !c.written && <button type="button" class="second small-button" onClick={() => send('accept')}>{t('Accept All')}</button>}
      <button type="button" class="icon-only" aria-label={t('More for these files')} title={t('More')} aria-haspopup="menu" onClick={e => app.openMenu(e.currentTarget, menu)}><Icon name="more" look="bold" /></button>
    </>
  );
  return (
    <section class="bar" aria-label={t('Changed files')}>
      <Title app={app} name="changes" rail={rail} open={open} after={buttons}>
        {rail ? <><h2>{t('Changed Files')}</h2><span class="meta"><Count {...sum} /></span></> : <><span class="verb">{name}</span> <Count {...sum} /></>}
      </Title>
      {open && <Files app={app} c={c} send={send} />}
      {rail && <div class="bar-buttons">{buttons}</div>}
    </section>
  );
}

function Files({ app, c, send }: { app: App; c: Changes; send(what: 'accept' | 'reject', path: string): void }) {
  return (
    <ul class="files">
      {c.files.slice(0, 300).map(f => (
        <li key={f.path} class={f.conflict ? 'conflict' : ''}>
          <span class={`letter ${f.kind}`} title={kindName(f)}>{letters[f.kind]}</span>
          <Path app={app} path={f.path} onOpen={() => app.send({ type: 'diff', run: app.run!, path: f.path })} />
          {f.conflict && <span class="bad small">{t('conflict')}</span>}
          {(f.problems ?? 0) > 0 && <span class="needs small" title={t('{0} new problems', f.problems!)}>⚠ {f.problems}</span>}
          <Count added={f.added} removed={f.removed} />
          {!c.written && <span class="decide">
            <button type="button" class="icon-only" aria-label={t('Accept {0}', f.path)} title={t('Accept')} onClick={() => send('accept', f.path)}><Icon name="check" /></button>
            <button type="button" class="icon-only" aria-label={t('Reject {0}', f.path)} title={t('Reject')} onClick={() => send('reject', f.path)}><Icon name="back" /></button>
          </span>}
        </li>
      ))}
    </ul>
  );
}

export function QueueBar({ app }: { app: App }) {
  const m = app.model, run = app.run;
  if (!m || !run || m.queue.length === 0) { return null; }
  const open = app.opened.has('queue') || app.editing !== undefined;
  return (
    <section class="bar" aria-label={t('Queue')}>
      <Title app={app} name="queue" rail={false} open={open} after={m.paused && <button type="button" class="second small-button" onClick={() => app.send({ type: 'control', run, what: 'resume' })}>{t('Resume')}</button>}>
        <span class="verb">{m.queue.length === 1 ? t('1 queued') : t('{0} queued', m.queue.length)}</span>
        {m.paused ? <span class="needs"> · {t('Paused after Stop')}</span> : !open && <span class="target"> · {readable(m.queue[0]!.text.split('\n')[0]!)}</span>}
      </Title>
      {open && (
        <ol class="queue">
          {m.queue.map((i, n) => app.editing === i.item
            ? <li key={i.item}><EditItem app={app} run={run} item={i.item} text={i.text} /></li>
            : (
              <li key={i.item}>
                <span class="queue-text" title={readable(i.text)}>{readable(i.text.split('\n')[0]!.slice(0, 300))}{n === 0 && !m.paused && <span class="dim"> · {t('heard next')}</span>}</span>
                <span class="decide">
                  {app.working && <button type="button" class="icon-only" aria-label={t('Steer with this')} title={app.agent?.can.includes('steer') ? t('Steer: heard at once') : t('Heard next: this agent can’t be steered')} onClick={() => app.send({ type: 'hurry', run, item: i.item, when: 'steer' })}><Icon name="up" /></button>}
                  <button type="button" class="icon-only" aria-label={t('Edit this message')} title={t('Edit')} onClick={() => { app.editing = i.item; app.redraw(); }}><Icon name="pencil" /></button>
                  <button type="button" class="icon-only" aria-label={t('Withdraw this message')} title={t('Withdraw')} onClick={() => app.send({ type: 'withdraw', run, item: i.item })}><Icon name="trash" /></button>
                </span>
              </li>
            ))}
        </ol>
      )}
    </section>
  );
}

function EditItem({ app, run, item, text }: { app: App; run: string; item: string; text: string }) {
  const [now, setNow] = useState(text);
  const done = (send: boolean) => {
    if (send && now !== text) { app.send(now.trim() ? { type: 'edit', run, item, text: now } : { type: 'withdraw', run, item }); }
    app.editing = undefined;
    app.onFocus();
    app.redraw();
  };
  return (
    <form class="ask-free" onSubmit={e => { e.preventDefault(); done(true); }}>
      <textarea rows={Math.min(6, now.split('\n').length)} value={now} aria-label={t('Queued message')} ref={e => { if (e && !e.dataset.begun) { e.dataset.begun = '1'; e.focus(); } }} onInput={e => setNow(e.currentTarget.value)}
        onKeyDown={e => {
          if (e.isComposing || e.keyCode === 229) { return; }
          if (e.key === 'Escape') { e.stopPropagation(); done(false); }
          if (e.key === 'Enter' && !e.shiftKey) { e.preventDefault(); e.stopPropagation(); done(true); }
        }} />
      <button type="submit" class="second">{t('Save')}</button>
    </form>
  );
}

function stateSign(state: RunState) {
  return state === 'running' ? <Spinner /> : state === 'waiting' ? <Icon name="question" look="needs" /> : state === 'ended' ? <Icon name="check" look="dim" /> : state === 'paused' ? <Icon name="stop" look="dim" /> : <Icon name="dot" look="dim bold" />;
}
const stateName = (state: RunState): string => ({ idle: t('idle'), running: t('working'), waiting: t('needs you'), paused: t('paused'), ended: t('ended') })[state];

export function Runs({ app }: { app: App }) {
  const runs = app.view?.runs ?? [];
  return (
    <section class="bar" aria-label={t('Runs')}>
      <div class="bar-title"><h2>{t('Runs')}</h2></div>
      <ul class="files">
        {runs.slice(0, 30).map(r => (
          <li key={r.run} class={r.run === app.run ? 'selected' : ''}>
            <button type="button" class="run" aria-current={r.run === app.run} onClick={() => app.follow(r.run)}>
              {stateSign(r.state)}<span class="sr-only">{stateName(r.state)}: </span><span class="what">{visible(r.title || t('New run'))}</span><span class="meta">{visible(app.view?.agents.find(a => a.name === r.agent)?.title ?? r.agent)}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
