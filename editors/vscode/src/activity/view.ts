// Activity: each call as it happens.
import * as vscode from 'vscode';
import type { Row } from '../manage/rows';
import type { CallEvent } from '../protocol';
import { Calls, callText, deed, listed, stateName, took, type Call } from './calls';

const scheme = 'sidecar-call';

/** Events that come faster than this, in milliseconds, are shown together. */
const pause = 80;

const idOf = (call: Call) => `${call.session}/${call.id}`;

const signs: Record<Call['state'], Pick<Row, 'sign' | 'look'>> = {
  running: { sign: 'spinner' }, asking: { sign: 'question', look: 'needs' }, ok: { sign: 'check', look: 'good' }, failed: { sign: 'cross', look: 'bad' }, denied: { sign: 'stop', look: 'needs' },
};

/** A call's document shows what is known by now, output as it comes. */
const uriOf = (call: Call) => vscode.Uri.from({ scheme, path: `/${call.tool}.md`, query: `${call.session}/${call.id}` });

export class Activity implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly calls = new Calls();
  private readonly changed = new vscode.EventEmitter<void>();
  /** There are other calls, or more is known of one. */
  readonly onDidChangeCalls = this.changed.event;
  private readonly grown = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.grown.event;
  private readonly begun = new vscode.EventEmitter<Call>();
  readonly onDidStart = this.begun.event;
  private readonly ended = new vscode.EventEmitter<Call>();
  readonly onDidComplete = this.ended.event;
  private readonly others = new vscode.EventEmitter<void>();
  readonly onDidChangeTools = this.others.event;
  private timer: NodeJS.Timeout | undefined;
  /** The name of a session's agent, if known. */
  author: (session: string) => string | undefined = () => undefined;

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
      vscode.commands.registerCommand('sidecar.showCall', async (call?: Call) => call ? vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uriOf(call)), { preview: true }) : vscode.commands.executeCommand('sidecar.manage', 'activity')),
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

  rows(): Row[] {
    const t = vscode.l10n.t;
    return this.calls.list.filter(listed).map(call => ({
      id: idOf(call), label: deed(call, t, this.author(call.session)), open: 'sidecar.showCall', actions: [], ...signs[call.state],
      detail: [call.state === 'ok' ? '' : stateName(call.state, t), took(call.durationMs, t)].filter(Boolean).join(' · '),
    }));
  }

  item(id: string): Call | undefined { return this.calls.list.find(c => idOf(c) === id); }

  dispose(): void {
    clearTimeout(this.timer);
    vscode.Disposable.from(this.changed, this.grown, this.begun, this.ended, this.others).dispose();
  }
}
