// The rows on the screen, of which only those near it are drawn.
import type { Row } from '../rows';
import { Window, type Anchor } from '../window';
import { el } from './el';

export interface Draws {
  draw(row: Row, at: HTMLElement): void;
  name(row: Row): string;
  gone(at: HTMLElement): void;
}

/** A row in the page; dirty while it was drawn and not measured. */
interface Shown { el: HTMLElement; v: string; row: Row; dirty: boolean }

export class Transcript {
  readonly element = el('div', 'transcript');
  private readonly above = el('div');
  private readonly body = el('div', 'rows');
  private readonly below = el('div');
  private readonly window = new Window();
  private readonly shown = new Map<string, Shown>();
  private rows: Row[] = [];
  private byKey = new Map<string, Row>();
  private anchor: Anchor | undefined;
  /** Whether the view goes along with the end. */
  stuck = true;
  private setTo = -1;
  /** How high the content and the view were then; without a height, the view is hidden. */
  private laid = { content: 0, view: 0 };
  /** The row that the keys are for. */
  current: string | undefined;
  private width = 0;
  private drawn: [number, number] = [0, 0];
  private marked: string | undefined;

  constructor(private readonly draws: Draws, private readonly moved: () => void) {
    this.element.tabIndex = -1;
    this.element.append(this.above, this.body, this.below);
    this.element.addEventListener('scroll', () => this.scrolled(), { passive: true });
    this.body.addEventListener('focusin', e => {
      const key = (e.target as HTMLElement).closest<HTMLElement>('.row')?.dataset.key;
      if (key && key !== this.current) { this.makeCurrent(key); }
    });
    const sized = new ResizeObserver(() => { this.measureAll(); this.layout(); this.moved(); });
    sized.observe(this.element);
    sized.observe(this.body);
  }

  reset(): void {
    for (const [key] of this.shown) { this.take(key); }
    this.stuck = true;
    this.anchor = undefined;
    this.current = undefined;
  }

  /** Where the view stands; undefined at the end. */
  place(): Anchor | undefined { return this.stuck ? undefined : this.anchor; }
  restore(anchor: Anchor): void { this.anchor = anchor; this.stuck = false; this.layout(); }

  update(rows: Row[]): void {
    this.rows = rows;
    this.byKey = new Map(rows.map(r => [r.key, r]));
    this.body.role = rows.length > 0 ? 'feed' : null;
    if (this.anchor && !this.byKey.has(this.anchor.row)) { this.nearest(); }
    this.window.setRows(rows.map(r => r.key));
    if (!this.current || !this.byKey.has(this.current)) { this.current = rows.at(-1)?.key; }
    this.layout();
  }

  /** When the anchored row is gone, the one that stands at its place is it. */
  private nearest(): void {
    const i = this.window.index(this.anchor!.row);
    for (let d = 1; d < this.window.count; d++) {
      for (const n of [i + d, i - d]) {
        const key = this.window.key(n);
        if (key && this.byKey.has(key)) { this.anchor = { row: key, offset: 0 }; return; }
      }
    }
  }

  private scrolled(): void {
    const y = this.element.scrollTop;
    if (Math.abs(y - this.setTo) < 2) { return; } // that was us
    if (this.stuck && (this.laid.content !== this.element.scrollHeight || this.laid.view !== this.element.clientHeight)) { // it was moved by what is higher or lower now
      this.layout();
      return;
    }
    const left = this.element.scrollHeight - y - this.element.clientHeight;
    this.stuck = left < 2 || left < 24 && y > this.setTo; // however little it is moved up, it stays there
    this.setTo = y;
    this.anchor = this.window.anchor(y);
    this.layout();
    this.moved();
  }

