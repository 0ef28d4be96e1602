// A run as its events have told it: what was said and done in its order, and where it stands. Pure.
import { type AgentEvent, type Call, type Image, type Item, type Option, type PlanEntry, type RunState, type Usage, withdrawn } from '../event';
import { clean, most } from './clean';

interface Base {
  /** Stays the same when the run is read again. */
  key: string;
  /** Of the first event. */
  seq: number;
  /** When it was begun to be told, in milliseconds; 0 when that isn't known. */
  time: number;
  /** The call of the sub-agent whose it is. */
  parent?: string;
  /** Counts its changes. */
  v: number;
}
export interface Own extends Base { kind: 'own'; text: string; steered?: boolean }
export interface Message extends Base { kind: 'text' | 'thought'; text: string; role: string; done: boolean; cut: number; took?: number }
export type CallState = 'proposed' | 'allowed' | 'denied' | 'running' | 'completed' | 'failed' | 'stopped';
export interface CallEntry extends Base {
  kind: 'call'; call: Call; state: CallState;
  output: string; cut: number;
  started?: number; ended?: number;
  /** A person has stopped its command. */
  halted?: boolean;
  images?: Image[];
  by?: string; asked?: string; raw?: string; result?: string;
  /** The person at the page, or another of the run, has said no. */
  byPerson?: boolean;
}
export interface Question extends Base {
  kind: 'question'; id: string; text: string; options: Option[]; call?: Call; expiresAt?: number; irrecoverable: boolean; custom: boolean;
  /** How commands begin that a rule can allow for good. */
  always?: string;
  answer?: string; by?: string; closed: boolean;
}
export interface Plan extends Base { kind: 'plan'; plan: PlanEntry[]; changed: Set<number> }
export interface Line extends Base { kind: 'note' | 'compaction' | 'other'; name: string; text: string; raw?: string; /** Of a summary: its number. */ ref?: string }
export interface Picture extends Base { kind: 'image'; text: string; images: Image[] }
export interface Child extends Base { kind: 'child'; run: string; title: string }
export interface End extends Base { kind: 'end'; reason: string; text: string; took?: number; calls: number; files: number }
export type Entry = Own | Message | CallEntry | Question | Plan | Line | Picture | Child | End;

/** Whether the command of a call can be stopped alone: the server runs it. */
export const stoppable = (c: CallEntry): boolean => c.state === 'running' && !c.halted && (c.call.uri?.startsWith('terminal:') ?? false);

/** Whether a call only looks at things, so that several of them are told in one line. */
export const looks = (kind: string | undefined): boolean => kind === 'read' || kind === 'search' || kind === 'fetch';

export class Model {
  entries: Entry[] = [];
  /** Of the newest event. */
  seq = 0;
  agent = ''; title = '';
  state: RunState = 'idle';
  reason = ''; retryAt = 0; attempt = 0;
  step = 0;
  /** When the agent was last set to work. */
  workSince = 0;
  /** When something was last told. */
  last = 0;
  queue: Item[] = []; paused = false;
  plan: PlanEntry[] = [];
  usage: Usage | undefined;
  /** The latest summary of the conversation, which alone can be changed. */
  summary: Line | undefined;
  readonly open = new Map<string, Question>();

  private readonly keys = new Map<string, number>();
  private readonly calls = new Map<string, CallEntry>();
  /** Messages of this step that are not settled. */
  private readonly growing = new Map<string, Message>();
  private planned: Plan | undefined;
  private stepAt = 0;
  /** All events but the parts of what is settled, to read the run anew when older ones come. */
  private events: AgentEvent[] = [];

  constructor(readonly run: string) {}

  /** The seq of the oldest event, 0 without one. */
  get oldest(): number { return this.events[0]?.seq ?? 0; }

  /** Takes in events; those that are known already and those of other runs are left out. */
  apply(events: readonly unknown[]): void {
    for (const each of events) {
      const e = clean(each);
      if (e && e.run === this.run && e.seq > this.seq) {
        this.seq = e.seq;
        this.events.push(e);
        this.take(e);
      }
    }
  }

  /** A model with these older events before those that there are. */
  withOlder(events: readonly unknown[]): Model {
    const whole = new Model(this.run);
    whole.apply([...events.filter(e => { const c = clean(e); return c && c.seq < this.oldest; }), ...this.events]);
    whole.seq = Math.max(whole.seq, this.seq);
    return whole;
  }

  private key(base: string): string {
    const n = (this.keys.get(base) ?? 0) + 1;
    this.keys.set(base, n);
    return n === 1 ? base : `${base}~${n}`;
  }

  private add<T extends Entry>(entry: T): T {
    this.entries.push(entry);
    return entry;
  }

