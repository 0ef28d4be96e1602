// The rows of the transcript: each a line, and what is under it when it is open.
import { Component, createRef, type ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Row } from '../rows';
import { stoppable, type CallEntry, type Child, type End, type Entry, type Line, type Own, type Plan, type Message } from '../model';
import { lines, printed, readable, terminal, unreachable, visible } from '../safe';
import { clock, span, t } from '../words';
import type { App, MenuItem } from './app';
import { Ask } from './ask';
import { DiffView, differs } from './diff';
import { textOf } from './find';
import { Images } from './images';
import { Icon, Spinner, type IconName } from './icons';
import { Drawn } from './markdown';
import { Path, shortPath } from './path';
import { PlanList } from './plan';

/** Of a text that others have written so much is shown on the page; the rest in a document. */
const most = { output: 20, hits: 50, lines: 200, raw: 4 << 10 };

class Markdown extends Component<{ app: App; text: string; done: boolean; look?: string }> {
  private readonly at = createRef<HTMLDivElement>();
  private drawn: Drawn | undefined;
  override componentDidMount(): void {
    const { app } = this.props;
    this.drawn = new Drawn(this.at.current!, {
      link: target => { if (app.run) { app.send({ type: 'link', run: app.run, target }); } },
      copy: text => app.send({ type: 'copy', text }),
    });
    this.drawn.set(this.props.text, this.props.done);
  }
  override componentDidUpdate(): void { this.drawn?.set(this.props.text, this.props.done); }
  render() { return <div ref={this.at} class={`md ${this.props.look ?? ''}`} />; }
}

/** The line of a row that opens and folds. */
function Fold({ app, row, icon, look = '', what, meta, placed, body = true }: { app: App; row: Row; icon: ComponentChildren; look?: string; what: ComponentChildren; meta?: ComponentChildren; placed?: boolean; body?: boolean }) {
  const toggle = () => { if (body) { app.fold(row.key, !row.open); } };
  return (
    <div class={`line ${look} ${body ? '' : 'flat'}`} onClick={toggle}>
      {body
        ? <button type="button" class="chevron" aria-expanded={row.open} aria-label={row.open ? t('Fold') : t('Open')} onClick={e => { e.stopPropagation(); toggle(); }}><Icon name="chevron" look={row.open ? 'open' : ''} /></button>
        : <span class="chevron" />}
      {icon}
      <span class={`what ${placed ? 'placed' : ''}`}>{what}</span>
      {meta && <span class="meta">{meta}</span>}
    </div>
  );
}

function OwnRow({ app, row, e }: { app: App; row: Row; e: Own }) {
  const long = e.text.split('\n').length > 6 || e.text.length > 480;
  const items = (at: HTMLElement) => app.openMenu(at, menuOf(app, e));
  return (
    <>
      <div class="own-head">
        <h3>{t('You')}<span class="sr-only">: {readable(e.text.slice(0, 80))}</span></h3><span class="dim">{clock(e.time)}{e.steered ? ` · ${t('while it worked')}` : ''}</span>
        <button type="button" class="icon-only own-more" aria-label={t('More of this message')} title={t('More')} aria-haspopup="menu" onClick={ev => items(ev.currentTarget)}><Icon name="more" look="bold" /></button>
      </div>
      <div class={`own-text ${long && !row.open ? 'clamp' : ''}`}>{readable(e.text)}</div>
      {long && <button type="button" class="quiet" onClick={() => app.fold(row.key, !row.open)}>{row.open ? t('Show Less') : t('Show All')}</button>}
    </>
  );
}

export function stopCommand(app: App, e: CallEntry): void { app.send({ type: 'stopCommand', run: app.run!, call: e.call.call }); }

