// The questions of agents: may this be done (sidecar/approve), and which one do you mean (sidecar/ask). Each waits in
// the view, and is put as a message as well: a modal one for what is grave, one after the other; else one that takes no focus.
import * as vscode from 'vscode';
import type { Server } from '../client';
import type { ApproveAnswer, ApproveParams, AskParams } from '../protocol';
import { asker, dialogText, documentText, grave } from './text';

const t = vscode.l10n.t;

export type Question = { id: string } & (
  | { kind: 'approve'; params: ApproveParams; answer: (a: ApproveAnswer | null) => void }
  | { kind: 'ask'; params: AskParams; answer: (a: { answer: string } | null) => void });

export const questionScheme = 'sidecar-question';

export class Questions {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  open: Question[] = [];
  private modal: Promise<unknown> = Promise.resolve();
  private asked = 0;

  constructor(server: Server) {
    server.requests.set('sidecar/approve', (params: ApproveParams, token: vscode.CancellationToken) =>
      this.put<ApproveAnswer>(token, answer => ({ kind: 'approve', id: params.id, params, answer })));
    server.requests.set('sidecar/ask', (params: AskParams, token: vscode.CancellationToken) =>
      this.put<{ answer: string }>(token, answer => ({ kind: 'ask', id: `ask-${++this.asked}`, params, answer })));
    server.onDidChange(health => {
      if (health !== 'running') {
        [...this.open].forEach(q => q.answer(null)); // nobody is there to hear the answers
      }
    });
  }

  register(): vscode.Disposable {
    const of = (x?: Question | vscode.Uri): Question | undefined => (x instanceof vscode.Uri ? this.open.find(q => x.path.startsWith(`/${q.id}/`)) : x ?? this.open[0]);
    const commands: Record<string, (x?: Question | vscode.Uri) => unknown> = {
      'sidecar.allow': x => this.allow(of(x), 'once'),
      'sidecar.allowSession': x => this.allow(of(x), 'session'),
      'sidecar.allowPattern': x => this.allow(of(x), 'pattern'),
      'sidecar.deny': x => this.deny(of(x)),
      'sidecar.denyWithReason': x => this.deny(of(x), true),
      'sidecar.showQuestion': x => this.show(of(x)),
      'sidecar.answerQuestion': x => this.choose(of(x)),
    };
    return vscode.Disposable.from(
      ...Object.entries(commands).map(([id, run]) => vscode.commands.registerCommand(id, run)),
      vscode.workspace.registerTextDocumentContentProvider(questionScheme, { provideTextDocumentContent: uri => this.text(uri) }));
  }

  private text(uri: vscode.Uri): string {
    const q = this.open.find(q => uri.path.startsWith(`/${q.id}/`));
    return q?.kind === 'approve' ? documentText(q.params) : t('This question was answered.');
  }

  // Opens a question and waits for its answer, from wherever it comes; the first one counts.
  private put<A>(token: vscode.CancellationToken, make: (answer: (a: A | null) => void) => Question): Promise<A | null> {
    return new Promise(resolve => {
      const q = make(a => {
        this.open = this.open.filter(o => o !== q);
        resolve(a);
        this.tell();
      });
      token.onCancellationRequested(() => q.answer(null));
      this.open = [...this.open, q];
      this.tell();
      if (q.kind === 'approve' && grave(q.params)) {
        this.modal = this.modal.then(() => this.open.includes(q) ? this.dialog(q) : undefined).catch(() => undefined);
      } else {
        void this.message(q);
      }
    });
  }

  private tell(): void {
    void vscode.commands.executeCommand('setContext', 'sidecar.questions', this.open.length);
    this.changed.fire();
  }

  private async dialog(q: Question & { kind: 'approve' }): Promise<void> {
    // Deny comes first, so that Enter lets nothing happen; closing the dialog leaves the question in the view.
    const deny = t('Deny'), allow = q.params.irrecoverable ? t('Allow…') : t('Allow Once'), more = t('More…');
    switch (await vscode.window.showWarningMessage(q.params.title, { modal: true, detail: dialogText(q.params) }, deny, allow, more)) {
      case deny: return this.deny(q);
      case allow: return this.allow(q, 'once');
      case more: return this.choose(q);
    }
  }

