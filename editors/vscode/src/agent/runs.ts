// The agents and their runs, as the server tells of them. What was told is asked for again only where it is missing. No
// VS Code in here.
import type { Agent, AgentEvent, RunInfo } from './event';
import { RunLog } from './log';

/** Runs one command of the server. */
export type Ask = <R>(command: string, argument?: object) => Promise<R>;

/** What has changed: the lists, or the events of a run; past are those of before it was known here. */
export type Change = { what: 'lists' } | { what: 'events'; run: string; events: AgentEvent[]; past: boolean };

/** How many events are asked for at once; and after how many milliseconds the lists are, when an event says that they are others. */
const page = 400, pause = 60;

/** Events after which the list of runs says something else. */
const listed = new Set<AgentEvent['kind']>(['run.start', 'run.end', 'state', 'note', 'question', 'answered', 'queue', 'child', 'usage', 'step.start']);

interface Known { log: RunLog; waiting: AgentEvent[]; filling?: Promise<void> }

export class Runs {
  agents: Agent[] = [];
  list: RunInfo[] = [];
  /** Whether it is known which runs there are. */
  listed = false;
  private known = new Map<string, Known>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** An agent has started since its row was asked for: what it can and its modes are known by now. */
  private started = false;
  /** The last ask for the lists, the one that comes after it, and whether that asks for everything. */
  private lists: Promise<void> = Promise.resolve();
  private next: Promise<void> | undefined;
  private all = false;

  constructor(private readonly ask: Ask, private readonly onChange: (change: Change) => void, private readonly failed: (error: unknown) => void) {}

  info(run: string | undefined): RunInfo | undefined { return this.list.find(r => r.run === run); }
  agent(name: string | undefined): Agent | undefined { return this.agents.find(a => a.name === name); }
  /** What is known of a run, without asking. */
  log(run: string | undefined): RunLog | undefined { return this.known.get(run ?? '')?.log; }

  /** Every question that is open, with its run. */
  get questions(): AgentEvent[] { return [...this.known.values()].flatMap(k => [...k.log.questions.values()]); }

  /** Takes an event that the server tells. */
  take(event: AgentEvent): void {
    const known = this.knownOf(event.run);
    known.waiting.push(event);
    this.drain(event.run, known);
    this.started ||= event.kind === 'note' && event.reason === 'ready';
    if (listed.has(event.kind)) {
      this.timer ??= setTimeout(() => { this.timer = undefined; void this.refresh(); }, pause);
    }
  }

  /**
   * Asks for the lists, and for what has happened in the runs that are known. One ask follows the other, and those that come
   * while one is under way share the next: a late answer would put back what a newer one has replaced.
   */
  refresh(all = false): Promise<void> {
    this.all ||= all;
    if (!this.next) {
      const lists = this.lists.then(() => this.refreshLists());
      this.lists = lists.then(() => undefined, () => undefined);
      this.next = lists.then(fill => Promise.all(fill.map(run => this.fill(run)))).then(() => undefined, e => this.failed(e));
    }
    return this.next;
  }

  // Asks for the lists; gives the runs whose events are to be asked for.
  private async refreshLists(): Promise<string[]> {
    const all = this.all, rows = all || this.started || this.agents.length === 0;
    this.next = undefined;
    this.all = this.started = false;
    try {
      const [{ runs }, agents] = await Promise.all([
        this.ask<{ runs: RunInfo[] }>('sidecar.agent.runs', { all: true }),
        rows ? this.ask<{ agents: Agent[] }>('sidecar.agent.list').then(r => r.agents) : this.agents,
      ]);
      this.list = [...runs].reverse(); // the newest first
      this.agents = agents;
      this.listed = true;
      this.onChange({ what: 'lists' });
      return [...(all ? this.known.keys() : []), ...runs.filter(r => r.waitingFor && !this.known.has(r.run)).map(r => r.run)];
    } catch (e) {
      this.all ||= all;
      this.started ||= rows;
      throw e;
    }
  }

  /** The newest part of a run. */
  async open(run: string): Promise<RunLog> {
    const known = this.knownOf(run);
    if (known.log.last === 0) {
      await this.fill(run);
    }
    return known.log;
  }

  /** Events before a seq; asks the server when there are not enough here. */
  async older(run: string, before: number, count = page): Promise<{ events: AgentEvent[]; more: boolean }> {
    const { log } = this.knownOf(run);
    if (log.first >= before && log.more) {
      const { events } = await this.ask<{ events: AgentEvent[] }>('sidecar.agent.history', { run, before: log.first, limit: page });
      log.prepend(events, hasOlder(events));
    }
    return log.before(before, count);
  }

  /** All of a run. */
  async whole(run: string): Promise<AgentEvent[]> {
    const log = await this.open(run);
    while (log.more) {
      const first = log.first;
      await this.older(run, first, 1);
      if (log.first === first) {
        break;
      }
    }
    return log.events;
  }

  dispose(): void { clearTimeout(this.timer); }

  private knownOf(run: string): Known {
    let known = this.known.get(run);
    if (!known) {
      this.known.set(run, known = { log: new RunLog(), waiting: [] });
    }
    return known;
  }

  // Takes what waits as far as nothing is missing before it.
  private drain(run: string, known: Known): void {
    const events: AgentEvent[] = [];
    while (!known.filling && known.waiting.length > 0) {
      const next = known.waiting[0]!;
      if (next.seq > known.log.last + 1) {
        void this.fill(run);
        break;
      }
      known.waiting.shift();
      if (next.seq > known.log.last) {
        known.log.push(next);
        events.push(next);
      }
    }
    if (events.length > 0) {
      this.onChange({ what: 'events', run, events, past: false });
    }
  }

  // Asks for what is missing, once at a time; what comes meanwhile waits.
  private fill(run: string): Promise<void> {
    const known = this.knownOf(run);
    return known.filling ??= this.fillNow(run, known).catch(e => this.failed(e)).finally(() => {
      known.filling = undefined;
    });
  }

  private async fillNow(run: string, known: Known): Promise<void> {
    const { log } = known;
    const events: AgentEvent[] = [];
    if (log.last === 0) {
      const newest = await this.ask<{ events: AgentEvent[] }>('sidecar.agent.history', { run, before: known.waiting[0]?.seq ?? Number.MAX_SAFE_INTEGER, limit: page });
      log.prepend(newest.events, hasOlder(newest.events));
      this.onChange({ what: 'events', run, events: newest.events, past: true });
    } else {
      do {
        const part = await this.ask<{ events: AgentEvent[] }>('sidecar.agent.history', { run, since: log.last, limit: page });
        if (part.events.length === 0) {
          break;
        }
        part.events.forEach(e => log.push(e));
        events.push(...part.events);
      } while (log.last + 1 < (known.waiting[0]?.seq ?? Infinity));
    }
    // What the server doesn't have any more, as parts of a message that is whole by now, is not missing.
    while (known.waiting[0]) {
      const next = known.waiting.shift()!;
      if (next.seq > log.last) {
        log.push(next);
        events.push(next);
      }
    }
    if (events.length > 0) {
      this.onChange({ what: 'events', run, events, past: false });
    }
  }
}

// A run's first event has the number 1, and is always kept.
const hasOlder = (events: AgentEvent[]) => events.length > 0 && events[0]!.seq > 1;
