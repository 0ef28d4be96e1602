// The questions of agents: may this be done (sidecar/approve), and which one do you mean (sidecar/ask). Each waits in
// the view, and is put as a message as well: a modal one for what is grave, one after the other; else one that takes no focus.
import * as vscode from 'vscode';
import type { Server } from '../client';
import type { ApproveAnswer, ApproveParams, AskParams } from '../protocol';
import { fragments, parsePatch, patched, type FilePatch, type Sides } from './patch';
import { asker, dialogText, documentText, forGood, grave, messageText, scopes } from './text';

const t = vscode.l10n.t;

export type Question = { id: string } & (
  | { kind: 'approve'; params: ApproveParams; answer: (a: ApproveAnswer | null) => void }
  | { kind: 'ask'; params: AskParams; answer: (a: { answer: string } | null) => void });

export const questionScheme = 'sidecar-question';

export class Questions {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  private readonly given = new vscode.EventEmitter<void>();
  /** A person has allowed something. */
  readonly onDidAllow = this.given.event;
  private readonly diffs = new vscode.EventEmitter<void>();
  /** The diff of a question is on the screen. */
  readonly onDidShowDiff = this.diffs.event;
  open: Question[] = [];
  private modal: Promise<unknown> = Promise.resolve();
  private asked = 0;
  private readonly sides = new Map<string, string>(); // of the diffs of open questions, by their documents
  private readonly titles = new Map<string, string>(); // of the editors with several diffs, by the question

  constructor(private readonly server: Server) {
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
    const of = (x?: Question | vscode.Uri): Question | undefined => (x instanceof vscode.Uri ? this.open.find(q => about(x, q)) ?? this.shown() : x ?? this.open[0]);
    const commands: Record<string, (x?: Question | vscode.Uri) => unknown> = {
      'sidecar.allow': x => this.allow(of(x), 'once'),
      'sidecar.allowInTitle': x => this.allow(of(x), 'once'), // the title of a diff has room for words; a row of the view has icons
      'sidecar.denyInTitle': x => this.deny(of(x)),
      'sidecar.answerInTitle': x => this.choose(of(x)),
      'sidecar.allowSession': x => this.allow(of(x), 'session'),
      'sidecar.allowPattern': x => this.allow(of(x), 'pattern'),
      'sidecar.deny': x => this.deny(of(x)),
      'sidecar.denyWithReason': x => this.deny(of(x), true),
      'sidecar.showQuestion': x => this.show(of(x)),
      'sidecar.answerQuestion': x => this.choose(of(x)),
    };
    const look = () => vscode.commands.executeCommand('setContext', 'sidecar.questionShown', this.shown() !== undefined);
    return vscode.Disposable.from(
      vscode.window.tabGroups.onDidChangeTabs(look), vscode.window.tabGroups.onDidChangeTabGroups(look), this.onDidChange(look),
      ...Object.entries(commands).map(([id, run]) => vscode.commands.registerCommand(id, run)),
      vscode.workspace.registerTextDocumentContentProvider(questionScheme, { provideTextDocumentContent: uri => this.text(uri) }));
  }

  /** The question whose several diffs are in the active editor. */
  private shown(): Question | undefined {
    const tab = vscode.window.tabGroups.activeTabGroup.activeTab;
    return this.open.find(q => this.shows(tab, q));
  }

  // An editor with several diffs has no input that an extension may know, but its title.
  private shows(tab: vscode.Tab | undefined, q: Question): boolean {
    const title = this.titles.get(q.id);
    return tab !== undefined && title !== undefined && tab.label.startsWith(title) && !(tab.input instanceof vscode.TabInputTextDiff || tab.input instanceof vscode.TabInputText);
  }

  private text(uri: vscode.Uri): string {
    const q = this.open.find(q => about(uri, q));
    return this.sides.get(uri.toString()) ?? (q?.kind === 'approve' ? documentText(q.params, t) : t('This question was answered.'));
  }