  private take(e: AgentEvent): void {
    const time = Date.parse(e.time) || 0;
    const base = (key: string): Base => ({ key: this.key(key), seq: e.seq, time, v: 0, ...(e.parent ? { parent: e.parent } : {}) });
    const before = this.last;
    this.last = time || this.last;
    if (e.kind === 'text' || e.kind === 'thought' || e.kind.startsWith('call.')) { this.retryAt = 0; }
    switch (e.kind) {
      case 'run.start':
        this.agent = e.agent ?? ''; this.title = e.title ?? this.title;
        return;
      case 'step.start':
        this.settle();
        this.step = e.step ?? this.step + 1;
        this.workSince = time;
        this.stepAt = this.entries.length;
        this.planned = undefined;
        return;
      case 'text':
      case 'thought':
        return this.takeMessage(e, before || time, time);
      case 'steer':
        this.add({ ...base(`u:${e.message ?? e.seq}`), kind: 'own', text: e.text ?? '', steered: true });
        return;
      case 'call.proposed': case 'call.decided': case 'call.started': case 'call.output': case 'call.finished':
        return this.called(e, time);
      case 'question':
        return this.asked(e, base);
      case 'answered': {
        const q = this.open.get(e.question ?? '');
        if (q) {
          this.open.delete(q.id);
          Object.assign(q, { answer: e.answer ?? '', by: e.by ?? e.reason ?? '', closed: true });
          q.v++;
          const no = q.options.find(o => o.id === e.answer)?.kind?.startsWith('reject') ?? false;
          if (q.call) {
            this.touch(q.call.call, c => {
              delete c.asked;
              if (no) { c.state = 'denied'; c.byPerson = true; }
            });
          }
        }
        return;
      }
      case 'plan':
        return this.plans(e.plan ?? [], base);
      case 'queue':
        this.queue = e.items ?? []; this.paused = e.paused ?? false;
        return;
      case 'usage':
        this.usage = e.usage ?? this.usage;
        return;
      case 'state':
        this.state = e.state ?? this.state;
        this.reason = e.reason ?? ''; this.retryAt = e.retryAt ? Date.parse(e.retryAt) || 0 : 0; this.attempt = e.attempt ?? 0;
        return;
      case 'child':
        this.add({ ...base(`k:${e.child ?? e.seq}`), kind: 'child', run: e.child ?? '', title: e.title ?? e.text ?? '' });
        return;
      case 'run.end':
        return this.ended(e, base);
      case 'note':
        this.title = e.title || this.title;
        if (e.reason === 'withdrawn') { this.withdraw(e); }
        if (e.reason === 'stopped' && e.call && this.calls.has(e.call.call)) {
          this.touch(e.call.call, c => { c.halted = true; }); // its row says so
        } else if (e.reason === 'image') {
          this.add({ ...base(`i:${e.seq}`), kind: 'image', text: e.text ?? '', images: e.images ?? [] });
        } else if (e.text || e.raw !== undefined) {
          this.add({ ...base(`e:${e.seq}`), kind: e.text ? 'note' : 'other', name: e.reason ?? '', text: e.text ?? '', raw: e.raw as string | undefined });
        }
        return;
      case 'compaction':
        {
          const line: Line = this.add({ ...base(`e:${e.seq}`), kind: 'compaction', name: e.reason ?? '', text: e.text ?? '', raw: e.raw as string | undefined, ref: e.ref });
          if (e.reason === 'summary' || e.reason === 'restored') {
            if (this.summary) { this.summary.v++; } // it loses its buttons
            this.summary = e.reason === 'summary' ? line : undefined;
          }
        }
        return;
      default:
        this.add({ ...base(`e:${e.seq}`), kind: 'other', name: e.kind, text: e.text ?? '', raw: (e.raw as string | undefined) ?? JSON.stringify(e).slice(0, most.raw) });
    }
  }

  private takeMessage(e: AgentEvent, before: number, time: number): void {
    const kind = e.kind as 'text' | 'thought', role = e.role ?? 'assistant';
    if (role === 'user' && !e.parent) { // what a sub-agent is told is no message of the person's
      const id = `u:${e.message ?? e.seq}`, last = this.growing.get(id);
      if (!last) { this.add({ key: this.key(id), seq: e.seq, time, v: 0, kind: 'own', text: e.text ?? e.delta ?? '' }); }
      return;
    }
    const id = `${kind === 'text' ? 'm' : 't'}:${e.message ?? ''}`;
    let message = this.growing.get(id);
    if (!message) {
      this.settle(); // a message ends where another begins
      message = this.add<Message>({ key: this.key(id), seq: e.seq, time: before, v: 0, kind, role, text: '', done: false, cut: 0, parent: e.parent });
      this.growing.set(id, message);
    }
    if (e.delta) {
      message.text += e.delta;
      if (message.text.length > most.text) {
        message.cut += message.text.length - most.text;
        message.text = message.text.slice(0, most.text);
      }
    } else {
      const parts = message.text !== '';
      message.text = e.text ?? message.text;
      message.done = true;
      this.growing.delete(id);
      if (parts) { this.events = this.events.filter(o => o.delta === undefined || o.message !== e.message || o.kind !== e.kind || o.seq < message.seq); }
    }
    message.cut += e.cut ?? 0;
    message.took = message.time && time ? time - message.time : undefined;
    message.v++;
  }

