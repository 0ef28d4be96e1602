// Output of commands that the server holds until somebody accepts or drops it.
import * as vscode from 'vscode';
import { visible } from '../agent/page/safe';
import type { Server } from '../client';
import type { HeldOutput, OutputResult } from '../protocol';
import { agreed, bySession, dangers, fileCount, outputText, shownName } from './held';
import type { Node } from './model';
import type { Pending } from './store';

const t = vscode.l10n.t;

/** What happens within this time, in milliseconds, is asked about once. */
const pause = 250;

/** Where a workspace keeps the command line that built its output last. */
const lineKey = 'sidecar.buildLine';

export class Output implements vscode.Disposable {
  private timer: NodeJS.Timeout | undefined;
  private asked = 0;
  private readonly listening: vscode.Disposable;

  constructor(private readonly server: Server, private readonly pending: Pending, private readonly kept: vscode.Memento) {
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

  private async ask(action: 'list' | 'accept' | 'drop' | 'build', session?: string, command?: string, token?: vscode.CancellationToken): Promise<OutputResult> {
    const mine = ++this.asked;
    const result = await this.server.execute<OutputResult>('sidecar.review.output', { action, session, command }, token);
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
  async decide(what: 'accept' | 'drop' | 'build', nodes: Node[]): Promise<void> {
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
  private async pick(what: 'accept' | 'drop' | 'build'): Promise<{ session?: string } | undefined> {
    const entries = await this.held(undefined);
    if (entries.length < 2) {
      return { session: entries[0]?.session };
    }
    const items: (vscode.QuickPickItem & { session?: string })[] = [
      ...entries.map(e => ({ label: t('Output of {0}', shownName(e.session)), description: outputText(e, t), session: e.session })),
      { label: t('All output') },
    ];
    return vscode.window.showQuickPick(items, { placeHolder: what === 'accept' ? t('Accept which output?') : what === 'drop' ? t('Drop which output?') : t('Build which output again?') });
  }

  private async accept(session: string | undefined): Promise<void> {
    const held = await agreed(() => this.held(session), now => this.sure('accept', now, session));
    if (!held) {
      return;
    }
    if (held.length === 0) {
      return this.none();
    }
    this.moved(await this.ask('accept', session));
  }

  private moved({ accepted = 0, left = [] }: OutputResult): void {
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

  // What an agent built need not be trusted where a command of the person's gives it again.
  private async build(session: string | undefined): Promise<void> {
    const held = await this.held(session);
    if (held.length === 0) {
      return this.none();
    }
    const line = (await vscode.window.showInputBox({
      title: t('Build Output Again'), prompt: t('The command that builds it, such as {0}', 'make'), value: this.kept.get<string>(lineKey), ignoreFocusOut: true,
      validateInput: text => (text.trim() ? undefined : t('A command is expected.')),
    }))?.trim();
    if (!line || !await this.sure('build', held, session, line)) {
      return;
    }
    await this.kept.update(lineKey, line);
    const result = await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title: t('Building the output again'), cancellable: true },
      (_, token) => this.ask('build', session, line, token));
    this.moved(result);
    const output = t('Show Output'), { ok, exitCode, output: text } = result.built!;
    void (ok ? vscode.window.showInformationMessage(t('`{0}` has built it again. Moved to the workspace: {1}.', line, fileCount(result.accepted ?? 0, t)), output)
      : vscode.window.showWarningMessage(t('`{0}` failed with exit code {1}. The output is held as before.', line, exitCode), output)).then(async chosen => {
      if (chosen === output) {
        await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content: text }), { preview: true });
      }
    });
  }

  private none(): void {
    void vscode.window.showInformationMessage(t('No output is held.'));
  }

  private async sure(what: 'accept' | 'drop' | 'build', held: HeldOutput[], session: string | undefined, line = ''): Promise<boolean> {
    const of = session === undefined ? undefined : shownName(session);
    const question = what === 'build' ? t('Run `{0}`?', visible(line))
      : what === 'accept' ? of === undefined ? t('Accept all output?') : t('Accept the output of "{0}"?', of)
      : of === undefined ? t('Drop all output?') : t('Drop the output of "{0}"?', of);
    const yes = { accept: t('Accept Output'), drop: t('Drop Output'), build: t('Build') }[what];
    const detail = [
      ...held.slice(0, 5).map(e => (held.length > 1 ? t('{0}: {1}', shownName(e.session), outputText(e, t)) : outputText(e, t))),
      ...what === 'accept' ? dangers(held, t) : what === 'drop' ? [t('It is removed. The workspace stays as it is.')]
        : [t('The command runs over the accepted text, without this output. Files that it makes take the place of the output, unless it fails.')],
    ].join('\n');
    return await vscode.window.showWarningMessage(question, { modal: true, detail }, yes) === yes;
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.listening.dispose();
  }
}