  layout(): void {
    const view = this.element.clientHeight;
    if (view === 0) {
      this.laid.view = 0;
      return;
    }
    if (this.element.clientWidth !== this.width) {
      this.width = this.element.clientWidth;
      this.measureAll();
      this.element.classList.toggle('wide', this.width >= 700);
    }
    for (let pass = 0; pass < 4; pass++) {
      const y = this.target(view), [from, to] = this.window.range(y, view);
      if (!this.fill(from, to)) { break; }
    }
    const y = this.target(view), [from, to] = this.drawn;
    this.spacer(this.above, this.window.top(from));
    this.spacer(this.below, Math.max(0, this.window.total - this.window.top(to)));
    if (Math.abs(this.element.scrollTop - y) >= 1) {
      this.element.scrollTop = y;
    }
    this.setTo = this.element.scrollTop;
    this.laid = { content: this.element.scrollHeight, view };
    this.anchor ??= this.window.anchor(y);
    if (this.stuck) { this.anchor = this.window.anchor(y); }
  }

  private spacer(at: HTMLElement, height: number): void {
    const style = `${height}px`;
    if (at.style.height !== style) { at.style.height = style; }
  }

  private target(view: number): number {
    const end = Math.max(0, this.window.total - view);
    if (this.stuck) { return end; }
    const y = this.anchor && this.window.scrollOf(this.anchor);
    return Math.min(y ?? end, end);
  }

  /** Draws these rows, measures them, and says whether that has changed where they are. */
  private fill(from: number, to: number): boolean {
    const focused = document.activeElement?.closest<HTMLElement>('.row')?.dataset.key;
    const wanted = this.rows.slice(from, to), keep = new Set(wanted.map(r => r.key));
    for (const key of [...this.shown.keys()]) {
      if (!keep.has(key) && (key !== focused || !this.byKey.has(key))) { this.take(key); } // what has the focus stays
    }
    if (focused && !keep.has(focused) && this.byKey.has(focused)) {
      const i = this.window.index(focused);
      if (i < from) { wanted.unshift(this.byKey.get(focused)!); } else { wanted.push(this.byKey.get(focused)!); }
    }
    let before: HTMLElement | null = null;
    for (const row of wanted) {
      const at = this.put(row);
      const next: ChildNode | null = before ? before.nextSibling : this.body.firstChild;
      if (next !== at) { this.body.insertBefore(at, next); }
      at.classList.toggle('away', !keep.has(row.key));
      before = at;
    }
    const fresh = wanted.filter(r => keep.has(r.key)).map(r => this.shown.get(r.key)!).filter(r => r.dirty);
    const heights = fresh.map(r => r.el.getBoundingClientRect().height);
    let changed = false;
    fresh.forEach((r, n) => {
      r.dirty = false;
      changed = this.window.measured(r.row.key, heights[n]!) || changed;
    });
    this.drawn = [from, to];
    return changed;
  }

  private put(row: Row): HTMLElement {
    let s = this.shown.get(row.key);
    if (!s) {
      const at = el('article', 'row');
      at.dataset.key = row.key;
      s = { el: at, v: '', row, dirty: true };
      this.shown.set(row.key, s);
    }
    const i = this.window.index(row.key);
    const place = String(i + 1), size = String(this.rows.length);
    if (s.el.ariaPosInSet !== place) { s.el.ariaPosInSet = place; }
    if (s.el.ariaSetSize !== size) { s.el.ariaSetSize = size; }
    if (s.v !== row.v) {
      s.v = row.v;
      s.row = row;
      s.dirty = true;
      s.el.className = `row ${row.entry.kind}${row.depth > 0 ? ` nested nested${Math.min(row.depth, 3)}` : ''}${row.key === this.marked ? ' marked' : ''}`;
      this.draws.draw(row, s.el);
      s.el.ariaLabel = this.draws.name(row);
      s.el.ariaBusy = 'done' in row.entry && !row.entry.done ? 'true' : null;
      this.reach(s.el, row.key === this.current);
    }
    return s.el;
  }

