// What the page knows, and who changes it: messages of the extension, and the hands of a person. Drawn once a frame.
import type { Changes, Chip, Completion, FromPage, Hunks, Saved, ToPage, View } from '../../messages';
import type { AgentEvent } from '../../event';
import type { Act } from '../keys';
import { Model } from '../model';
import { project, rowOf, type Row } from '../rows';
import { speak } from '../words';
import { Pictures } from './pictures';

export interface MenuItem { label: string; hint?: string; run(): void }
export interface Menu { x: number; y: number; items: MenuItem[]; back: HTMLElement | undefined }

interface Host { postMessage(m: FromPage): void; getState(): unknown; setState(s: Saved): void }

export class App {
  view: View | undefined;
  run: string | undefined;
  model: Model | undefined;
  rows: Row[] = [];
  more = false;
  changes: Changes | undefined;
  hunks: Record<string, Hunks> = {};
  chips: Chip[] = [];
  commands: { name: string; description?: string }[] = [];
  completions: { id: number; items: Completion[] } | undefined;
  notice: { text: string; error?: boolean } | undefined;
  menu: Menu | undefined;
  /** The agent whose consent is asked. */
  consent: string | undefined;
  draft = '';
  folds: Record<string, boolean> = {};
  /** Bars and cards that are open, beside rows. */
  readonly opened = new Set<string>();
  readonly pictures = new Pictures(m => this.send(m));
  /** The question that the keys are for, and since when it stands still. */
  asked: { id: string; since: number } | undefined;
  /** The queued item that is being edited. */
  editing: string | undefined;
  /** The agent that starts, or the run that loads: what is in the composer is sent to its run, or its new one, and to no other. */
  later: { agent: string; run: string | undefined } | undefined;
  now = Date.now();

  /** What takes the keys of the composer. */
  composer: { act(a: Act): boolean; close(): boolean; readonly listed: boolean } | undefined;
  /** Set by those who draw. */
  onFrame: () => void = () => undefined;
  onShow: (key: string) => void = () => undefined;
  onFocus: () => void = () => undefined;
  onFind: () => void = () => undefined;
  onSent: () => void = () => undefined;
  onRun: () => void = () => undefined;
  /** Where the view stands, to be kept. */
  anchor: () => Saved['anchor'] = () => undefined;
  restored: Saved['anchor'];

  private pending: { after: number; events: AgentEvent[] }[] = [];
  private readonly foldsOf = new Map<string, Record<string, boolean>>();
  private asking = false;
  private drawing = false;
  private saving: ReturnType<typeof setTimeout> | undefined;
  private showing: number | undefined;
  private detailSet: View['settings']['detail'] | undefined;

  constructor(private readonly host: Host) {
    const s = host.getState() as Saved | undefined;
    if (s && typeof s === 'object') {
      this.run = typeof s.run === 'string' ? s.run : undefined;
      this.draft = typeof s.draft === 'string' ? s.draft : '';
      this.folds = s.folds && typeof s.folds === 'object' ? { ...s.folds } : {};
      this.restored = s.anchor;
      this.pictures.turn(this.run);
    }
  }

  get detail(): View['settings']['detail'] { return this.detailSet ?? this.view?.settings.detail ?? 'steps'; }
  get working(): boolean { return this.model?.state === 'running' || this.model?.state === 'waiting'; }
  get info() { return this.view?.runs.find(r => r.run === this.run); }
  get agent() { const name = this.info?.agent ?? this.model?.agent; return this.view?.agents.find(a => a.name === name); }
  get agentTitle(): string { return this.agent?.title ?? this.info?.agent ?? this.model?.agent ?? ''; }

  send(m: FromPage): void { this.host.postMessage(m); }