  // Opens a question and waits for its answer, from wherever it comes; the first one counts.
  private put<A>(token: vscode.CancellationToken, make: (answer: (a: A | null) => void) => Question): Promise<A | null> {
    return new Promise(resolve => {
      const q = make(a => {
        this.open = this.open.filter(o => o !== q);
        this.forget(q, a !== null);
        resolve(a);
        this.update();
      });
      token.onCancellationRequested(() => q.answer(null));
      this.open = [...this.open, q];
      this.update();
      if (q.kind === 'approve' && grave(q.params)) {
        this.modal = this.modal.then(() => this.open.includes(q) ? this.dialog(q) : undefined).catch(() => undefined);
      } else {
        void this.message(q);
      }
    });
  }

  private update(): void {
    void vscode.commands.executeCommand('setContext', 'sidecar.questions', this.open.length);
    this.changed.fire();
  }

  private async dialog(q: Question & { kind: 'approve' }): Promise<void> {
    // Deny comes first, so that Enter lets nothing happen; closing the dialog leaves the question in the view.
    const deny = t('Deny'), allow = q.params.irrecoverable ? t('Allow…') : t('Allow Once'), more = t('More…');
    const alike = scopes(q.params).includes('pattern') ? [t('Allow `{0}` for This Session', q.params.pattern ?? '')] : [];
    const later: vscode.MessageItem = { title: t('Decide Later'), isCloseAffordance: true }; // VS Code would call it Cancel
    const chosen = (await vscode.window.showWarningMessage<vscode.MessageItem>(q.params.title, { modal: true, detail: dialogText(q.params, t) }, ...[deny, allow, ...alike, more].map(title => ({ title })), later))?.title;
    if (chosen !== undefined && chosen === alike[0]) {
      return this.allow(q, 'pattern');
    }
    switch (chosen) {
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
    const chosen = await vscode.window.showInformationMessage(messageText(q.params, t), once, ...(scopes(q.params).includes('session') ? [session] : []), deny, show);
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
    if (!scopes(q.params).includes(scope)) {
      return this.choose(q); // from the palette, where each answer is offered
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
    this.given.fire();
  }

  // The server shows what the rule would have done, and asks. A yes to that is one to the question.
  private async always(q: Question & { kind: 'approve' }, scope: 'workspace' | 'user'): Promise<void> {
    try {
      await this.server.execute('sidecar.policy.allowAlways', { rule: q.params.always, scope });
    } catch (e) {
      void vscode.window.showWarningMessage(e instanceof Error ? e.message : String(e));
      return;
    }
    if (this.open.includes(q)) {
      await this.allow(q, 'once');
    }
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
        ...(scopes(q.params).includes('session') ? [{ label: t('$(check-all) Allow for this session'), detail: q.params.effects.command, run: () => this.allow(q, 'session') }] : []),
        ...(scopes(q.params).includes('pattern') ? [{ label: t('$(symbol-parameter) Allow `{0}` for this session', q.params.pattern ?? ''), detail: q.params.effects.writes?.join(', '), run: () => this.allow(q, 'pattern') }] : []),
        ...(forGood(q.params) ? [
          { label: t('$(verified) Always allow `{0}` in this workspace…', forGood(q.params) ?? ''), detail: t('Shows first what that would have done'), run: () => this.always(q, 'workspace') },
          { label: t('$(verified-filled) Always allow `{0}` everywhere…', forGood(q.params) ?? ''), detail: t('Shows first what that would have done'), run: () => this.always(q, 'user') },
        ] : []),
        { label: t('$(x) Deny'), run: () => this.deny(q) },
        { label: t('$(comment) Deny with a reason…'), run: () => this.deny(q, true) },
        ...(q.params.diff ? [{ label: t('$(diff) Show the diff'), run: () => this.show(q) }] : []),
        { label: t('$(open-preview) Show everything'), run: () => this.document(q) },
      ];
      await (await vscode.window.showQuickPick(items, { title: q.params.title, ignoreFocusOut: true }))?.run();
    }
  }