/** What can be done with a row, besides what its buttons do. */
export function menuOf(app: App, e: Entry): MenuItem[] {
  const run = app.run!, can = app.agent?.can ?? [];
  switch (e.kind) {
    case 'own': return [
      { label: t('Copy'), run: () => app.send({ type: 'copy', text: e.text }) },
      { label: t('Edit and Resend'), run: () => { app.take({ type: 'draft', text: e.text, replace: true }); app.take({ type: 'focus' }); } },
      ...(can.includes('rewind') ? [{ label: t('Rewind to Here'), run: () => app.send({ type: 'rewind', run, at: e.seq - 1, text: e.text }) }] : []),
      ...(can.includes('fork') && can.includes('rewind') ? [{ label: t('Fork from Here'), run: () => app.send({ type: 'fork', run, at: e.seq - 1, text: e.text }) }] : []),
    ];
    case 'text': case 'thought': return [
      { label: t('Copy'), run: () => app.send({ type: 'copy', text: e.text }) },
      { label: t('Open as Document'), run: () => app.send({ type: 'document', run, what: 'text', text: e.text, language: 'markdown' }) },
    ];
    case 'call': {
      const path = pathOf(e);
      return [
        ...(stoppable(e) ? [{ label: t('Stop Command'), hint: t('Delete'), run: () => stopCommand(app, e) }] : []),
        ...(path ? [{ label: t('Open File'), run: () => app.send({ type: 'open', run, path }) }, { label: t('Copy Path'), run: () => app.send({ type: 'copy', text: path }) }] : [{ label: t('Copy'), run: () => app.send({ type: 'copy', text: e.call.title ?? '' }) }]),
        ...(e.output ? [{ label: t('Open Output'), run: () => app.send({ type: 'document', run, what: 'output', call: e.call.call, text: e.output, title: (e.call.title ?? '').slice(0, 100) }) }] : []),
      ];
    }
    default: return [{ label: t('Copy'), run: () => app.send({ type: 'copy', text: textOf(e) }) }];
  }
}

function MessageRow({ app, row, e }: { app: App; row: Row; e: Message }) {
  const cut = e.cut > 0 && <button type="button" class="quiet" onClick={() => app.send({ type: 'document', run: app.run!, what: 'conversation' })}>{t('This message is longer: Open as Document')}</button>;
  if (e.kind === 'text') {
    return (
      <>
        <Markdown app={app} text={e.text} done={e.done} />{cut}
        {e.done && <button type="button" class="icon-only message-more" aria-label={t('More of this message')} title={t('More')} aria-haspopup="menu" onClick={ev => app.openMenu(ev.currentTarget, menuOf(app, e))}><Icon name="more" look="bold" /></button>}
      </>
    );
  }
  const took = e.done && e.took !== undefined && e.took >= 500 ? ` · ${span(e.took)}` : '';
  return (
    <>
      <Fold app={app} row={row} icon={e.done ? <Icon name="thought" look="dim" /> : <Spinner />} look="dim" what={e.done ? t('Thought') + took : t('Thinking…')} />
      {row.open && <div class="inside thought-text"><Markdown app={app} text={e.text} done={e.done} />{cut}</div>}
    </>
  );
}

interface Kind { verb: string; now: string; many(n: number): string }
const kinds: Record<string, () => Kind> = {
  read: () => ({ verb: t('Read'), now: t('Reading'), many: n => t('Read {0} files', n) }),
  search: () => ({ verb: t('Search'), now: t('Searching'), many: n => t('{0} searches', n) }),
  fetch: () => ({ verb: t('Fetch'), now: t('Fetching'), many: n => t('Fetched {0} pages', n) }),
  edit: () => ({ verb: t('Edit'), now: t('Editing'), many: n => t('{0} edits', n) }),
  delete: () => ({ verb: t('Delete'), now: t('Deleting'), many: n => t('{0} deleted', n) }),
  move: () => ({ verb: t('Move'), now: t('Moving'), many: n => t('{0} moved', n) }),
  execute: () => ({ verb: t('Command'), now: t('Command'), many: n => t('{0} commands', n) }),
  think: () => ({ verb: t('Think'), now: t('Thinking'), many: n => t('{0} thoughts', n) }),
};
const other: Kind = { verb: '', now: '', many: n => t('{0} calls', n) };
const kindOf = (kind: string | undefined): Kind => Object.hasOwn(kinds, kind ?? '') ? kinds[kind!]!() : other;

