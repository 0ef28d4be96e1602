// Where a person writes: the text, what goes along with it, and what is offered for @ and /.
import { Component, createRef } from 'preact';
import { condition, takesText, type Condition } from '../condition';
import { fitting, taken, writing, type Writing } from '../complete';
import type { Act } from '../keys';
import { readable, visible } from '../safe';
import { t } from '../words';
import type { App } from './app';
import { Foot } from './foot';
import { Icon, type IconName } from './icons';

interface Offer { id: string; label: string; detail?: string; icon: IconName; name: string }
const icons: Record<string, IconName> = { file: 'file', folder: 'folder', symbol: 'tool', selection: 'selection', diagnostics: 'warning', changes: 'diff', range: 'selection', image: 'image', text: 'list' };
const mostImage = 5 << 20;

export class Composer extends Component<{ app: App; c: Condition }, { at: number; closed: string; over: boolean }> {
  override state = { at: 0, closed: '', over: false };
  private readonly field = createRef<HTMLTextAreaElement>();
  private asked = 0;
  private query: string | undefined;

  override componentDidMount(): void {
    this.props.app.composer = this;
    this.props.app.onFocus = () => this.field.current?.focus();
  }
  override componentDidUpdate(): void {
    const { app, c } = this.props;
    if (app.later !== undefined && takesText(c) === 'yes' && app.model) {
      const { agent, run } = app.later;
      const itsOwn = run !== undefined ? run === app.run : (app.info?.agent ?? app.model.agent) === agent && !app.model.entries.some(e => e.kind === 'own');
      app.later = app.notice = undefined;
      if (itsOwn) { this.send('queue'); } else { app.redraw(); }
    }
  }

  private get writing(): Writing | undefined {
    const f = this.field.current;
    if (!f || f.selectionStart !== f.selectionEnd || document.activeElement !== f) { return undefined; }
    const w = writing(f.value, f.selectionStart);
    return w && `${w.kind}${w.from}` !== this.state.closed ? w : undefined;
  }

  private offers(): Offer[] {
    const { app } = this.props, w = this.writing;
    if (!w) { return []; }
    if (w.kind === '/') { return fitting(app.commands, w.query).map(c => ({ id: c.name, label: `/${c.name}`, detail: c.description, icon: 'terminal', name: c.name })); }
    return app.completions && app.completions.id <= this.asked ? app.completions.items.slice(0, 50).map(i => ({ id: i.id, label: i.label, detail: i.detail, icon: icons[i.kind] ?? 'file', name: i.label })) : [];
  }

  private changed = () => {
    const { app } = this.props, f = this.field.current!;
    app.draft = f.value;
    app.save();
    const w = writing(f.value, f.selectionStart);
    if (w?.kind === '@' && w.query !== this.query) {
      this.query = w.query;
      app.send({ type: 'complete', id: ++this.asked, query: w.query });
    }
    if (!w) { this.query = undefined; app.completions = undefined; }
    this.setState({ at: 0, closed: w && `${w.kind}${w.from}` === this.state.closed ? this.state.closed : '' });
  };

  private take(offer: Offer): void {
    const { app } = this.props, f = this.field.current!, w = this.writing;
    if (!w) { return; }
    const put = taken(f.value, f.selectionStart, w, offer.name);
    if (w.kind === '@') { app.send({ type: 'attachCompletion', completion: offer.id }); }
    f.focus();
    f.setSelectionRange(w.from, f.selectionStart);
    document.execCommand('insertText', false, put); // as if it were typed, so that it can be undone; changed() hears of it
  }

  get listed(): boolean { return this.offers().length > 0; }
  close(): boolean {
    const w = this.writing;
    if (w && this.offers().length > 0) { this.setState({ closed: `${w.kind}${w.from}` }); return true; }
    return false;
  }

  /** Does an act of the keys; whether it was one of the composer's. */
  act(a: Act): boolean {
    const offers = this.offers(), n = offers.length;
    switch (a) {
      case 'send': this.send('queue'); return true;
      case 'steer': this.send('steer'); return true;
      case 'interrupt': this.send('interrupt'); return true;
      case 'listUp': this.setState({ at: (this.state.at + n - 1) % n }); return true;
      case 'listDown': this.setState({ at: (this.state.at + 1) % n }); return true;
      case 'listTake': if (offers[this.state.at]) { this.take(offers[this.state.at]!); } return true;
      case 'lastOwn': return this.lastOwn();
      default: return false;
    }
  }

  private lastOwn(): boolean {
    const { app } = this.props, queued = app.model?.queue.at(-1), own = app.model?.entries.findLast(e => e.kind === 'own');
    if (queued) { app.editing = queued.item; app.redraw(); return true; }
    if (own?.kind === 'own') { app.take({ type: 'draft', text: own.text, replace: true }); return true; }
    return false;
  }

  send(when: 'queue' | 'steer' | 'interrupt'): void {
    const { app } = this.props, text = app.draft;
    const c = condition(app.view, app.run, app.model), takes = takesText(c); // what has come since the last frame counts
    if (!text.trim() && app.chips.length === 0 || takes === 'no') { return; }
    if (takes === 'type' || !app.run) {
      if (app.view?.starting && (c === 'connecting' || c === 'signIn')) {
        app.later = { agent: app.view.starting.agent, run: app.run };
        app.notice = { text: t('It is sent when the agent is ready.') };
        app.redraw();
      } else if (c === 'loading' && app.run) { // its events are on their way
        app.later = { agent: '', run: app.run };
      }
      return;
    }
    if (when === 'steer' && app.working && app.agent && !app.agent.can.includes('steer')) { app.notice = { text: t('This agent can’t be steered. It gets this prompt next.') }; } else { app.notice = undefined; }
    app.send({ type: 'prompt', run: app.run, text, when, chips: app.chips.map(ch => ch.id) });
    app.draft = '';
    app.save();
    app.onSent();
    app.redraw();
  }

