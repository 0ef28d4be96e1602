// The view "Activity": each call as it happens.
import * as vscode from 'vscode';
import type { Server } from '../client';
import type { CallEvent } from '../protocol';
import type { Runner } from '../tools/run';
import { Calls, callText, summary, type Call } from './calls';

/** Events that come faster than this, in milliseconds, are shown together. */
const pause = 80;

export class Activity implements vscode.TreeDataProvider<Call>, vscode.Disposable {
  private readonly calls = new Calls();
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly begun = new vscode.EventEmitter<CallEvent>();
  readonly onDidStart = this.begun.event;
  private readonly ended = new vscode.EventEmitter<CallEvent>();
  readonly onDidComplete = this.ended.event;
  private readonly view: vscode.TreeView<Call>;
  private timer: NodeJS.Timeout | undefined;

  constructor(server: Server, private readonly runner: Runner) {
    this.view = vscode.window.createTreeView('sidecar.activity', { treeDataProvider: this });
    server.notifications.set('sidecar/event', (e: CallEvent) => {
      if (this.calls.take(e)) {
        this.refresh();
      }
      if (e.type === 'toolStarted') {
        this.begun.fire(e);
      } else if (e.type === 'toolCompleted') {
        this.ended.fire(e);
      }
    });
  }

  register(): vscode.Disposable {
    return vscode.Disposable.from(
      vscode.commands.registerCommand('sidecar.showCall', (call: Call) => this.runner.show(`${call.tool}.md`, callText(call))),
      vscode.commands.registerCommand('sidecar.clearActivity', () => { this.calls.clear(); this.changed.fire(); }));
  }

  private refresh(): void {
    this.timer ??= setTimeout(() => { this.timer = undefined; this.changed.fire(); }, pause);
  }

  getChildren(call?: Call): Call[] { return call ? [] : this.calls.list; }

  getTreeItem(call: Call): vscode.TreeItem {
    const item = new vscode.TreeItem(call.tool);
    item.id = `${call.session}/${call.id}`;
    const what = summary(call.arguments);
    item.description = [what, call.state === 'failed' || call.state === 'denied' ? call.code : '', call.durationMs === undefined ? '' : `${call.durationMs} ms`].filter(Boolean).join(' · ');
    const [icon, color] = {
      running: ['sync~spin', ''], asking: ['question', 'list.warningForeground'], ok: ['check', 'testing.iconPassed'],
      failed: ['error', 'list.errorForeground'], denied: ['circle-slash', 'list.warningForeground'],
    }[call.state] as [string, string];
    item.iconPath = new vscode.ThemeIcon(icon, color ? new vscode.ThemeColor(color) : undefined);
    item.tooltip = [call.session, call.decision, call.message, call.output.slice(-400)].filter(Boolean).join('\n');
    item.command = { command: 'sidecar.showCall', title: vscode.l10n.t('Show'), arguments: [call] };
    item.accessibilityInformation = { label: `${call.tool}, ${call.state}, ${item.description}` };
    return item;
  }

  dispose(): void {
    clearTimeout(this.timer);
    vscode.Disposable.from(this.view, this.changed, this.begun, this.ended).dispose();
  }
}
