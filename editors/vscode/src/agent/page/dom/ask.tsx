// A question in its place: what is asked, the answers that it offers, and what it is about.
import { useState } from 'preact/hooks';
import type { Option } from '../../event';
import { shownOf } from '../../shown';
import type { Question } from '../model';
import { deceives, visible } from '../safe';
import { span, t } from '../words';
import type { App, MenuItem } from './app';
import { DiffView } from './diff';
import { ctrl } from './el';
import { Icon } from './icons';
import { Path } from './path';

const rank: Record<string, number> = { allow_once: 0, allow_always: 1, reject_once: 2, reject_always: 3 };
const order = (options: Option[]) => options.map((o, i) => ({ o, n: (rank[o.kind ?? ''] ?? 2.5) * 1000 + i })).sort((a, b) => a.n - b.n).map(e => e.o);
export const allows = (o: Option): boolean => o.kind === 'allow_once';
export const denies = (o: Option): boolean => o.kind === 'reject_once';
/** The word to type for what can't be undone. */
const confirmWord = 'CONFIRM';
/** So long a card has stood still before keys answer it: nobody answers what they have not seen. */
export const settles = 400;

export function answer(app: App, q: Question, option: string, more: { reason?: string; typed?: string } = {}): void {
  if (app.run && !q.closed) { app.send({ type: 'answer', run: app.run, question: q.id, answer: option, ...more }); }
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** A title with its command as code. */
function Ran({ text }: { text: string }) {
  const [before, code, behind] = [text.slice(0, text.indexOf('`')), text.slice(text.indexOf('`') + 1, text.lastIndexOf('`')), text.slice(text.lastIndexOf('`') + 1)];
  return <>{before}<code>{code}</code>{behind}</>;
}

export function Ask({ app, q }: { app: App; q: Question }) {
  const [typed, setTyped] = useState('');
  const [reason, setReason] = useState<string>();
  const command = q.call?.kind === 'execute' ? q.call.title || q.text : '';
  const brief = command !== '' && !command.includes('\n') && command.length <= 80; // the title has all of it
  const title = brief ? t('Run `{0}`?', visible(command)) : command ? t('Run this command?') : visible(q.text.split('\n')[0]!.slice(0, 200)) || t('The agent asks');
  const after = q.text.split('\n').slice(1).join('\n');
  const words = !command || q.text.startsWith('Run `') ? after : q.text === q.call?.title ? '' : q.text; // the command stands above it
  const [why = '', ...others] = command ? words.split('\n').filter(l => l.trim() !== '') : [words];
  const more = capital(why), further = others.join('\n');
  const warns = deceives(q.text) || deceives(q.call?.title ?? '');
  const options = order(q.options), deny = options.find(denies) ?? options.find(o => o.kind?.startsWith('reject'));
  const allow = options.find(allows), two = allow !== undefined && deny !== undefined;
  const needed = new Set([allow ?? options[0], deny]); // whatever else is offered
  for (const o of options) { if (!two && needed.size < 3) { needed.add(o); } }
  const shown = options.filter(o => needed.has(o));
  const rest = options.filter(o => !shown.includes(o));
  const long = command.split('\n').length > 6 || command.length > 600;
  const locked = q.irrecoverable && typed !== confirmWord;
  const run = app.run, about = run && shownOf(run, q.call?.uri);
  const menu: MenuItem[] = [
    ...rest.map(o => ({ label: visible(o.label), run: () => answer(app, q, o.id) })),
    ...(q.always && run ? (['workspace', 'user'] as const).map(scope => ({
      label: scope === 'user' ? t('Always allow `{0}` everywhere…', visible(q.always!)) : t('Always allow `{0}` in this workspace…', visible(q.always!)),
      run: () => app.send({ type: 'always', run, question: q.id, scope }),
    })) : []),
    ...(deny ? [{ label: t('Deny with Reason'), run: () => { setReason(''); } }] : []),
  ];
  const give = (o: Option) => answer(app, q, o.id, q.irrecoverable && !o.kind?.startsWith('reject') ? { typed } : {});
  return (
    <div class={`ask ${app.asked?.id === q.id ? 'first' : ''}`} role="group" aria-label={t('Question: {0}', title)} data-question={q.id}>
      <div class="ask-title"><Icon name="question" /><strong>{brief ? <Ran text={title} /> : title}</strong>{q.expiresAt !== undefined && <span class="meta">{t('{0} left', span(Math.max(0, q.expiresAt - app.now)))}</span>}</div>
      {warns && <div class="warn" role="note"><Icon name="warning" />{t('Contains characters that can’t be seen; they are shown as ‹U+…›.')}</div>}
      {command && !brief && <pre class={`ask-command ${long ? 'clamp' : ''}`}>{visible(long ? command.split('\n').slice(0, 6).join('\n').slice(0, 600) : command)}</pre>}
      {more && <div class="ask-more">{visible(more.slice(0, 4000))}</div>}
      {further && <details class="ask-further"><summary>{t('Details')}</summary><div class="ask-more">{visible(further.slice(0, 4000))}</div></details>}
      {q.irrecoverable && (
        <label class="ask-typed">{t('This can’t be undone. Type {0} to allow it:', confirmWord)}
          <input type="text" value={typed} onInput={e => setTyped(e.currentTarget.value)} spellcheck={false} autocomplete="off" />
        </label>
      )}
      {run && about && <div class="buttons"><button type="button" class="second" onClick={() => app.send({ type: 'shown', run, question: q.id })}>{about.what === 'plan' ? t('Open the Plan') : t('Compare the Results')}</button></div>}
      {options.length === 0 ? <Free app={app} q={q} /> : reason !== undefined && deny ? (
        <form class="ask-free" onSubmit={e => { e.preventDefault(); answer(app, q, deny.id, reason ? { reason } : {}); }}>
          <input type="text" value={reason} placeholder={t('Why not? The agent is told.')} aria-label={t('Reason')} onInput={e => setReason(e.currentTarget.value)} ref={e => e?.focus()}
            onKeyDown={e => { if (e.key === 'Escape') { e.stopPropagation(); setReason(undefined); } }} />
          <button type="submit">{t('Deny')}</button>
        </form>
      ) : (
        <div class="buttons">
          {shown.map((o, i) => (
            <button key={i} type="button" class={allows(o) && o === options[0] ? '' : 'second'} disabled={locked && !o.kind?.startsWith('reject')} onClick={() => give(o)}
              title={allows(o) && !q.irrecoverable ? `${ctrl}+Alt+Enter` : denies(o) ? `${ctrl}+Alt+Backspace` : undefined}>{visible(o.label) || o.id}</button>
          ))}
          {menu.length > 0 && <button type="button" class="second icon-button" aria-label={t('Other answers')} title={t('Other answers')} aria-haspopup="menu" onClick={e => app.openMenu(e.currentTarget, menu)}><Icon name="down" /></button>}
        </div>
      )}
      {q.custom && options.length > 0 && reason === undefined && <Free app={app} q={q} />}
      {long && <pre class="ask-detail">{visible(command)}</pre>}
      {(q.call?.diff?.length ?? 0) > 0 && (
        <div class="ask-detail">{q.call!.diff!.slice(0, 20).map((d, i) => <div key={i}>{q.call!.diff!.length > 1 && <Path app={app} path={d.path} />}<DiffView file={d} wide={false} name={d.path} /></div>)}</div>
      )}
    </div>
  );
}

function Free({ app, q }: { app: App; q: Question }) {
  const [text, setText] = useState('');
  return (
    <form class="ask-free" onSubmit={e => { e.preventDefault(); answer(app, q, text); }}>
      <input type="text" value={text} aria-label={t('Answer')} placeholder={t('Answer')} onInput={e => setText(e.currentTarget.value)} />
      <button type="submit">{t('Send')}</button>
    </form>
  );
}
