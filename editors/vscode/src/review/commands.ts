// Deciding about pending changes, and moving among them.
import * as vscode from 'vscode';
import type { Server } from '../client';
import type { AcceptResult, Failure, MadeCommit, PastEdit, PendingEdit, QueuedCommit, RejectResult, ReviewList, Selection, UndoResult, VerifyResult } from '../protocol';
import { editsOf, hunkAt, lines, selectionOf, step, type Here, type Node, type Stop } from './model';
import type { Output } from './output';
import { editOf, schemes, sideUri } from './sides';
import type { Pending } from './store';
import { files, verifiedText, type PendingTree } from './tree';

const t = vscode.l10n.t;

/** Where a menu beside the line numbers was opened. */
interface Gutter { uri: vscode.Uri; lineNumber: number }

/** What somebody decided, with the list as it was before. */
export interface Decided { what: 'accept' | 'reject'; selection: Selection; before: ReviewList; failed: Failure[] }

export class Review {
  private readonly decided = new vscode.EventEmitter<Decided>();
  readonly onDidDecide = this.decided.event;

  constructor(private readonly server: Server, private readonly pending: Pending, private readonly tree: PendingTree, private readonly output: Output) {
    // Lenses and code actions run these: what they fail at is told in the same way.
    server.commands.set('sidecar.review.accept', (s: Selection) => this.accept(s));
    server.commands.set('sidecar.review.reject', (s: Selection) => this.reject(s));
    server.commands.set('sidecar.review.undo', (a?: { to?: string }) => this.turn('undo', a?.to));
    server.commands.set('sidecar.review.redo', (a?: { to?: string }) => this.turn('redo', a?.to));
    server.requests.set('sidecar/save', (p: { uris: string[] }) => this.save(p.uris));
    server.commands.set('sidecar.review.show', (a: { uri?: string }) => this.show(a.uri));
  }

  register(): vscode.Disposable {
    const commands: Record<string, (...args: never[]) => unknown> = {
      'sidecar.acceptAll': () => this.all('accept'),
      'sidecar.rejectAll': () => this.all('reject'),
      'sidecar.accept': (n?: Node, many?: Node[]) => this.decide('accept', n, many),
      'sidecar.reject': (n?: Node, many?: Node[]) => this.decide('reject', n, many),
      'sidecar.rejectWithReason': (n?: Node, many?: Node[]) => this.decide('reject', n, many, true),
      'sidecar.acceptChecked': () => this.accept(selectionOf(this.tree.checkedNodes(), this.pending.list.revision)),
      'sidecar.rejectChecked': () => this.reject(selectionOf(this.tree.checkedNodes(), this.pending.list.revision)),
      'sidecar.acceptOutput': (n?: Node, many?: Node[]) => this.output.decide('accept', many ?? (n ? [n] : [])),
      'sidecar.dropOutput': (n?: Node, many?: Node[]) => this.output.decide('drop', many ?? (n ? [n] : [])),
      'sidecar.acceptFile': (uri?: vscode.Uri) => this.file('accept', uri),
      'sidecar.rejectFile': (uri?: vscode.Uri) => this.file('reject', uri),
      'sidecar.acceptHunk': (at?: Gutter) => this.hunk('accept', at),
      'sidecar.rejectHunk': (at?: Gutter) => this.hunk('reject', at),
      'sidecar.verify': (n?: Node) => this.verify(n?.kind === 'batch' ? selectionOf([n], this.pending.list.revision) : this.shown()),
      'sidecar.verifyChecked': () => this.verify(selectionOf(this.tree.checkedNodes(), this.pending.list.revision)),
      'sidecar.undoAccept': () => this.undo(),
      'sidecar.redoEdit': () => this.turn('redo'),
      'sidecar.editHistory': () => this.history(),
      'sidecar.next': () => this.go(true),
      'sidecar.previous': () => this.go(false),
      'sidecar.openDiff': (n: Node) => (n.kind === 'hunk' ? this.diff(n) : n.kind === 'file' ? this.diff({ edit: n.edit }) : undefined),
      'sidecar.openFile': (n: Node | vscode.Uri) => this.openFile(n),
      'sidecar.openAllDiffs': () => this.allDiffs(),
      'sidecar.groupByMessage': () => this.pending.group(true),
      'sidecar.groupByFolder': () => this.pending.group(false),
      'sidecar.showAllSessions': () => this.pending.showOnly(undefined),
    };
    return vscode.Disposable.from(
      ...Object.entries(commands).map(([id, run]) => vscode.commands.registerCommand(id, (...args: never[]) => this.told(() => run(...args)))),
      this.decided,
      vscode.window.onDidChangeActiveTextEditor(() => this.context()),
      this.pending.onDidChange(() => this.context()),
    );
  }

