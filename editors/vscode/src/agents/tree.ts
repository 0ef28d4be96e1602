// The view "Agents": the questions that wait, and below them the runs that have not ended.
import * as vscode from 'vscode';
import type { RunInfo } from '../agent/event';
import { visible } from '../agent/page/safe';
import { stateWord } from '../agent/words';
import type { Question, Questions } from '../questions/questions';
import { asker, dialogText, grave, scopes } from '../questions/text';

const t = vscode.l10n.t;

/** The runs, and the titles of their agents. */
export interface RunSource {
  readonly openRuns: RunInfo[];
  agentTitle(run: RunInfo): string;
  readonly onDidTurn: vscode.Event<void>;
}

type Node = Question | RunInfo;

const isRun = (node: Node): node is RunInfo => 'run' in node;

export class AgentTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly view: vscode.TreeView<Node>;
  private drawn = '';

  constructor(private readonly questions: Questions, private readonly runs: RunSource) {
    this.view = vscode.window.createTreeView('sidecar.agents', { treeDataProvider: this });
    questions.onDidChange(() => {
      const n = questions.open.length;
      this.view.badge = n > 0 ? { value: n, tooltip: n === 1 ? t('1 question waits for you') : t('{0} questions wait for you', n) } : undefined;
      this.changed.fire();
    });
    runs.onDidTurn(() => this.look());
  }

  // A list that is drawn again loses the click that is under way: this one is so only where it says something else.
  private look(): void {
    const now = JSON.stringify(this.runs.openRuns.map(r => [r.run, r.title, r.state, r.pending, this.runs.agentTitle(r)]));
    if (now !== this.drawn) {
      this.drawn = now;
      this.changed.fire();
    }
  }

  getChildren(node?: Node): Node[] { return node ? [] : [...this.questions.open, ...this.runs.openRuns]; }

  getTreeItem(node: Node): vscode.TreeItem { return isRun(node) ? this.run(node) : this.question(node); }

  private question(q: Question): vscode.TreeItem {
    const label = q.kind === 'approve' ? q.params.title : q.params.question;
    const item = new vscode.TreeItem(label);
    item.id = `question ${q.id}`;
    item.contextValue = q.kind === 'approve' ? ['approve', ...scopes(q.params)].join(' ') : 'ask';
    if (q.kind === 'approve') {
      item.description = `${asker(q.params)} › ${q.params.tool}`;
      item.iconPath = grave(q.params) ? new vscode.ThemeIcon('warning', new vscode.ThemeColor('list.warningForeground')) : new vscode.ThemeIcon('question');
      item.tooltip = new vscode.MarkdownString().appendCodeblock(dialogText(q.params, t, 60), q.params.diff ? 'diff' : 'text');
    } else {
      item.iconPath = new vscode.ThemeIcon('comment-discussion');
    }
    item.command = { command: 'sidecar.showQuestion', title: t('Show'), arguments: [q] };
    item.accessibilityInformation = { label: `${label}, ${String(item.description ?? '')}` };
    return item;
  }

  private run(r: RunInfo): vscode.TreeItem {
    const agent = this.runs.agentTitle(r), busy = r.state === 'running' || r.state === 'waiting';
    const item = new vscode.TreeItem(agent); // short, so that the state is seen in a narrow bar
    item.id = `run ${r.run}`;
    item.contextValue = busy ? 'runBusy' : 'run';
    item.description = [stateWord(r, t), visible(r.title.split('\n')[0]!.slice(0, 200)), r.pending > 0 ? r.pending === 1 ? t('1 file pending') : t('{0} files pending', r.pending) : ''].filter(Boolean).join(' · ');
    item.iconPath = r.state === 'running' ? new vscode.ThemeIcon('sync~spin') : r.state === 'waiting' ? new vscode.ThemeIcon('question', new vscode.ThemeColor('list.warningForeground')) : new vscode.ThemeIcon(r.state === 'paused' ? 'debug-pause' : 'hubot');
    item.tooltip = [visible(r.title.slice(0, 2000)), r.openedAt && new Date(r.openedAt).toLocaleString()].filter(Boolean).join('\n');
    item.command = { command: 'sidecar.showRun', title: t('Show'), arguments: [r] };
    item.accessibilityInformation = { label: `${String(item.label)}, ${item.description}` };
    return item;
  }

  dispose(): void { vscode.Disposable.from(this.view, this.changed).dispose(); }
}