  take(m: ToPage): void {
    switch (m.type) {
      case 'view':
        speak(m.view.words ?? {});
        if (m.view.settings.detail === this.detailSet) { this.detailSet = undefined; }
        this.view = m.view;
        break;
      case 'select':
        if (m.run === undefined) { this.leave(undefined); } else { this.follow(m.run); }
        break;
      case 'consent': this.consent = m.agent; break;
      case 'reset':
        if (m.run !== this.run) { return; }
        this.pending = [];
        this.model = new Model(m.run);
        this.model.apply(m.events);
        this.model.seq = Math.max(this.model.seq, m.next);
        this.more = m.more;
        this.asking = false;
        break;
      case 'older':
        if (m.run !== this.run || !this.model) { return; }
        this.model = this.model.withOlder(m.events);
        this.more = m.more && m.events.length > 0;
        this.asking = false;
        if (this.showing !== undefined) { this.show(this.showing); }
        break;
      case 'events':
        if (m.run !== this.run || !this.model) { return; }
        this.pending.push(m);
        break;
      case 'changes': if (m.run !== this.run) { return; } this.changes = m.changes; break;
      case 'hunks': if (m.run !== this.run) { return; } this.hunks = m.calls; break;
      case 'commands': if (m.run !== this.run) { return; } this.commands = m.commands; break;
      case 'image': this.pictures.take(m); return;
      case 'chips': this.chips = m.chips; break;
      case 'completions': this.completions = m; break;
      case 'notice': this.notice = m; break;
      case 'draft':
        this.draft = m.replace || !this.draft ? m.text : m.before ? m.text + this.draft : `${this.draft.trimEnd()}\n${m.text}`;
        this.save();
        break;
      case 'focus': this.onFocus(); break;
      case 'find': this.onFind(); break;
      case 'show':
        if (m.run !== this.run) { this.follow(m.run); }
        this.show(m.seq);
        break;
    }
    this.redraw();
  }

  /** Shows a run, which the extension then tells. */
  follow(run: string): void {
    if (run === this.run && this.model) { return; }
    if (run !== this.run) { this.leave(run); }
    this.model = undefined;
    this.send({ type: 'follow', run });
    this.redraw();
  }

  private leave(run: string | undefined): void {
    if (this.run) { this.foldsOf.set(this.run, this.folds); }
    this.folds = (run && this.foldsOf.get(run)) || {};
    this.run = run;
    this.model = undefined; this.changes = undefined; this.hunks = {}; this.commands = []; this.completions = undefined; this.notice = undefined;
    this.editing = undefined; this.showing = undefined; this.restored = undefined; this.pending = []; this.asking = false; this.more = false;
    this.pictures.turn(run);
    this.onRun();
    this.save();
  }

  private show(seq: number): void {
    this.showing = seq;
    if (this.model && this.model.oldest > seq && this.more) { this.older(); }
  }

  older(): void {
    if (this.more && !this.asking && this.run && this.model) {
      this.asking = true;
      this.send({ type: 'older', run: this.run, before: this.model.oldest });
    }
  }

  fold(key: string, open: boolean): void {
    this.folds = { ...this.folds, [key]: open };
    this.save();
    this.redraw();
  }

  toggle(what: string): void {
    if (!this.opened.delete(what)) { this.opened.add(what); }
    this.redraw();
  }

  setDetail(detail: View['settings']['detail']): void {
    this.detailSet = detail;
    this.send({ type: 'set', detail });
    this.redraw();
  }

  openMenu(at: HTMLElement, items: MenuItem[]): void {
    const box = at.getBoundingClientRect();
    this.menu = { x: box.left, y: box.bottom, items, back: document.activeElement instanceof HTMLElement ? document.activeElement : undefined };
    this.redraw();
  }

  closeMenu(): void {
    const back = this.menu?.back;
    this.menu = undefined;
    back?.focus();
    this.redraw();
  }

  redraw(): void {
    if (!this.drawing) {
      this.drawing = true;
      requestAnimationFrame(() => this.frame());
    }
  }

  private frame(): void {
    this.drawing = false;
    this.now = Date.now();
    this.apply();
    this.rows = this.model ? project(this.model, { detail: this.detail, folds: this.folds, hunks: this.hunks, now: this.now }) : [];
    const first = this.model?.open.values().next().value;
    if (first?.id !== this.asked?.id) { this.asked = first && { id: first.id, since: this.now }; }
    this.onFrame();
    if (this.showing !== undefined && this.model && (this.model.oldest <= this.showing || !this.more)) {
      const key = this.rows[rowOf(this.rows, this.showing)]?.key;
      this.showing = undefined;
      if (key) { this.onShow(key); }
    }
  }

  private apply(): void {
    const batches = this.pending;
    this.pending = [];
    for (const b of batches) {
      if (!this.model) { return; }
      if (b.after > this.model.seq) { // something is missing
        this.send({ type: 'follow', run: this.model.run, since: this.model.seq });
        return;
      }
      this.model.apply(b.events);
    }
  }

  save(): void {
    this.saving ??= setTimeout(() => {
      this.saving = undefined;
      const anchor = this.anchor();
      const saved: Saved = { ...(this.run ? { run: this.run } : {}), draft: this.draft.slice(0, 4000), ...(anchor ? { anchor } : {}), folds: {} };
      let room = 3000;
      for (const [key, open] of Object.entries(this.folds).reverse()) { // the newest that have room
        if ((room -= key.length + 8) < 0) { break; }
        saved.folds![key] = open;
      }
      this.host.setState(saved);
    }, 250);
  }
}