  // Failures are shown where they happen, once.
  private async told(f: () => unknown): Promise<unknown> {
    try {
      return await f();
    } catch (e) {
      void vscode.window.showErrorMessage(e instanceof Error ? e.message : String(e));
      return undefined;
    }
  }

  private context(): void {
    const uri = vscode.window.activeTextEditor?.document.uri;
    void vscode.commands.executeCommand('setContext', 'sidecar.editorPending', !!uri && !!editOf(this.pending, uri));
  }

  async accept(selection: Selection): Promise<AcceptResult> {
    const before = this.pending.list;
    const result = await this.server.execute<AcceptResult>('sidecar.review.accept', selection);
    this.decided.fire({ what: 'accept', selection, before, failed: result.failed });
    this.tell(t('Not accepted'), result.failed, result.commits);
    return result;
  }

  async reject(selection: Selection): Promise<RejectResult> {
    const before = this.pending.list;
    const result = await this.server.execute<RejectResult>('sidecar.review.reject', selection);
    this.decided.fire({ what: 'reject', selection, before, failed: [] });
    this.tell(t('Not made'), [], result.made);
    return result;
  }

  /** Tests what is pending, or what is chosen of it, and says how that went; the output is a document. */
  async verify({ uris, hunks, session }: Selection): Promise<VerifyResult> {
    const result = await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title: t('Testing the pending changes'), cancellable: true },
      (_, token) => this.server.execute<VerifyResult>('sidecar.review.verify', { uris, hunks, session }, token));
    const output = t('Show Output');
    const said = verifiedText(result);
    void (result.ok ? vscode.window.showInformationMessage(said, output) : vscode.window.showWarningMessage(said, output)).then(async chosen => {
      if (chosen === output) {
        await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content: result.output }), { preview: true });
      }
    });
    return result;
  }

  // Documents in which an edit was applied, and that the settings want saved.
  private async save(uris: string[]): Promise<{ saved: string[]; failed: Failure[] }> {
    const saved: string[] = [], failed: Failure[] = [];
    for (const uri of uris) {
      const document = vscode.workspace.textDocuments.find(d => d.uri.toString() === vscode.Uri.parse(uri).toString());
      if (await document?.save()) {
        saved.push(uri);
      } else {
        failed.push({ uri, error: document ? t('it could not be saved') : t('it is not open') });
      }
    }
    return { saved, failed };
  }

  async undo(): Promise<UndoResult> {
    return this.turn('undo');
  }

  // Takes edits back or makes them again, and says which.
  private async turn(what: 'undo' | 'redo', to?: string): Promise<UndoResult> {
    const result = await this.server.execute<UndoResult>(`sidecar.review.${what}`, to === undefined ? {} : { to });
    const undone = result.what === 'undo';
    this.tell(undone ? t('Not taken back') : t('Not made again'), result.failed);
    const names = result.restored.map(u => vscode.workspace.asRelativePath(vscode.Uri.parse(u))).join(', ');
    if (names) {
      vscode.window.setStatusBarMessage(undone ? t('Taken back: {0}', names) : t('Made again: {0}', names), 5000);
    } else if (result.failed.length === 0) {
      void vscode.window.showInformationMessage(what === 'undo' ? t('There is no edit to take back.') : t('There is no edit to make again.'));
    }
    return result;
  }

  // What was accepted or applied; what is chosen is taken back, or made again, with all above it.
  private async history(): Promise<UndoResult | undefined> {
    const { entries } = await this.server.execute<{ entries: PastEdit[] }>('sidecar.review.history', {});
    const items = entries.map(e => ({
      label: e.files.map(f => f.path).join(', '),
      description: `${e.what}, ${e.tool}${e.at ? `, ${new Date(e.at).toLocaleString()}` : ''}`,
      detail: [...e.files.map(f => `${f.kind} +${f.added} −${f.removed}`), ...(e.why ? [e.why] : [])].join(', '),
      entry: e,
    }));
    if (items.length === 0) {
      void vscode.window.showInformationMessage(t('There is no edit to take back.'));
      return undefined;
    }
    const chosen = await vscode.window.showQuickPick(items, { placeHolder: t('Take back everything down to an edit, or make it again'), matchOnDescription: true });
    return chosen && this.turn(chosen.entry.what === 'undo' ? 'redo' : 'undo', chosen.entry.id);
  }

  private tell(what: string, failed: Failure[], commits: MadeCommit[] = []): void {
    const list = [
      ...failed.map(f => `${vscode.workspace.asRelativePath(vscode.Uri.parse(f.uri))}: ${f.error}`),
      ...commits.filter(c => c.error).map(c => t('commit "{0}": {1}', c.message.split('\n')[0] ?? '', c.error ?? '')),
    ];
    if (list.length > 0) {
      void vscode.window.showWarningMessage(`${what}: ${list.slice(0, 3).join('; ')}${list.length > 3 ? t(' and {0} more', list.length - 3) : ''}`);
    } else if (commits.length > 0) {
      void vscode.window.showInformationMessage(commits.length === 1 ? t('1 commit was made.') : t('{0} commits were made.', commits.length));
    }
  }

  // Everything that the tree shows, as it was when the question was put.
  private all(what: 'accept' | 'reject'): Promise<unknown> {
    const { edits, commits, revision } = this.pending.visible;
    return this.several(what, edits, commits, this.pending.shown.only ? this.shown() : { revision }, this.pending.shown.only?.title);
  }

  // What the tree shows, where that is not everything. A batch is named by its session; commits by file follow their hunks.
  private shown(): Selection {
    const { only } = this.pending.shown, { edits, commits, revision } = this.pending.visible;
    const whole = commits.some(c => !c.byFile) || edits.some(e => e.batch);
    return !only ? {} : whole ? { session: only.session, revision } : selectionOf(this.pending.roots, revision);
  }

  /** All of these, after a question that says how much that is; of names what they are part of, where that is not everything. */
  async several(what: 'accept' | 'reject', edits: PendingEdit[], commits: QueuedCommit[], selection: Selection, of?: string): Promise<unknown> {
    if (edits.length + commits.length === 0) {
      return undefined;
    }
    const added = edits.reduce((n, e) => n + e.added, 0), removed = edits.reduce((n, e) => n + e.removed, 0);
    const detail = [
      t('{0}. Lines added: {1}, removed: {2}.', files(edits.length), added, removed),
      commits.length === 1 ? t('1 commit waits for them.') : commits.length > 1 ? t('{0} commits wait for them.', commits.length) : '',
      edits.some(e => e.state === 'conflict') ? t('What is in conflict with your changes stays pending.') : '',
    ].filter(Boolean).join('\n');
    const yes = what === 'accept' ? t('Accept All') : t('Reject All');
    const question = of === undefined
      ? what === 'accept' ? t('Accept all pending changes?') : t('Reject all pending changes?')
      : what === 'accept' ? t('Accept the pending changes of "{0}"?', of) : t('Reject the pending changes of "{0}"?', of);
    const chosen = await vscode.window.showWarningMessage(question, { modal: true, detail }, yes);
    return chosen === yes ? this[what](selection) : undefined;
  }

  private async decide(what: 'accept' | 'reject', node?: Node, many?: Node[], ask = false): Promise<unknown> {
    const chosen = many?.length ? many : node ? [node] : [...this.tree.view.selection];
    if (chosen.length === 0) {
      return this.hunk(what);
    }
    if (chosen.every(n => n.kind === 'output')) { // the keys for edits do here what there is to do
      return this.output.decide(what === 'accept' ? 'accept' : 'drop', chosen);
    }
    if (chosen.every(n => n.kind === 'output' || n.kind === 'outputFile')) {
      throw new Error(t('Output is accepted or dropped as a whole: choose the line of its session.'));
    }
    const selection: Selection = selectionOf(chosen, this.pending.list.revision);
    if (ask) {
      const reason = await vscode.window.showInputBox({ title: t('Reject with a reason'), prompt: t('The agent is told'), ignoreFocusOut: true });
      if (reason === undefined) {
        return undefined;
      }
      selection.reason = reason;
    }
    return this[what](selection);
  }

  private file(what: 'accept' | 'reject', uri = this.here()?.document.uri): Promise<unknown> {
    const edit = uri && editOf(this.pending, uri);
    if (!edit) {
      throw new Error(t('Nothing is pending for this file.'));
    }
    if (edit.batch && what === 'accept') {
      return this.accept({ session: edit.session, revision: this.pending.list.revision });
    }
    const hunks = edit.hunks.map(h => h.id);
    return this[what](hunks.length > 0 ? { hunks } : { uris: [edit.uri], revision: this.pending.list.revision });
  }

  // The hunk under the cursor; without one only the next is shown, so that nothing is decided unseen.
  private async hunk(what: 'accept' | 'reject', at?: Gutter): Promise<unknown> {
    const place = at ? this.placeOf(at.uri, at.lineNumber) : this.place();
    const stop = place && hunkAt(this.pending.list.edits, place);
    if (!stop?.hunk) {
      return this.go(true);
    }
    return this[what]({ hunks: [stop.hunk.id] });
  }

  private here(): vscode.TextEditor | undefined { return vscode.window.activeTextEditor; }

  private place(): Here | undefined {
    const editor = this.here();
    return editor && this.placeOf(editor.document.uri, editor.selection.active.line + 1);
  }

  private placeOf(uri: vscode.Uri, line: number): Here | undefined {
    const edit = editOf(this.pending, uri);
    return edit && { uri: edit.uri, side: uri.scheme === schemes.proposed ? 'proposed' : 'base', line };
  }

  private async go(forward: boolean): Promise<void> {
    const stop = step(this.pending.stops(), this.place(), forward);
    if (!stop) {
      void vscode.window.setStatusBarMessage(t('Nothing is pending.'), 3000);
      return;
    }
    await this.diff(stop);
  }

  /** Shows an edit, at a hunk if there is one. */
  async diff({ edit, hunk }: Stop): Promise<void> {
    const name = edit.path.split('/').pop() ?? edit.path;
    const line = hunk ? lines(hunk, 'proposed')[0] - 1 : undefined;
    const at = line === undefined ? undefined : new vscode.Range(line, 0, line, 0);
    await vscode.commands.executeCommand('vscode.diff', sideUri(edit, 'base'), sideUri(edit, 'proposed'), t('{0} (proposed by {1})', name, edit.tool), { preview: true, selection: at });
  }

  private async show(uri: string | undefined): Promise<{ uri: string; shown: boolean }> {
    const edit = uri ? this.pending.list.edits.find(e => e.uri === uri) : undefined;
    await (edit ? this.diff({ edit }) : this.allDiffs());
    return { uri: uri ?? '', shown: true };
  }

  private async openFile(n: Node | vscode.Uri): Promise<void> {
    const edit = n instanceof vscode.Uri ? editOf(this.pending, n) : editsOf(n)[0];
    if (edit) {
      await vscode.window.showTextDocument(vscode.Uri.parse(edit.uri), { preview: true });
    }
  }

  private allDiffs(): Promise<void> {
    return this.diffs([...new Map(this.pending.stops().map(s => [s.edit.uri, s.edit])).values()]); // a file can be below several messages
  }

  /** Shows several edits in one editor. */
  async diffs(edits: PendingEdit[]): Promise<void> {
    if (edits.length > 0) {
      await vscode.commands.executeCommand('vscode.changes', t('Pending changes'), edits.map(e => [sideUri(e, 'proposed'), e.kind === 'create' ? undefined : sideUri(e, 'base'), sideUri(e, 'proposed')]));
    }
  }
}