  private pasted = (e: ClipboardEvent) => {
    const images = [...e.clipboardData?.files ?? []].filter(f => f.type.startsWith('image/'));
    if (images.length > 0) { e.preventDefault(); this.images(images); }
  };

  private dropped = (e: DragEvent) => {
    e.preventDefault();
    this.setState({ over: false });
    const { app } = this.props, files = [...e.dataTransfer?.files ?? []].filter(f => f.type.startsWith('image/'));
    const uris = (e.dataTransfer?.getData('application/vnd.code.uri-list') || e.dataTransfer?.getData('text/uri-list') || '').split(/\r?\n/).filter(u => u && !u.startsWith('#')).slice(0, 50);
    if (uris.length > 0) { app.send({ type: 'attachUris', uris }); } else if (files.length > 0) { this.images(files); } else { app.notice = { text: t('Nothing here can go along with a message: drop files or images.'), error: true }; app.redraw(); }
  };

  private images(files: File[]): void {
    const { app } = this.props;
    for (const f of files) {
      const mime = (['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const).find(m => m === f.type);
      if (!mime || f.size > mostImage) {
        app.notice = { text: mime ? t('{0} is larger than 5 MB.', f.name) : t('{0} is not PNG, JPEG, GIF or WebP.', f.name || f.type), error: true };
        app.redraw();
        continue;
      }
      const reader = new FileReader();
      reader.onload = () => app.send({ type: 'attachImage', name: f.name.slice(0, 200) || t('Image'), mime, data: String(reader.result).replace(/^[^,]*,/, '') });
      reader.readAsDataURL(f);
    }
  }

  private placeholder(): string {
    const { c } = this.props;
    switch (c) {
      case 'first': return t('Pick an agent');
      case 'untrusted': return t('Trust this folder first');
      case 'readOnly': return t('This agent can’t resume');
      case 'stopped': case 'interrupted': return t('Continue, or say what next');
      default: return t('Ask, or @ for context');
    }
  }

  render() {
    const { app, c } = this.props, { at, over } = this.state;
    const offers = this.offers(), chosen = offers[Math.min(at, offers.length - 1)], disabled = takesText(c) === 'no';
    return (
      <div class={`composer ${over ? 'over' : ''}`} onDragOver={e => { e.preventDefault(); if (!over) { this.setState({ over: true }); } }} onDragLeave={() => this.setState({ over: false })} onDrop={this.dropped}>
        {app.notice && <div class={`notice ${app.notice.error ? 'bad' : 'dim'}`} role="note"><span class="what">{readable(app.notice.text)}</span><button type="button" class="icon-only" aria-label={t('Dismiss')} onClick={() => { app.notice = undefined; app.redraw(); }}><Icon name="cross" /></button></div>}
        {app.chips.length > 0 && <ul class="chips" aria-label={t('Context')}>{app.chips.map(ch => (
          <li key={ch.id} class={`chip ${ch.hidden ? 'hidden' : ''}`} title={visible(ch.hidden ? t('Hidden from agent') : ch.detail ?? ch.label)}>
            <Icon name={icons[ch.kind] ?? 'file'} /><span>{visible(ch.label)}</span>
            <button type="button" class="icon-only" aria-label={t('Remove {0}', ch.label)} onClick={() => app.send({ type: 'detach', chip: ch.id })}><Icon name="cross" /></button>
          </li>
        ))}</ul>}
        {offers.length > 0 && <ul class="offers" role="listbox" id="offers" aria-label={t('Suggestions')}>{offers.map((o, i) => (
          <li key={o.id} id={`offer-${i}`} role="option" aria-selected={o === chosen} class={o === chosen ? 'chosen' : ''} onMouseDown={e => { e.preventDefault(); this.take(o); }}
            ref={e => { if (e && o === chosen) { e.scrollIntoView({ block: 'nearest' }); } }}>
            <Icon name={o.icon} /><span>{visible(o.label)}</span>{o.detail && <span class="dim">{visible(o.detail)}</span>}
          </li>
        ))}</ul>}
        <div class="box">
          <textarea ref={this.field} rows={1} value={app.draft} disabled={disabled} placeholder={over ? t('Hold Shift to drop') : this.placeholder()} aria-label={t('Message to the agent')} maxLength={256 << 10}
            aria-haspopup="listbox" aria-autocomplete="list" aria-controls={offers.length > 0 ? 'offers' : undefined} aria-activedescendant={chosen ? `offer-${offers.indexOf(chosen)}` : undefined}
            onInput={this.changed} onClick={this.changed} onBlur={() => this.setState({})} onPaste={this.pasted} onKeyUp={e => { if (e.key === 'ArrowLeft' || e.key === 'ArrowRight') { this.changed(); } }} />
          <Foot app={app} c={c} send={when => this.send(when)} />
        </div>
      </div>
    );
  }
}