  // Closing the message leaves the question in the view; silence means no in the end.
  private async message(q: Question): Promise<void> {
    if (q.kind === 'ask') {
      const options = q.params.options ?? [];
      const other = t('Answer…');
      const plain = options.length > 0 && options.length <= 4;
      const chosen = await vscode.window.showInformationMessage(q.params.question, ...(plain ? options : []), ...(!plain || q.params.allowCustom ? [other] : []));
      if (chosen === other) {
        await this.choose(q);
      } else if (chosen !== undefined) {
        q.answer({ answer: chosen });
      }
      return;
    }
    const once = t('Allow'), session = t('Allow for Session'), deny = t('Deny'), show = t('Show');
    const chosen = await vscode.window.showInformationMessage(`${asker(q.params)}: ${q.params.title}`, once, session, deny, show);
    if (!this.open.includes(q)) {
      if (chosen) {
        void vscode.window.setStatusBarMessage(t('This question was answered or has expired.'), 4000);
      }
      return;
    }
    switch (chosen) {
      case once: return this.allow(q, 'once');
      case session: return this.allow(q, 'session');
      case deny: return this.deny(q);
      case show: return this.show(q);
    }
  }

  async allow(q: Question | undefined, scope: 'once' | 'session' | 'pattern'): Promise<void> {
    if (q?.kind !== 'approve') {
      return this.choose(q);
    }
    let typed: string | undefined;
    if (q.params.irrecoverable) {
      typed = await vscode.window.showInputBox({
        title: q.params.title, prompt: t('This can\'t be undone. Type {0} to allow it.', 'CONFIRM'), placeHolder: 'CONFIRM', ignoreFocusOut: true,
        validateInput: text => (text === 'CONFIRM' ? undefined : t('The word {0} is expected.', 'CONFIRM')),
      });
      if (typed === undefined) {
        return;
      }
    }
    q.answer({ outcome: 'allow', scope, typed });
  }

  async deny(q: Question | undefined, ask = false): Promise<void> {
    if (q?.kind !== 'approve') {
      q?.answer(null);
      return;
    }
    const reason = ask ? await vscode.window.showInputBox({ title: t('Deny: {0}', q.params.title), prompt: t('The agent is told the reason'), ignoreFocusOut: true }) : '';
    if (reason !== undefined) {
      q.answer({ outcome: 'deny', scope: 'once', reason: reason || undefined });
    }
  }

  /** Every way to answer, in a list. */
  async choose(q: Question | undefined): Promise<void> {
    if (q?.kind === 'ask') {
      const other = t('Another answer…');
      const options = q.params.options ?? [];
      let answer = options.length > 0 ? await vscode.window.showQuickPick([...options, ...(q.params.allowCustom ? [other] : [])], { title: q.params.question, ignoreFocusOut: true }) : other;
      if (answer === other) {
        answer = await vscode.window.showInputBox({ title: q.params.question, ignoreFocusOut: true });
      }
      if (answer !== undefined) {
        q.answer({ answer });
      }
    } else if (q) {
      const items: { label: string; detail?: string; run: () => unknown }[] = [
        { label: t('$(check) Allow once'), run: () => this.allow(q, 'once') },
        ...(q.params.irrecoverable ? [] : [
          { label: t('$(check-all) Allow for this session'), run: () => this.allow(q, 'session') },
          { label: t('$(symbol-parameter) Allow whatever looks like this'), detail: q.params.effects.command, run: () => this.allow(q, 'pattern') }]),
        { label: t('$(x) Deny'), run: () => this.deny(q) },
        { label: t('$(comment) Deny with a reason…'), run: () => this.deny(q, true) },
        { label: t('$(open-preview) Show everything'), run: () => this.show(q) },
      ];
      await (await vscode.window.showQuickPick(items, { title: q.params.title, ignoreFocusOut: true }))?.run();
    }
  }

  private async show(q: Question | undefined): Promise<void> {
    if (q?.kind === 'approve') {
      const name = q.params.title.replace(/[/\\]/g, '∕').slice(0, 80);
      const doc = await vscode.workspace.openTextDocument(vscode.Uri.from({ scheme: questionScheme, path: `/${q.id}/${name}.md` }));
      await vscode.window.showTextDocument(doc, { preview: true });
    } else {
      await this.choose(q);
    }
  }
}