/** The command, of a title that has it between backticks. */
const commandOf = (e: CallEntry) => (e.call.title ?? '').replace(/^`([^`]*)`$/, '$1');
const pathOf = (e: CallEntry): string | undefined => e.call.diff?.[0]?.path ?? e.call.locations?.[0]?.path;
/** Whether its line has a file's name in it, which gives way by itself. */
const placed = (e: CallEntry): boolean => e.call.kind !== 'execute' && pathOf(e) !== undefined && kindOf(e.call.kind).verb !== '';
const changed = (e: CallEntry) => (e.call.diff ?? []).reduce((n, d) => ({ added: n.added + differs(d).added, removed: n.removed + differs(d).removed }), { added: 0, removed: 0 });

function StateSign({ e }: { e: CallEntry }) {
  switch (e.state) {
    case 'proposed': case 'allowed': return <Icon name="circle" look="dim" />;
    case 'running': return <Spinner />;
    case 'failed': return <Icon name="cross" look="bad" />;
    case 'denied': return <Icon name="cross" look="dim" />;
    case 'stopped': return <Icon name="stop" look="dim" />;
    default: return <Icon name="check" look="good" />;
  }
}

function what(app: App, e: CallEntry): ComponentChildren {
  const k = kindOf(e.call.kind), path = pathOf(e), title = visible((e.call.title ?? '').split('\n')[0]!.slice(0, 200)), verb = e.state === 'running' ? k.now : k.verb;
  if (e.call.kind === 'execute') { return <><span class="verb mono">$</span> <code class="target">{visible(commandOf(e).split('\n')[0]!.slice(0, 300)) || t('a command')}</code></>; }
  if (path && k.verb) {
    const files = e.call.diff?.length ?? 0;
    const line = e.call.kind === 'read' ? e.call.locations?.[0]?.line : undefined;
    return <><span class="verb">{verb}</span> <Path app={app} path={path} line={line} onOpen={files > 0 ? () => app.send({ type: 'diff', run: app.run!, path }) : undefined} />{files > 1 && <span class="dim"> {t('and {0} more', files - 1)}</span>}</>;
  }
  const plain = k.verb && title.toLowerCase().startsWith(k.verb.toLowerCase()) ? title.slice(k.verb.length).trim() : title;
  return k.verb ? <><span class="verb">{verb}</span> <span class="target">{plain}</span></> : <span class="target">{title || t('Tool')}</span>;
}

function meta(app: App, row: Row, e: CallEntry): ComponentChildren {
  const n = changed(e), h = row.hunks, took = e.started && e.ended ? e.ended - e.started : undefined;
  const code = e.call.kind === 'execute' && e.state === 'failed' ? t('failed') : undefined;
  const state = { denied: e.byPerson ? t('Denied by you') : e.by ? t('Denied · {0}', e.by) : t('Denied'), stopped: t('Stopped'), failed: code ?? t('Failed'), proposed: row.question ? undefined : t('Waits'), allowed: undefined, running: undefined, completed: undefined }[e.state];
  const review = h && !row.open && (h.rejected > 0 && h.pending + h.accepted === 0 ? t('Rejected') : h.pending > 0 ? t('{0} pending', h.pending) : h.accepted > 0 ? t('Accepted') : undefined);
  const i = row.inside;
  if (i?.asks) { return <span class="needs">{t('Needs you')}</span>; }
  return (
    <>
      {i && i.calls > 0 && <span>{i.calls === 1 ? t('1 call') : t('{0} calls', i.calls)}{i.failed > 0 && `, ${t('{0} failed', i.failed)}`}</span>}
      {state && <span class={e.state === 'failed' ? 'bad' : ''}>{state}</span>}
      {e.halted && e.state === 'running' && <span>{t('Stopping…')}</span>}
      {review && <span class="review">{review}</span>}
      {(n.added > 0 || n.removed > 0) && <Count added={n.added} removed={n.removed} />}
      {e.state === 'running' && e.started && app.now - e.started > 1000 ? <span>{span(app.now - e.started)}</span> : null}
      {took !== undefined && took >= 100 && e.state !== 'denied' && n.added + n.removed === 0 && <span>{span(took)}</span>}
    </>
  );
}

export function Count({ added, removed }: { added: number; removed: number }) {
  return <span class="count">{added > 0 && <span class="plus">+{added}</span>}{removed > 0 && <span class="minus">−{removed}</span>}</span>;
}

/** The end of an output; of hits the first are as good as the others. */
function Output({ e, last }: { e: CallEntry; last: number }) {
  const all = lines(e.output.replace(/\n+$/, ''));
  if (e.call.kind === 'search') {
    return <><pre class="output">{visible(all.slice(0, most.hits).join('\n'))}</pre>{all.length > most.hits && <div class="dim small">{t('The first {0} of {1} lines', most.hits, all.length)}</div>}</>;
  }
  const from = Math.max(0, all.length - last);
  const whole = from > 0 || e.cut > 0 || (e.call.outputBytes ?? 0) > e.output.length;
  return (
    <>
      {whole && <div class="dim small">{e.call.outputBytes && e.cut > 0 ? t('The last {0} lines', all.length - from) : t('The last {0} of {1} lines', all.length - from, all.length)}</div>}
      <pre class="output">{terminal(all.slice(from).join('\n')).map((p, i) => p.look ? <span key={i} class={p.look}>{p.text}</span> : p.text)}</pre>
    </>
  );
}

function CallBody({ app, row, e }: { app: App; row: Row; e: CallEntry }) {
  const run = app.run!, path = pathOf(e), edits = e.call.diff ?? [], h = row.hunks, command = e.call.kind === 'execute' ? commandOf(e) : '';
  const open = app.opened.has(`out:${row.key}`);
  const output = e.byPerson ? '' : e.output || printed(e.result); // what a denied call gives is for the model
  const byItself = app.folds[row.key] === undefined && e.state === 'running';
  return (
    <div class="inside">
      {command && (command.includes('\n') || command.length > 60) && <pre class="command">{visible(command)}</pre>}
      {edits.slice(0, 50).map((d, i) => (
        <div key={i} class="file">
          {edits.length > 1 && <div class="file-head"><Path app={app} path={d.path} onOpen={() => app.send({ type: 'diff', run, path: d.path })} /><Count added={differs(d).added} removed={differs(d).removed} /></div>}
          <DiffView file={d} wide={app.opened.has('wide')} name={shortPath(app, d.path)} />
        </div>
      ))}
      {e.images && <Images app={app} images={e.images} />}
      {output && <Output e={e.output ? e : { ...e, output }} last={byItself ? 3 : open ? most.lines : most.output} />}
      {!output && command && e.state === 'failed' && <div class="dim small">{t('No output')}</div>}
      {!e.output && !command && (e.call.locations?.length ?? 0) > 1 && (
        <ul class="places">{e.call.locations!.slice(0, 50).map((l, i) => <li key={i}><Path app={app} path={l.path} line={l.line} /></li>)}</ul>
      )}
      {!output && edits.length === 0 && !command && !e.byPerson && e.raw && app.detail === 'everything' && <pre class="output">{visible(e.raw.slice(0, most.raw))}</pre>}
      {e.state === 'denied' && <div class="dim small">{e.byPerson ? t('Denied by you') : e.by ? t('Denied by {0}', visible(e.by)) : t('Denied')}</div>}
      {h && h.pending + h.accepted + h.rejected > 0 && (
        <div class="hunks">
          {h.pending > 0 && <span>{t('{0} pending', h.pending)}</span>}{h.accepted > 0 && <span>{t('{0} accepted', h.accepted)}</span>}
          {h.rejected > 0 && <span>{h.reason ? t('{0} rejected (“{1}”)', h.rejected, h.reason) : t('{0} rejected', h.rejected)}</span>}
        </div>
      )}
      <div class="actions">
        {stoppable(e) && <button type="button" class="quiet" title={t('Stop this command alone; the agent goes on (Delete)')} onClick={() => stopCommand(app, e)}>{t('Stop Command')}</button>}
        {h && h.pending > 0 && path && <button type="button" class="quiet" onClick={() => app.send({ type: 'diff', run, path })}>{t('Review')}</button>}
        {path && edits.length === 1 && e.call.kind !== 'delete' && <button type="button" class="quiet" onClick={() => app.send({ type: 'open', run, path })}>{t('Open File')}</button>}
        {output && <button type="button" class="quiet" onClick={() => app.send({ type: 'document', run, what: 'output', call: e.call.call, text: output, title: (e.call.title ?? '').slice(0, 100) })}>{t('Open Output')}</button>}
        {(command || output) && <button type="button" class="quiet" onClick={() => app.send({ type: 'copy', text: command || output })}>{t('Copy')}</button>}
      </div>
    </div>
  );
}

function hasBody(e: CallEntry): boolean {
  return e.output !== '' || e.images !== undefined || (e.call.diff?.length ?? 0) > 0 || (e.call.locations?.length ?? 0) > 1 || e.call.kind === 'execute' || !kindOf(e.call.kind).verb && !!e.raw || e.state === 'denied';
}

function CallLine({ app, row, e }: { app: App; row: Row; e: CallEntry }) {
  if (row.question) { return <Ask app={app} q={row.question} />; }
  const body = hasBody(e) || row.inside !== undefined;
  return (
    <>
      <Fold app={app} row={row} icon={<StateSign e={e} />} what={row.inside ? <span class="target">{visible((e.call.title ?? '').split('\n')[0]!.slice(0, 200)) || t('Sub-agent')}</span> : what(app, e)} meta={meta(app, row, e)} placed={!row.inside && placed(e)} body={body} look={e.state === 'denied' ? 'denied' : ''} />
      {row.open && hasBody(e) && <CallBody app={app} row={row} e={e} />}
    </>
  );
}

function Group({ app, row }: { app: App; row: Row }) {
  const group = row.group!, calls = group.filter(e => e.kind === 'call');
  const same = group.every(e => e.kind === 'call' && e.call.kind === (row.entry as CallEntry).call?.kind);
  const k = kindOf(same ? (row.entry as CallEntry).call.kind : '');
  const running = group.some(e => e.kind === 'call' && e.state === 'running' || e.kind === 'thought' && !e.done);
  return (
    <>
      <Fold app={app} row={row} icon={running ? <Spinner /> : <Icon name="check" look="good" />} what={<span class="verb">{same ? k.many(group.length) : t('{0} steps', group.length)}</span>} />
      {row.open && (
        <div class="inside list">{group.slice(0, 200).map(e => e.kind === 'call'
          ? <div key={e.key} class="line flat"><StateSign e={e} /><span class={`what ${placed(e) ? 'placed' : ''}`}>{what(app, e)}</span><span class="meta">{meta(app, { ...row, group: undefined, hunks: undefined, open: false }, e)}</span></div>
          : <div key={e.key} class="line flat dim"><Icon name="thought" /><span class="what">{nameOf(app, e)}</span></div>)}
          {calls.length > 200 && <div class="dim">{t('and {0} more', group.length - 200)}</div>}
        </div>
      )}
    </>
  );
}

function PlanRow({ app, row, e }: { app: App; row: Row; e: Plan }) {
  const done = e.plan.filter(p => p.status === 'completed').length, now = e.plan.find(p => p.status === 'in_progress');
  return (
    <>
      <Fold app={app} row={row} icon={<Icon name="list" look="dim" />} what={<><span class="verb">{t('Plan {0}/{1}', done, e.plan.length)}</span>{now && !row.open && <span class="target"> · {readable(now.text)}</span>}</>} />
      {row.open && <div class="inside"><PlanList plan={e.plan} changed={app.working ? e.changed : undefined} /></div>}
    </>
  );
}

/** What the agent goes on from can be said otherwise, or taken away. */
function Summary({ app, of, text }: { app: App; of: number; text: string }) {
  const [words, setWords] = useState<string>();
  const send = (changed: string) => { setWords(undefined); app.send({ type: 'summary', run: app.run!, summary: of, text: changed }); };
  if (words === undefined) {
    return (
      <div class="inside"><div class="actions">
        <button type="button" class="quiet" onClick={() => setWords(text)}>{t('Change Summary')}</button>
        <button type="button" class="quiet" onClick={() => send('')}>{t('Undo Summary')}</button>
      </div></div>
    );
  }
  return (
    <form class="inside summary" onSubmit={e => { e.preventDefault(); if (words.trim()) { send(words); } }}>
      <textarea aria-label={t('Summary')} value={words} onInput={e => setWords(e.currentTarget.value)} ref={e => { if (e && !e.dataset.ready) { e.dataset.ready = 'yes'; e.focus(); } }}
        onKeyDown={e => { if (e.key === 'Escape') { e.stopPropagation(); setWords(undefined); } }} />
      <div class="buttons"><button type="submit" disabled={!words.trim()}>{t('Save')}</button><button type="button" class="second" onClick={() => setWords(undefined)}>{t('Cancel')}</button></div>
    </form>
  );
}

function LineRow({ app, row, e }: { app: App; row: Row; e: Line }) {
  const name = e.kind === 'other' ? t('Other event: {0}', visible(e.name)) : e.kind === 'compaction' && !e.text ? t('The conversation was shortened') : visible(e.text.split('\n')[0]!.slice(0, 300));
  const raw = e.text && (e.kind !== 'note' || e.text.includes('\n') || e.text.length > 300) ? e.text : e.raw ?? '';
  return (
    <>
      <Fold app={app} row={row} icon={<Icon name="dot" look="dim" />} look="dim" what={name} body={raw !== ''} />
      {e.name === 'rewound' && app.agent?.can.includes('rewind') && <div class="inside"><div class="actions"><button type="button" class="quiet" onClick={() => app.send({ type: 'rewind', run: app.run!, at: e.seq - 1 })}>{t('Undo Rewind')}</button></div></div>}
      {row.open && e.ref && app.agent?.kind === 'builtin' && app.model?.summary === e && <Summary app={app} of={Number(e.ref)} text={e.text.slice(e.text.indexOf('\n\n') + 2)} />}
      {row.open && raw && (
        <div class="inside">
          <pre class="output">{visible(raw.slice(0, most.raw))}</pre>
          {raw.length > most.raw && <div class="actions"><button type="button" class="quiet" onClick={() => app.send({ type: 'document', run: app.run!, what: 'text', text: raw })}>{t('Open as Document')}</button></div>}
        </div>
      )}
    </>
  );
}

function ChildRow({ app, e }: { app: App; e: Child }) {
  const info = app.view?.runs.find(r => r.run === e.run);
  const busy = info?.state === 'running' || info?.state === 'waiting';
  return (
    <div class="line flat">
      <span class="chevron" />{info?.state === 'waiting' ? <Icon name="question" look="needs" /> : busy ? <Spinner /> : <Icon name="agent" look="dim" />}
      <span class="what"><span class="verb">{t('Sub-agent')}</span> <span class="target">{visible(info?.title || e.title || e.run)}</span></span>
      {info && <button type="button" class="quiet" onClick={() => app.follow(e.run)}>{info.state === 'waiting' ? t('Needs you') : t('Show')}</button>}
    </div>
  );
}

const endings: Record<string, () => [IconName, string]> = {
  done: () => ['check', t('Done')], interrupted: () => ['stop', t('Stopped')], failed: () => ['cross', t('Failed')], refused: () => ['cross', t('The agent refused to go on')],
  budget: () => ['warning', t('Stopped: the budget is used up')], loop: () => ['warning', t('Stopped: it went in circles')],
  paused: () => ['stop', t('Paused')], waiting: () => ['warning', t('Stopped: the model’s provider takes no more for now')],
};
const ending = (reason: string): [IconName, string] => (Object.hasOwn(endings, reason) ? endings[reason]! : endings.done!)();

function EndRow({ app, row, e }: { app: App; row: Row; e: End }) {
  const lost = e.reason === 'interrupted' && e.text !== '', run = app.run!;
  const [icon, name] = lost ? ['lightning' as const, t('Interrupted')] : ending(e.reason);
  const facts = [e.took !== undefined ? span(e.took) : '', e.calls > 0 ? e.calls === 1 ? t('1 call') : t('{0} calls', e.calls) : '', e.files > 0 ? e.files === 1 ? t('1 file') : t('{0} files', e.files) : ''].filter(Boolean).join(' · ');
  const bad = e.reason === 'failed', host = bad ? unreachable(e.text) : undefined, own = app.agent?.kind === 'builtin';
  const title = host === undefined ? '' : host ? t('The model can’t be reached ({0}).', visible(host)) : t('The model can’t be reached.');
  const text = title ? ['', ...e.text.split('\n')] : e.text.split('\n'), more = bad && text.length > 1 && terminal(lines(text.slice(1).slice(-most.output).join('\n')).join('\n')).map(p => p.text);
  return (
    <div class={`end ${bad ? 'error' : ''}`} role={bad ? 'group' : undefined}>
      <div class="line flat">{!bad && <span class="chevron" />}<Icon name={icon} look={bad ? 'bad' : e.reason === 'done' ? 'good' : 'dim'} /><span class="what">{bad ? <strong>{title || visible(text[0]!.slice(0, 500)) || t('Failed')}</strong> : name}{lost && <span class="dim"> · {visible(text[0]!.slice(0, 300))}{e.files > 0 && ` ${e.files === 1 ? t('1 change is kept.') : t('{0} changes are kept.', e.files)}`}</span>}</span><span class="meta">{facts}</span></div>
      {more && (title ? <details><summary>{t('Details')}</summary><pre class="output">{more}</pre></details> : <pre class="output">{more}</pre>)}
      {row.last && (
        <div class="actions">
          {bad && <><button type="button" onClick={() => app.send({ type: 'control', run, what: 'retry' })}>{t('Retry')}</button>
            {title && own && <button type="button" class="second" onClick={() => app.send({ type: 'do', what: 'addAgent' })}>{t('Edit Model')}</button>}
            <button type="button" class="second" onClick={() => app.send({ type: 'do', what: 'showLog' })}>{t('Show Log')}</button>
            <button type="button" class="second" onClick={() => app.send({ type: 'copy', text: e.text })}>{t('Copy Details')}</button></>}
          {(e.reason === 'paused' || e.reason === 'waiting') && app.model?.state !== 'ended' && <button type="button" class="second" onClick={() => app.send({ type: 'control', run, what: 'resume' })}>{t('Resume')}</button>}
          {e.reason === 'interrupted' && app.model?.state !== 'ended' && <button type="button" class="second" onClick={() => app.send({ type: 'control', run, what: 'continue' })}>{lost ? t('Resume') : t('Continue')}</button>}
        </div>
      )}
    </div>
  );
}

function QuestionRow({ app, e }: { app: App; e: Extract<Entry, { kind: 'question' }> }) {
  if (!e.closed) { return <Ask app={app} q={e} />; }
  const label = e.options.find(o => o.id === e.answer)?.label ?? e.answer;
  return <div class="line flat dim"><span class="chevron" /><Icon name="question" /><span class="what">{visible(e.text.split('\n')[0]!.slice(0, 200))}</span><span class="meta">{label ? visible(label.slice(0, 60)) : t('Not answered')}</span></div>;
}

export function RowView({ app, row }: { app: App; row: Row }) {
  const e = row.entry;
  if (row.group) { return <Group app={app} row={row} />; }
  switch (e.kind) {
    case 'own': return <OwnRow app={app} row={row} e={e} />;
    case 'text': case 'thought': return <MessageRow app={app} row={row} e={e} />;
    case 'call': return <CallLine app={app} row={row} e={e} />;
    case 'question': return <QuestionRow app={app} e={e} />;
    case 'plan': return <PlanRow app={app} row={row} e={e} />;
    case 'image': return e.images.length > 0 ? <Images app={app} images={e.images} /> : <div class="line flat dim unshown"><span class="chevron" /><Icon name="warning" /><span class="what">{visible(e.text.slice(0, 300))}</span></div>;
    case 'child': return <ChildRow app={app} e={e} />;
    case 'end': return <EndRow app={app} row={row} e={e} />;
    default: return <LineRow app={app} row={row} e={e} />;
  }
}

/** What a row is called by those who can't see it. */
export function nameOf(app: App, e: Entry): string {
  switch (e.kind) {
    case 'own': return t('You, {0}', clock(e.time));
    case 'text': return t('{0}, {1}', app.agentTitle || t('Agent'), clock(e.time));
    case 'thought': return e.took ? t('Thought, {0}', span(e.took)) : t('Thought');
    case 'call': {
      const n = changed(e), k = kindOf(e.call.kind), path = pathOf(e);
      const state = { proposed: t('waits'), allowed: t('allowed'), denied: t('denied'), running: t('running'), completed: t('done'), failed: t('failed'), stopped: t('stopped') }[e.state];
      return [`${k.verb} ${path && k.verb ? shortPath(app, path) : visible((e.call.title ?? '').slice(0, 200))}`.trim(), state, ...(n.added ? [t('{0} added', n.added)] : []), ...(n.removed ? [t('{0} removed', n.removed)] : [])].join(', ');
    }
    case 'question': return t('Question: {0}', visible(e.text.slice(0, 200)));
    case 'plan': return t('Plan, {0} of {1} done', e.plan.filter(p => p.status === 'completed').length, e.plan.length);
    case 'image': return visible(e.text.slice(0, 300));
    case 'child': return t('Sub-agent {0}', visible(e.title || e.run));
    case 'end': return ending(e.reason)[1];
    default: return visible(e.text.slice(0, 200) || e.name);
  }
}
