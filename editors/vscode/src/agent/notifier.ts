// What people see of runs while they look elsewhere: a number on the view, the status bar, and a message that takes
// no focus, for a question that is not on the screen and for the end of a long run.
import * as vscode from 'vscode';
import type { AgentEvent } from './event';
import { visible } from './page/safe';
import type { Pane } from './pane';
import { summary } from './words';
import type { Work } from './work';

const t = vscode.l10n.t;

/** After these milliseconds a question that nobody sees is put as a message; the end of a run that took that long is shown. */
const unseen = 3000, long = 20_000;

export class Notifier implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('sidecar.agents', vscode.StatusBarAlignment.Left, 8);
  private readonly asked = new Map<string, NodeJS.Timeout>(); // by question
  private readonly begun = new Map<string, number>(); // when a run's step began, by run
  private done: string[] = []; // runs that are done and not shown yet
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly work: Work, private readonly panes: () => Pane[], private readonly show: (run: string) => void) {
    this.item.name = t('SideCar: agents');
    this.item.command = 'sidecar.showBusyRun';
  }

  /** How many questions wait. */
  get waiting(): number { return this.work.runs.questions.length; }

  /** Draws what is known of the runs. */
  refresh(): void {
    const { list } = this.work.runs, text = summary(list, t);
    this.item.text = text && `$(hubot) ${text}`;
    this.item.tooltip = list.filter(r => r.state === 'running' || r.state === 'waiting').map(r => `${r.title} · ${r.agent}`).join('\n');
    this.item.backgroundColor = list.some(r => r.state === 'waiting') ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined;
    text ? this.item.show() : this.item.hide();
    const open = new Set(this.work.runs.questions.map(keyOf));
    for (const [key, timer] of this.asked) {
      if (!open.has(key)) {
        clearTimeout(timer);
        this.asked.delete(key);
      }
    }
  }

  /** Takes events of a run as they happen; of those that are past only the questions are news. */
  take(run: string, events: AgentEvent[], past: boolean): void {
    for (const e of events) {
      switch (e.kind) {
        case 'step.start': this.begun.set(run, Date.parse(e.time)); break;
        case 'question': this.await(e); break;
        case 'run.end': {
          const took = Date.parse(e.time) - (this.begun.get(run) ?? Infinity);
          this.begun.delete(run);
          if (!past && e.reason !== 'interrupted' && took > long && !this.work.runs.info(run)?.parent) {
            this.end(run);
          }
        }
      }
    }
  }

  private get how(): 'off' | 'away' | 'always' { return vscode.workspace.getConfiguration('sidecar').get('agent.notify', 'away'); }

  private onScreen(q: AgentEvent): boolean {
    return vscode.window.state.focused && this.panes().some(p => p.visible() && p.run === q.run); // its badge and its head say so, and a message would cover the composer
  }

  private await(q: AgentEvent): void {
    const key = keyOf(q);
    if (this.how !== 'off' && !this.asked.has(key)) {
      this.asked.set(key, setTimeout(() => {
        const { runs } = this.work;
        if (runs.log(q.run)?.questions.has(q.question ?? '') && !this.onScreen(q)) {
          void this.put(q);
        }
      }, unseen));
    }
  }

  private async put(q: AgentEvent): Promise<void> {
    const info = this.work.runs.info(q.run), show = t('Show');
    const options = q.irrecoverable ? [] : (q.options ?? []).slice(0, 3);
    const chosen = await vscode.window.showInformationMessage(visible(`${info?.title ?? q.run}: ${(q.text ?? '').slice(0, 200)}`), ...options.map(o => visible(o.label)), show);
    const option = options.find(o => visible(o.label) === chosen);
    if (chosen === show) {
      this.show(q.run);
    } else if (option && this.work.runs.log(q.run)?.questions.has(q.question ?? '')) {
      await this.work.answer(q.run, q.question ?? '', option.id).catch(e => vscode.window.showErrorMessage(e instanceof Error ? e.message : String(e)));
    } else if (option) {
      void vscode.window.setStatusBarMessage(t('This question was answered or has expired.'), 4000);
    }
  }

  // Several that are done are in one message.
  private end(run: string): void {
    const seen = vscode.window.state.focused && this.panes().some(p => p.visible() && p.run === run);
    if (this.how === 'off' || this.how === 'away' && seen) {
      return;
    }
    this.done.push(run);
    this.timer ??= setTimeout(async () => {
      this.timer = undefined;
      const done = this.done.splice(0), [first = ''] = done, show = t('Show');
      const titles = done.map(r => visible(this.work.runs.info(r)?.title ?? r));
      if (await vscode.window.showInformationMessage(done.length === 1 ? t('Done: {0}', titles[0] ?? '') : t('{0} runs are done: {1}', done.length, titles.join(', ')), show) === show) {
        this.show(first);
      }
    }, 500);
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.asked.forEach(timer => clearTimeout(timer));
    this.item.dispose();
  }
}

const keyOf = (q: AgentEvent) => `${q.run} ${q.question}`;