  /** Shows what an edit would do in an editor for diffs, and anything else as a document. */
  private async show(q: Question | undefined): Promise<void> {
    if (q?.kind !== 'approve') {
      return this.choose(q);
    }
    const files = parsePatch(q.params.diff ?? '');
    if (files.length === 0 || files.some(f => f.hunks.length === 0)) {
      return this.document(q);
    }
    const title = t('{0} (asked by {1})', q.params.title, asker(q.params));
    const shown = await Promise.all(files.map(f => this.side(q, f)));
    const [only] = shown;
    if (only && shown.length === 1) {
      await vscode.commands.executeCommand('vscode.diff', only.before, only.after, title, { preview: true });
    } else {
      this.titles.set(q.id, title);
      await vscode.commands.executeCommand('vscode.changes', title, files.map((f, i) => {
        const { before, after } = shown[i]!;
        return [after, f.kind === 'create' ? undefined : before, f.kind === 'delete' ? undefined : after];
      }));
    }
    this.diffs.fire();
  }

  // The documents of a file as it is and as it would be. The question has but the lines that change and those around; the
  // rest is the file's own, if it is the one that is meant.
  private async side(q: Question, patch: FilePatch): Promise<{ before: vscode.Uri; after: vscode.Uri }> {
    const sides: Sides = (patch.kind === 'create' ? undefined : await read(patch.path).then(text => patched(text, patch), () => undefined)) ?? fragments(patch);
    const uri = (side: keyof Sides) => vscode.Uri.from({ scheme: questionScheme, path: `/${patch.path}`, query: `${q.id}/${side}` });
    for (const side of ['before', 'after'] as const) {
      this.sides.set(uri(side).toString(), sides[side]);
    }
    return { before: uri('before'), after: uri('after') };
  }

  private async document(q: Question & { kind: 'approve' }): Promise<void> {
    const name = q.params.title.replace(/[/\\]/g, '∕').slice(0, 80);
    const doc = await vscode.workspace.openTextDocument(vscode.Uri.from({ scheme: questionScheme, path: `/${name}.md`, query: `${q.id}/` }));
    await vscode.window.showTextDocument(doc, { preview: true });
  }

  // What was shown of a question is put away when a person has answered it; one that expired may still be read.
  private forget(q: Question, answered: boolean): void {
    const of = (uri: vscode.Uri) => uri.scheme === questionScheme && about(uri, q);
    if (!answered) {
      return;
    }
    [...this.sides.keys()].filter(uri => of(vscode.Uri.parse(uri))).forEach(uri => this.sides.delete(uri));
    const tabs = vscode.window.tabGroups.all.flatMap(g => g.tabs).filter(tab =>
      tab.input instanceof vscode.TabInputTextDiff ? of(tab.input.modified) : tab.input instanceof vscode.TabInputText ? of(tab.input.uri) : this.shows(tab, q));
    this.titles.delete(q.id);
    if (tabs.length > 0) {
      void vscode.window.tabGroups.close(tabs, true);
    }
  }
}

// A document of a question has the file's own path, which is what editors show, and the question in its query.
const about = (uri: vscode.Uri, q: Question) => uri.query.startsWith(`${q.id}/`);

// The text of a file of the workspace, as it is in its editor if it is open.
async function read(path: string): Promise<string> {
  const folder = vscode.workspace.workspaceFolders?.[0];
  if (!folder) {
    throw vscode.FileSystemError.FileNotFound(path);
  }
  const uri = vscode.Uri.joinPath(folder.uri, path);
  const open = vscode.workspace.textDocuments.find(d => d.uri.toString() === uri.toString());
  return open ? open.getText() : Buffer.from(await vscode.workspace.fs.readFile(uri)).toString();
}