  /** Takes back what was shown of a message that is told anew. */
  private withdraw(e: AgentEvent): void {
    for (const [id, message] of this.growing) {
      if (withdrawn(e, id.slice(2))) {
        message.text = ''; message.cut = 0; message.v++;
      }
    }
    this.events = this.events.filter(o => o.delta === undefined || !withdrawn(e, o.message));
  }

  /** Ends the messages of which no end was told. */
  private settle(): void {
    for (const s of this.growing.values()) {
      s.done = true;
      s.v++;
    }
    this.growing.clear();
  }

  private called(e: AgentEvent, time: number): void {
    if (!e.call) { return; }
    for (const s of this.growing.values()) { s.done = true; s.v++; }
    this.growing.clear();
    let c = this.calls.get(e.call.call);
    const over = c && ['completed', 'failed', 'denied', 'stopped'].includes(c.state);
    if (!c || over && (e.kind === 'call.proposed' || e.kind === 'call.started' && c.state !== 'denied')) {
      c = this.add<CallEntry>({ key: this.key(`c:${e.call.call}`), seq: e.seq, time, v: 0, kind: 'call', call: e.call, state: 'proposed', output: '', cut: 0, parent: e.parent });
      this.calls.set(e.call.call, c);
    }
    const known = c.call;
    c.call = { ...known, ...e.call, title: e.call.title || known.title, kind: e.call.kind || known.kind, locations: e.call.locations ?? known.locations, diff: e.call.diff?.length ? e.call.diff : known.diff };
    switch (e.kind) {
      case 'call.proposed':
        c.raw = (e.raw as string | undefined) ?? c.raw;
        break;
      case 'call.decided':
        c.state = e.call.outcome === 'deny' ? 'denied' : 'allowed';
        c.by = e.by;
        break;
      case 'call.started':
        c.state = 'running';
        c.started = time;
        break;
      case 'call.output': {
        const all = e.text !== undefined ? e.text : c.output + (e.delta ?? '');
        c.cut += Math.max(0, all.length - most.text) + (e.cut ?? 0);
        c.output = all.slice(-most.text);
        if (e.images) { c.images = [...c.images ?? [], ...e.images].slice(0, most.images); }
        break;
      }
      case 'call.finished':
        c.state = c.state === 'denied' ? 'denied' : c.halted ? 'stopped' : e.call.outcome === 'failed' ? 'failed' : 'completed';
        c.ended = time;
        c.result = e.raw as string | undefined;
        break;
    }
    c.v++;
  }

  private touch(call: string, change: (c: CallEntry) => void): void {
    const c = this.calls.get(call);
    if (c) {
      change(c);
      c.v++;
    }
  }

  private asked(e: AgentEvent, base: (key: string) => Base): void {
    const id = e.question;
    if (!id || this.open.has(id)) { return; }
    const q = this.add<Question>({
      ...base(`q:${id}`), kind: 'question', id, text: e.text ?? '', options: e.options ?? [], call: e.call,
      expiresAt: e.expiresAt ? Date.parse(e.expiresAt) || undefined : undefined, irrecoverable: e.irrecoverable ?? false, custom: e.custom ?? false, closed: false,
      always: e.irrecoverable ? undefined : e.always && e.always.prefix.join(' ') + (e.always.packages || e.always.host ? '' : ' …'),
    });
    this.open.set(id, q);
    if (e.call) {
      const { call } = e;
      this.touch(call.call, c => {
        c.asked = id;
        c.call = { ...c.call, ...call, diff: call.diff?.length ? call.diff : c.call.diff };
      });
    }
  }

  private plans(plan: PlanEntry[], base: (key: string) => Base): void {
    const changed = new Set<number>();
    if (this.planned) {
      plan.forEach((p, i) => { if (this.plan[i]?.status !== p.status || this.plan[i]?.text !== p.text) { changed.add(i); } });
      Object.assign(this.planned, { plan, changed });
      this.planned.v++;
    } else if (plan.length > 0) {
      this.planned = this.add<Plan>({ ...base(`p:${this.step}`), kind: 'plan', plan, changed });
    }
    this.plan = plan;
  }

  private ended(e: AgentEvent, base: (key: string) => Base): void {
    this.settle();
    this.retryAt = 0;
    const calls = this.entries.slice(this.stepAt).filter(c => c.kind === 'call');
    for (const c of calls) {
      if (c.state === 'running' || c.state === 'proposed' || c.state === 'allowed') {
        c.state = 'stopped';
        c.ended = Date.parse(e.time) || undefined;
        c.v++;
      }
    }
    const files = new Set(calls.filter(c => c.state === 'completed').flatMap(c => c.call.diff?.map(d => d.path) ?? []));
    const end = base(`e:${e.seq}`);
    this.add<End>({ ...end, kind: 'end', reason: e.reason ?? 'done', text: e.text ?? '', took: this.workSince && end.time ? end.time - this.workSince : undefined, calls: calls.length, files: files.size });
  }
}
