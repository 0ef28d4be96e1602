// Output of commands that the server holds until somebody accepts or drops it.
import * as vscode from 'vscode';
import type { Server } from '../client';
import type { HeldOutput, OutputResult } from '../protocol';
import { agreed, bySession, dangers, fileCount, outputText, shownName } from './held';
import type { Node } from './model';
import type { Pending } from './store';

const t = vscode.l10n.t;

/** What happens within this time, in milliseconds, is asked about once. */
const pause = 250;

export class Output implements vscode.Disposable {
  private timer: NodeJS.Timeout | undefined;
  private asked = 0;
  private readonly listening: vscode.Disposable;

  constructor(private readonly server: Server, private readonly pending: Pending) {
    this.listening = server.onDidChange(health => {
      if (health === 'running') {
        this.refresh();
      } else if (health === 'failed') {
        this.pending.hold([]);
      }
    });
  }

  /** Asks soon what is held. */
  refresh(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      // Where commands have no world the server refuses; while it does not run, what was shown stays.
      this.ask('list').catch(() => this.server.health === 'running' && this.pending.hold([]));
    }, pause);
  }

  private async ask(action: 'list' | 'accept' | 'drop', session?: string): Promise<OutputResult> {
    const mine = ++this.asked;
    const result = await this.server.execute<OutputResult>('sidecar.review.output', { action, session });
    if (mine === this.asked) { // else a newer answer is on its way, or was here
      this.pending.hold(bySession(result.entries));
    }
    return result;
  }

  private async held(session: string | undefined): Promise<HeldOutput[]> {
    const { entries } = await this.ask('list');
    return bySession(entries).filter(e => session === undefined || e.session === session);
  }

  /** Decides on the output of nodes of the tree, or of what is chosen in a list. */
  async decide(what: 'accept' | 'drop', nodes: Node[]): Promise<void> {
    const sessions = nodes.flatMap(n => (n.kind === 'output' ? [n.held.session] : []));
    if (sessions.length > 0) {
      for (const session of sessions) {
        await this[what](session);
      }
      return;
    }
    const chosen = await this.pick(what);
    if (chosen) {
      await this[what](chosen.session);
    }
  }

  // One session, or all; nothing is asked where there is but one.
  private async pick(what: 'accept' | 'drop'): Promise<{ session?: string } | undefined> {
    const entries = await this.held(undefined);
    if (entries.length < 2) {
      return { session: entries[0]?.session };
    }
    const items: (vscode.QuickPickItem & { session?: string })[] = [
      ...entries.map(e => ({ label: t('Output of {0}', shownName(e.session)), description: outputText(e, t), session: e.session })),
      { label: t('All output') },
    ];
    return vscode.window.showQuickPick(items, { placeHolder: what === 'accept' ? t('Accept which output?') : t('Drop which output?') });
  }

  private async accept(session: string | undefined): Promise<void> {
    const held = await agreed(() => this.held(session), now => this.sure('accept', now, session));
    if (!held) {
      return;
    }
    if (held.length === 0) {
      return this.none();
    }
    const { accepted = 0, left = [] } = await this.ask('accept', session);
    if (accepted > 0) {
      void vscode.window.setStatusBarMessage(t('Moved to the workspace: {0}', fileCount(accepted, t)), 5000);
    }
    if (left.length > 0) {
      void vscode.window.showWarningMessage(`${left.slice(0, 3).map(shownName).join(' ')}${left.length > 3 ? t(' and {0} more', left.length - 3) : ''}`);
    }
  }

  private async drop(session: string | undefined): Promise<void> {
    const held = await this.held(session);
    if (held.length === 0) {
      return this.none();
    }
    if (await this.sure('drop', held, session)) {
      await this.ask('drop', session);
    }
  }

  private none(): void {
    void vscode.window.showInformationMessage(t('No output is held.'));
  }

  private async sure(what: 'accept' | 'drop', held: HeldOutput[], session: string | undefined): Promise<boolean> {
    const of = session === undefined ? undefined : shownName(session);
    const question = what === 'accept'
      ? of === undefined ? t('Accept all output?') : t('Accept the output of "{0}"?', of)
      : of === undefined ? t('Drop all output?') : t('Drop the output of "{0}"?', of);
    const yes = what === 'accept' ? t('Accept Output') : t('Drop Output');
    const detail = [
      ...held.slice(0, 5).map(e => (held.length > 1 ? t('{0}: {1}', shownName(e.session), outputText(e, t)) : outputText(e, t))),
      ...what === 'accept' ? dangers(held, t) : [t('It is removed. The workspace stays as it is.')],
    ].join('\n');
    return await vscode.window.showWarningMessage(question, { modal: true, detail }, yes) === yes;
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.listening.dispose();
  }
}
