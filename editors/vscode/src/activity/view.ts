// The view "Activity": each call as it happens.
import * as vscode from 'vscode';
import type { CallEvent } from '../protocol';
import { Calls, callText, decisionText, deed, stateName, told, took, type Call } from './calls';

const scheme = 'sidecar-call';

/** Events that come faster than this, in milliseconds, are shown together. */
const pause = 80;

/** A call's document shows what is known by now, output as it comes. */
const uriOf = (call: Call) => vscode.Uri.from({ scheme, path: `/${call.tool}.md`, query: `${call.session}/${call.id}` });

export class Activity implements vscode.TreeDataProvider<Call>, vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly calls = new Calls();
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly grown = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.grown.event;
  private readonly begun = new vscode.EventEmitter<Call>();
  readonly onDidStart = this.begun.event;
  private readonly ended = new vscode.EventEmitter<Call>();
  readonly onDidComplete = this.ended.event;
  private readonly others = new vscode.EventEmitter<void>();
  readonly onDidChangeTools = this.others.event;
  private readonly view: vscode.TreeView<Call>;
  private timer: NodeJS.Timeout | undefined;
  /** The name of a session's agent, if known. */
  author: (session: string) => string | undefined = () => undefined;

  constructor() {
    this.view = vscode.window.createTreeView('sidecar.activity', { treeDataProvider: this });
  }

  /** Takes what the server tells of a call. */
  take(e: CallEvent): void {
    if (e.type === 'toolsChanged') {
      this.others.fire();
      return;
    }
    const call = this.calls.take(e);
    if (!call) {
      return; // it began before this window did
    }
    this.refresh();
    if (e.type === 'toolStarted') {
      this.begun.fire(call);
    } else if (e.type === 'toolCompleted') {
      this.ended.fire(call);
    }
  }

  register(): vscode.Disposable {
    return vscode.Disposable.from(
      vscode.workspace.registerTextDocumentContentProvider(scheme, this),
      vscode.commands.registerCommand('sidecar.showCall', async (call: Call) => vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uriOf(call)), { preview: true })),
      vscode.commands.registerCommand('sidecar.clearActivity', () => { this.calls.clear(); this.changed.fire(); }));
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    const [session = '', id = ''] = uri.query.split('/');
    const call = this.calls.find(session, id);
    return call ? callText(call, vscode.l10n.t) : vscode.l10n.t('This call is not kept any more.');
  }

  private refresh(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.changed.fire();
      vscode.workspace.textDocuments.filter(d => d.uri.scheme === scheme).forEach(d => this.grown.fire(d.uri));
    }, pause);
  }

  getChildren(call?: Call): Call[] { return call ? [] : this.calls.list.filter(told); }

  getTreeItem(call: Call): vscode.TreeItem {
    const item = new vscode.TreeItem(deed(call, vscode.l10n.t, this.author(call.session)));
    item.id = `${call.session}/${call.id}`;
    item.description = [call.state === 'asking' || call.state === 'failed' || call.state === 'denied' ? stateName(call.state, vscode.l10n.t) : '', took(call.durationMs, vscode.l10n.t)].filter(Boolean).join(' · ');
    const [icon, color] = {
      running: ['sync~spin', ''], asking: ['question', 'list.warningForeground'], ok: ['check', 'testing.iconPassed'],
      failed: ['error', 'list.errorForeground'], denied: ['circle-slash', 'list.warningForeground'],
    }[call.state] as [string, string];
    item.iconPath = new vscode.ThemeIcon(icon, color ? new vscode.ThemeColor(color) : undefined);
    item.tooltip = [`${call.tool} · ${call.session}`, decisionText(call, vscode.l10n.t), call.message, call.output.slice(-400)].filter(Boolean).join('\n');
    item.command = { command: 'sidecar.showCall', title: vscode.l10n.t('Show'), arguments: [call] };
    item.accessibilityInformation = { label: `${String(item.label)}, ${stateName(call.state, vscode.l10n.t)}, ${item.description}` };
    return item;
  }

  dispose(): void {
    clearTimeout(this.timer);
    vscode.Disposable.from(this.view, this.changed, this.grown, this.begun, this.ended, this.others).dispose();
  }
}
