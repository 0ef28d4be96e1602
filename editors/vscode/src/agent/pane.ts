// One page of the Agent view, in the side bar or in an editor, and the run that it shows.
import * as vscode from 'vscode';
import { Chips } from './chips';
import { Completions } from './complete';
import type { ToPage, View } from './messages';
import { Outbox } from './outbox';
import type { Runs } from './runs';

/** How many events a page gets at first, and with each step back. */
const newest = 300, step = 300;

/** What a pane shows beside the events. */
export interface Facts {
  runs: Runs;
  view(pane: Pane): View;
  changes(run: string): ToPage | undefined;
  hunks(run: string): ToPage | undefined;
  /** A pane shows another run. */
  turned(): void;
}

export class Pane {
  run: string | undefined;
  readonly chips = new Chips(() => this.put('chips', () => ({ type: 'chips', chips: this.chips.chips })));
  readonly completions = new Completions();
  /** The questions on its screen. */
  seen: string[] = [];
  /** The run that the page had before, until it is known which there are. */
  had: string | undefined;
  /** Whether what is shown was chosen: by a person, or for want of that when the runs were known. */
  chosen = false;
  /** The page has said that it is there, and which run it had. */
  ready = false;
  private at = 0; // the last event that the page has of its run
  private follows = false;
  private later: ToPage[] = []; // for a page that is not there yet
  private readonly outbox: Outbox;

  constructor(readonly webview: vscode.Webview, readonly visible: () => boolean, private readonly facts: Facts) {
    this.outbox = new Outbox(message => void webview.postMessage(message));
  }

  /** Sends a message in its turn, in the place of one that waits under the same key. */
  put(key: string, make: () => ToPage | undefined): void {
    if (this.ready) {
      this.outbox.put(key, make);
    }
  }

  /** Sends a message that stands for itself, later if the page is not there yet. */
  send(message: ToPage): void {
    if (this.ready) {
      this.outbox.put(`${message.type} ${++single}`, () => message);
    } else {
      this.later = [...this.later.slice(-20), message];
    }
  }

  notice(text: string, error = false): void { this.send({ type: 'notice', text, ...(error ? { error } : {}) }); }

  /** The page is there, or is there anew: it knows nothing but the run that it had. */
  begin(had: string | undefined): void {
    this.outbox.clear();
    this.had = had ?? this.had;
    this.ready = true;
    this.follows = false;
    this.seen = [];
    this.showRun();
    this.put('chips', () => ({ type: 'chips', chips: this.chips.chips }));
    this.later.splice(0).forEach(m => this.send(m));
  }

  /** The page is not on the screen, and VS Code has ended it: what is said now is for the next one. */
  rest(): void {
    this.outbox.clear();
    this.ready = false;
    this.seen = [];
  }

  /** Shows a run; without one, the agents. */
  select(run: string | undefined): void {
    this.turn(run);
    this.showRun();
  }

  /** Takes it that the page shows a run. */
  turn(run: string | undefined): void {
    this.chosen = true;
    if (run !== this.run) {
      this.run = run;
      this.follows = false;
      this.seen = [];
      this.facts.turned();
    }
  }

  private showRun(): void {
    this.showView();
    if (!this.chosen) {
      return; // the page keeps what it had until it is known which runs there are
    }
    this.put('select', () => ({ type: 'select', ...(this.run ? { run: this.run } : {}) }));
  }

  showView(): void { this.put('view', () => ({ type: 'view', view: this.facts.view(this) })); }

  showChanges(): void {
    const { run } = this;
    if (run) {
      this.put('changes', () => run === this.run ? this.facts.changes(run) : undefined);
      this.put('hunks', () => run === this.run ? this.facts.hunks(run) : undefined);
    }
  }

  /** Sends the events of the run from now on: those after since if that is possible, or else the newest. */
  async follow(since: number | undefined): Promise<void> {
    const { run } = this;
    if (!run) {
      return;
    }
    const log = await this.facts.runs.open(run);
    if (run !== this.run) {
      return;
    }
    this.follows = true;
    if (since !== undefined && log.after(since)) {
      this.at = since;
      this.showEvents();
    } else {
      this.reset();
    }
    this.showChanges();
    this.put('commands', () => run === this.run ? { type: 'commands', run, commands: log.commands } : undefined);
    this.showView();
  }

  private reset(): void {
    this.put('events', () => {
      const log = this.facts.runs.log(this.run);
      if (!log || !this.run) {
        return undefined;
      }
      const part = log.newest(newest);
      this.at = log.last;
      return { type: 'reset', run: this.run, ...part, next: log.last };
    });
  }

  /** There are new events in the run. */
  showEvents(): void {
    if (!this.follows) {
      return;
    }
    this.put('events', () => {
      const log = this.facts.runs.log(this.run);
      if (!log || !this.run) {
        return undefined;
      }
      const events = log.after(this.at), after = this.at;
      this.at = log.last;
      return events ? { type: 'events', run: this.run, after, events } : { type: 'reset', run: this.run, ...log.newest(newest), next: log.last };
    });
  }

  async older(before: number): Promise<void> {
    const { run } = this;
    if (run) {
      const part = await this.facts.runs.older(run, before, step);
      this.send({ type: 'older', run, ...part });
    }
  }

  dispose(): void { this.outbox.clear(); }
}

let single = 0; // messages that stand for themselves, each under a key of its own
