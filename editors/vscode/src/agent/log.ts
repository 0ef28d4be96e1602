// The events of one run, as far as this window has them: each once, in their order. No VS Code in here.
import { type AgentEvent, withdrawn } from './event';

/** How many events are kept, and how many parts of messages that are not over; the server has what goes. */
const most = { events: 8000, parts: 2000, freshParts: 200 };

/** An event, and the first seq of the parts that are joined in it. */
interface Entry { from: number; event: AgentEvent }

export class RunLog {
  private entries: Entry[] = [];
  /** Whether the server has older ones. */
  more = false;
  /** The newest event that was heard of, also when it is not kept. */
  last = 0;
  /** The questions that nobody has answered yet. */
  readonly questions = new Map<string, AgentEvent>();
  /** The prompts that wait, whether they do until resume, and whether some of what comes with them was left out here. */
  queue: { items: NonNullable<AgentEvent['items']>; paused: boolean; cut: boolean } = { items: [], paused: false, cut: false };
  /** The agent's own commands. */
  commands: { name: string; description?: string }[] = [];
  /** The agent's program is on its way, or could not be started and why. */
  starting: { since: number; error?: string } | undefined;
  private queueKnown = false;
  private readonly answered = new Set<string>();

  get events(): AgentEvent[] { return this.entries.map(e => e.event); }
  get first(): number { return this.entries[0]?.from ?? this.last + 1; }

  /** Takes the next event. */
  push(event: AgentEvent): void {
    if (event.seq <= this.last) {
      return;
    }
    this.last = event.seq;
    if ((event.kind === 'text' || event.kind === 'thought') && event.delta === undefined) {
      this.entries = this.entries.filter(({ event: e }) => !(isPart(e) && e.kind === event.kind && e.message === event.message)); // the whole has come
    }
    if (event.kind === 'note' && event.reason === 'withdrawn') {
      this.entries = this.entries.filter(({ event: e }) => !(isPart(e) && withdrawn(event, e.message))); // it is told anew
    }
    this.entries.push({ from: event.seq, event });
    this.note(event);
    if (event.delta !== undefined) {
      this.join();
    }
    if (this.entries.length > most.events) {
      this.entries.splice(0, this.entries.length - most.events / 2);
      this.more = true;
    }
  }

  /** Puts older events before those that are there. */
  prepend(events: AgentEvent[], more: boolean): void {
    const first = this.entries[0]?.from ?? Infinity;
    const older = events.filter(e => e.seq < first);
    for (const e of [...older].reverse()) {
      this.noteOld(e);
    }
    this.entries.unshift(...older.map(event => ({ from: event.seq, event })));
    this.last = Math.max(this.last, this.entries.at(-1)?.event.seq ?? 0);
    this.more = more;
  }

  /** The events after a seq; undefined when they can't be told apart from what is before it, or are not here. */
  after(seq: number): AgentEvent[] | undefined {
    const at = this.entries.findLastIndex(e => e.event.seq <= seq) + 1;
    const next = this.entries[at];
    if (next && next.from <= seq || at === 0 && this.more) {
      return undefined;
    }
    return this.entries.slice(at).map(e => e.event);
  }

  /** The newest events. */
  newest(count: number): { events: AgentEvent[]; more: boolean } {
    return this.slice(this.entries.length, count);
  }

  /** The newest events before a seq. */
  before(seq: number, count: number): { events: AgentEvent[]; more: boolean } {
    return this.slice(this.entries.findLastIndex(e => e.event.seq < seq) + 1, count);
  }

  private slice(end: number, count: number): { events: AgentEvent[]; more: boolean } {
    const start = Math.max(0, end - count);
    return { events: this.entries.slice(start, end).map(e => e.event), more: start > 0 || this.more };
  }

  // What is true of the run now follows from its newest events.
  private note(e: AgentEvent): void {
    switch (e.kind) {
      case 'question':
        if (e.question && !this.answered.has(e.question)) {
          this.questions.set(e.question, e);
        }
        break;
      case 'answered':
        this.questions.delete(e.question ?? '');
        this.answered.add(e.question ?? '');
        break;
      case 'queue':
        this.queueKnown = true;
        this.queue = { items: e.items ?? [], paused: e.paused ?? false, cut: (e.cut ?? 0) > 0 };
        break;
      case 'note':
        this.commands = commandsOf(e) ?? this.commands;
        if (e.reason === 'starting') {
          this.starting = { since: Date.parse(e.time) };
        } else if (e.reason === 'ready') {
          this.starting = undefined;
        } else if (e.reason === 'failed') {
          this.starting = { since: Date.parse(e.time), error: e.text ?? '' };
        }
        break;
      case 'run.end':
        this.starting = undefined; // what failed is said there
    }
  }

  // Of older events, newest first: what is known already is newer.
  private noteOld(e: AgentEvent): void {
    if (e.kind === 'answered' || e.kind === 'question') {
      this.note(e);
    } else if (e.kind === 'note') {
      this.commands = this.commands.length > 0 ? this.commands : commandsOf(e) ?? [];
    } else if (e.kind === 'queue' && !this.queueKnown) {
      this.note(e);
    }
  }

  // A long message has many parts: the older ones become one.
  private join(): void {
    if (this.entries.filter(e => isPart(e.event)).length <= most.parts) {
      return;
    }
    const fresh = this.entries.slice(-most.freshParts), joined: Entry[] = [];
    for (const entry of this.entries.slice(0, -most.freshParts)) {
      const before = joined.at(-1);
      if (before && isPart(before.event) && isPart(entry.event) && before.event.kind === entry.event.kind && before.event.message === entry.event.message) {
        before.event = { ...entry.event, delta: before.event.delta! + entry.event.delta! };
      } else {
        joined.push({ ...entry });
      }
    }
    this.entries = [...joined, ...fresh];
  }
}

const isPart = (e: AgentEvent) => (e.kind === 'text' || e.kind === 'thought') && e.delta !== undefined;

// What an agent says of its commands is one of the things that a run keeps as they came.
function commandsOf(e: AgentEvent): RunLog['commands'] | undefined {
  const list = e.reason === 'available_commands_update' ? (e.raw as { availableCommands?: unknown })?.availableCommands : undefined;
  if (!Array.isArray(list)) {
    return undefined;
  }
  return list.slice(0, 500).flatMap((c: { name?: unknown; description?: unknown }) =>
    typeof c?.name === 'string' ? [{ name: c.name.slice(0, 200), ...(typeof c.description === 'string' ? { description: c.description.slice(0, 1000) } : {}) }] : []);
}