  /** One row can be reached by Tab, and what is in it. */
  private reach(at: HTMLElement, reachable: boolean): void {
    at.tabIndex = reachable ? 0 : -1;
    for (const e of at.querySelectorAll<HTMLElement>('button, [role=link], input, textarea')) { e.tabIndex = reachable ? 0 : -1; }
    for (const e of at.querySelectorAll<HTMLElement>('pre, .table, .ask-detail, .thought-text')) { e.tabIndex = reachable && (e.scrollWidth > e.clientWidth || e.scrollHeight > e.clientHeight) ? 0 : -1; } // to be scrolled by keys
  }

  private take(key: string): void {
    const s = this.shown.get(key);
    if (s) {
      this.draws.gone(s.el);
      s.el.remove();
      this.shown.delete(key);
    }
  }

  private makeCurrent(key: string): void {
    const before = this.current && this.shown.get(this.current);
    this.current = key;
    if (before) { this.reach(before.el, false); }
    const now = this.shown.get(key);
    if (now) { this.reach(now.el, true); }
  }

  /** Has all rows measured again: something in them, or their width, is another. */
  private measureAll(): void { for (const s of this.shown.values()) { s.dirty = true; } }

  /** Draws all that is shown anew. */
  refresh(): void {
    for (const s of this.shown.values()) { s.v = ''; }
    this.layout();
  }

  /** Brings a row to the screen; near: only as far as it takes. */
  to(key: string, near = false): void {
    const i = this.window.index(key);
    if (i < 0) { return; }
    for (let pass = 0; pass < 3; pass++) { // rows that come are measured then
      const view = this.element.clientHeight, top = this.window.top(i), high = this.window.height(i);
      const y = this.element.scrollTop;
      if (near && top >= y && top + high <= y + view) { return; }
      const to = near && top + high > y + view && high < view ? top + high - view : near ? top : Math.max(0, top - view / 4);
      this.stuck = to >= this.window.total - view - 1;
      this.anchor = this.window.anchor(Math.max(0, to));
      this.layout();
    }
    this.moved();
  }

  end(): void {
    this.stuck = true;
    this.layout();
    this.moved();
  }

  /** Moves by so many views or rows from the current one, and focuses it. */
  focus(key: string | undefined): void {
    if (!key || !this.byKey.has(key)) { return; }
    this.makeCurrent(key);
    this.to(key, true);
    this.shown.get(key)?.el.focus({ preventScroll: true });
  }

  step(by: number): void { this.focus(this.rows[Math.min(this.rows.length - 1, Math.max(0, this.window.index(this.current ?? '') + by))]?.key); }
  edge(end: boolean): void { this.focus((end ? this.rows.at(-1) : this.rows[0])?.key); if (end) { this.end(); } }
  page(by: number): void {
    const view = this.element.clientHeight, i = this.window.index(this.current ?? '');
    const to = this.window.row(Math.max(0, this.window.top(Math.max(0, i)) + by * view * 0.9));
    this.focus(this.rows[to === i ? Math.min(this.rows.length - 1, Math.max(0, i + by)) : to]?.key);
  }
  next(fits: (row: Row) => boolean, by: number): void {
    const start = this.current && document.activeElement?.closest('.row') ? this.window.index(this.current) : this.window.row(this.element.scrollTop + (by > 0 ? 1 : 0)) + (by > 0 ? -1 : 0) + (this.stuck && by < 0 ? this.rows.length : 0);
    for (let i = Math.min(start, this.rows.length) + by; i >= 0 && i < this.rows.length; i += by) {
      if (fits(this.rows[i]!)) { this.focus(this.rows[i]!.key); return; }
    }
  }

  mark(key: string | undefined): void {
    for (const k of [this.marked, key]) { if (k) { this.shown.get(k)?.el.classList.toggle('marked', k === key); } }
    this.marked = key;
  }

  row(key: string | undefined): Row | undefined { return key === undefined ? undefined : this.byKey.get(key); }
  elementOf(key: string): HTMLElement | undefined { return this.shown.get(key)?.el; }

  /** The rows of which something is on the screen. */
  visible(): Row[] {
    const y = this.element.scrollTop, view = this.element.clientHeight;
    return this.rows.slice(this.window.row(y), this.window.row(y + view) + 1);
  }
}
