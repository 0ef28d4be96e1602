// Deciding about pending changes, and moving among them.
import * as vscode from 'vscode';
import type { Server } from '../client';
import type { AcceptResult, Failure, MadeCommit, PastEdit, PendingEdit, QueuedCommit, RejectResult, ReviewList, Selection, UndoResult, VerifyResult } from '../protocol';
import { selected } from '../agent/changes';
import { after, editsOf, hunkAt, lines, owners, parted, selectionOf, step, type Here, type Node, type Stop } from './model';
import type { Output } from './output';
import { editOf, schemes, sideUri } from './sides';
import type { Pending } from './store';
import { files, verifiedText, type PendingTree } from './tree';

const t = vscode.l10n.t;

/** Where a menu beside the line numbers was opened. */
interface Gutter { uri: vscode.Uri; lineNumber: number }

/** What somebody decided, with the list as it was before. */
export interface Decided { what: 'accept' | 'reject'; selection: Selection; before: ReviewList; failed: Failure[]; accepted: number }

export class Review {
  private readonly decided = new vscode.EventEmitter<Decided>();
  readonly onDidDecide = this.decided.event;
  /** The name of a session's agent, if known. */
  author: (session: string) => string | undefined = () => undefined;
  private readonly seen = new vscode.EventEmitter<void>();
  /** A person has looked at a change. */
  readonly onDidSee = this.seen.event;
  private readonly diffShown = new vscode.EventEmitter<void>();
  /** A diff is on the screen, by a person or by itself. */
  readonly onDidShowDiff = this.diffShown.event;
  private deciding: { uris: Set<string>; order: string[]; what: Decided['what'] } = { uris: new Set(), order: [], what: 'accept' };
  private opened = false; // the first change was

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
      'sidecar.buildOutput': (n?: Node, many?: Node[]) => this.output.decide('build', many ?? (n ? [n] : [])),
      'sidecar.acceptFile': (uri?: vscode.Uri) => this.file('accept', uri),
      'sidecar.rejectFile': (uri?: vscode.Uri) => this.file('reject', uri),
      'sidecar.acceptFileInTitle': (uri?: vscode.Uri) => this.file('accept', uri), // a title shows the keys of a command below its words
      'sidecar.rejectFileInTitle': (uri?: vscode.Uri) => this.file('reject', uri),
      'sidecar.acceptHunk': (at?: Gutter) => this.hunk('accept', at),
      'sidecar.rejectHunk': (at?: Gutter) => this.hunk('reject', at),
      'sidecar.keepMine': (n?: Node | vscode.Uri) => this.conflict('mine', n),
      'sidecar.takeAgents': (n?: Node | vscode.Uri) => this.conflict('agent', n),
      'sidecar.verify': (n?: Node) => this.verify(n?.kind === 'batch' ? selectionOf([n], this.pending.list.revision) : this.shown()),
      'sidecar.verifyChecked': () => this.verify(selectionOf(this.tree.checkedNodes(), this.pending.list.revision)),
      'sidecar.undoAccept': () => this.undo(),
      'sidecar.redoEdit': () => this.turn('redo'),
      'sidecar.editHistory': () => this.history(),
      'sidecar.nextFile': () => this.nextFile(),
      'sidecar.next': () => this.go(true),
      'sidecar.previous': () => this.go(false),
      'sidecar.openDiff': (n: Node) => (n.kind === 'hunk' ? this.diff(n) : n.kind === 'file' ? this.diff({ edit: n.edit }) : undefined),
      'sidecar.openFile': (n: Node | vscode.Uri) => this.openFile(n),
      'sidecar.openAllDiffs': () => this.allDiffs(),
      'sidecar.filterPending': async () => { await vscode.commands.executeCommand('sidecar.pending.focus'); await vscode.commands.executeCommand('list.find'); },
      'sidecar.groupByMessage': () => this.pending.group(true),
      'sidecar.groupByFolder': () => this.pending.group(false),
      'sidecar.showAllSessions': () => this.pending.showOnly(undefined),
    };
    return vscode.Disposable.from(
      ...Object.entries(commands).map(([id, run]) => vscode.commands.registerCommand(id, (...args: never[]) => this.reporting(() => run(...args)))),
      this.decided, this.seen, this.diffShown,
      vscode.window.onDidChangeActiveTextEditor(() => this.context()),
      this.pending.onDidChange(() => { this.context(); void this.first(); }),
    );
  }

  // Failures are shown where they happen, once.
  private async reporting(f: () => unknown): Promise<unknown> {
    try {
      return await f();
    } catch (e) {
      void vscode.window.showErrorMessage(e instanceof Error ? e.message : String(e));
      return undefined;
    }
  }

  private context(): void {
    const uri = vscode.window.activeTextEditor?.document.uri;
    const edit = uri && editOf(this.pending, uri);
    void vscode.commands.executeCommand('setContext', 'sidecar.editorPending', edit !== undefined);
    void vscode.commands.executeCommand('setContext', 'sidecar.editorConflict', edit?.state === 'conflict');
  }

  async accept(selection: Selection): Promise<AcceptResult> {
    const before = this.pending.list;
    this.remember('accept', selection);
    const result = await this.server.execute<AcceptResult>('sidecar.review.accept', selection);
    this.decided.fire({ what: 'accept', selection, before, failed: result.failed, accepted: result.accepted.length });
    this.showFailures(t('Not accepted'), result.failed, result.commits);
    return result;
  }

  async reject(selection: Selection): Promise<RejectResult> {
    const before = this.pending.list;
    this.remember('reject', selection);
    const result = await this.server.execute<RejectResult>('sidecar.review.reject', selection);
    this.decided.fire({ what: 'reject', selection, before, failed: [], accepted: 0 });
    this.showFailures(t('Not made'), [], result.made);
    return result;
  }

  private remember(what: Decided['what'], selection: Selection): void {
    const { list } = this.pending, named = new Set(selection.uris ?? []);
    const chosen = [...selected(list, selection).map(s => s.edit), ...list.edits.filter(e => named.has(e.uri) || e.hunks.length === 0 && selection.hunks === undefined && selection.uris === undefined)];
    this.deciding = { what, uris: new Set(chosen.map(e => e.uri)), order: this.pending.stops().map(s => s.edit.uri) };
  }

  /** Goes on from a file that the person has decided about: to the next that waits, and behind the last to the file itself. */
  async leadOn(side: vscode.Uri): Promise<void> {
    const { uris, order, what } = this.deciding, file = side.with({ scheme: 'file' });
    const decided = [...uris].find(u => vscode.Uri.parse(u).toString() === file.toString());
    if (decided === undefined) {
      return; // somebody else did
    }
    const next = after(order, decided, new Set(this.pending.stops().map(s => s.edit.uri)));
    const edit = this.pending.list.edits.find(e => e.uri === next);
    if (edit) {
      await this.diff({ edit, hunk: edit.hunks[0] });
    } else if (await vscode.workspace.fs.stat(file).then(s => s.type === vscode.FileType.File, () => false)) {
      await vscode.window.showTextDocument(file, { preview: true });
    } else if (what === 'accept') {
      void vscode.window.setStatusBarMessage(t('Nothing is pending.'), 3000);
    }
  }

  // The first change that comes while a person looks elsewhere is shown beside, once, and takes no focus.
  private async first(): Promise<void> {
    const [stop] = this.pending.stops();
    if (this.opened || !stop) {
      return;
    }
    this.opened = true;
    const there = vscode.window.tabGroups.all.flatMap(g => g.tabs);
    const reviews = there.some(({ input }) => (input instanceof vscode.TabInputTextDiff ? input.modified : input instanceof vscode.TabInputText ? input.uri : undefined)?.scheme === schemes.proposed);
    if (!reviews && !this.pending.fromBefore) {
      await this.reporting(() => this.diff(stop, { preserveFocus: true, viewColumn: there.length > 0 ? vscode.ViewColumn.Beside : vscode.ViewColumn.Active }));
    }
  }

  /** Decides on what is in conflict: the lines of the user stay, or those of the agent take their place. */
  private async conflict(keep: 'mine' | 'agent', of?: Node | vscode.Uri): Promise<unknown> {
    const uri = of instanceof vscode.Uri ? of : this.here()?.document.uri, node = of instanceof vscode.Uri ? undefined : of;
    const edit = node ? editsOf(node)[0] : uri && editOf(this.pending, uri);
    const here = of === undefined ? this.place() : undefined, stop = here && hunkAt(this.pending.list.edits, here);
    const one = node?.kind === 'hunk' ? node.hunk : stop?.hunk?.state === 'conflict' ? stop.hunk : undefined;
    const hunks = one ? [one.id] : edit ? parted(edit).conflicts : [];
    if (hunks.length === 0) {
      throw new Error(t('Nothing is in conflict here.'));
    }
    return keep === 'mine' ? this.reject({ hunks }) : this.accept({ hunks, take: true });
  }

  // Accepting a file in conflict asks which of the two texts is to stay.
  private async acceptConflict(edit: PendingEdit): Promise<unknown> {
    const take = t('Take the Agent\'s'), keep = t('Keep Mine');
    const { conflicts, others } = parted(edit);
    const chosen = await vscode.window.showWarningMessage(t('You and the agent have both changed the same lines of {0}.', edit.path), { modal: true, detail: t('The other changes of the file are accepted with either.') }, take, keep);
    if (chosen === take) {
      return this.accept({ hunks: [...conflicts, ...others], take: true });
    }
    if (chosen === keep) {
      await this.reject({ hunks: conflicts });
      return others.length > 0 ? this.accept({ hunks: others }) : undefined;
    }
    return undefined;
  }

  /** Tests what is pending, or what is chosen of it, and says how that went; the output is a document. */
  async verify({ uris, hunks, session }: Selection): Promise<VerifyResult> {
    const result = await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title: t('Testing the pending changes'), cancellable: true },
      (_, token) => this.server.execute<VerifyResult>('sidecar.review.verify', { uris, hunks, session }, token));
    const output = t('Show Output');
    const text = verifiedText(result);
    void (result.ok ? vscode.window.showInformationMessage(text, output) : vscode.window.showWarningMessage(text, output)).then(async chosen => {
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
    return this.turn('undo', 'last'); // again: the one before
  }

  // Takes edits back or makes them again, and says which.
  private async turn(what: 'undo' | 'redo', to?: string): Promise<UndoResult> {
    const result = await this.server.execute<UndoResult>(`sidecar.review.${what}`, to === undefined ? {} : { to });
    const undone = result.what === 'undo';
    this.showFailures(undone ? t('Not taken back') : t('Not made again'), result.failed);
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

  private showFailures(what: string, failed: Failure[], commits: MadeCommit[] = []): void {
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
    if (edit.state === 'conflict' && what === 'accept') {
      return this.acceptConflict(edit);
    }
    const hunks = edit.hunks.map(h => h.id);
    return this[what](hunks.length > 0 ? { hunks } : { uris: [edit.uri], revision: this.pending.list.revision });
  }

  // The hunk under the cursor; without one only the next is shown, so that nothing is decided unseen.
  private async hunk(what: 'accept' | 'reject', at?: Gutter): Promise<unknown> {
    const place = at ? this.placeOf(at.uri, at.lineNumber) : this.place();
    const stop = place && hunkAt(this.pending.list.edits, place);
    if (!stop?.hunk) {
      if (this.pending.stops().length > 0) {
        void vscode.window.setStatusBarMessage(t('No change is under the cursor. This is the next one.'), 5000);
      }
      return this.go(true);
    }
    return what === 'accept' && stop.hunk.state === 'conflict' ? this.acceptConflict({ ...stop.edit, hunks: [stop.hunk] }) : this[what]({ hunks: [stop.hunk.id] });
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

  private async nextFile(): Promise<void> {
    const all = this.pending.stops().map(s => s.edit.uri), here = this.place()?.uri;
    const next = after(all, here ?? '', new Set(all.filter(uri => uri !== here)));
    const edit = this.pending.list.edits.find(e => e.uri === next);
    if (edit) {
      await this.diff({ edit, hunk: edit.hunks[0] });
    }
  }

  /** Shows an edit, at a hunk if there is one. A new file has nothing to compare with: it is shown alone. */
  async diff({ edit, hunk }: Stop, how: vscode.TextDocumentShowOptions = {}): Promise<void> {
    const name = edit.path.split('/').pop() ?? edit.path, by = this.by(edit);
    const line = hunk ? lines(hunk, 'proposed')[0] - 1 : undefined;
    const options = { preview: true, ...how, ...(line === undefined ? {} : { selection: new vscode.Range(line, 0, line, 0) }) };
    const title = by ? t('{0} (proposed by {1})', name, by) : t('{0} (proposed)', name);
    if (!how.preserveFocus) {
      this.seen.fire();
    }
    if (edit.kind === 'create' && edit.state !== 'conflict') {
      await vscode.commands.executeCommand('vscode.open', sideUri(edit, 'proposed'), options, title);
    } else {
      await vscode.commands.executeCommand('vscode.diff', sideUri(edit, 'base'), sideUri(edit, 'proposed'), title, options);
    }
    this.diffShown.fire();
  }

  /** Who has proposed it, as people call them. */
  private by(edit: PendingEdit): string {
    return [...new Set(owners(edit).map(s => this.author(s) ?? s))].join(', ');
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
      this.seen.fire();
      await vscode.commands.executeCommand('vscode.changes', t('Pending changes'), edits.map(e => [sideUri(e, 'proposed'), e.kind === 'create' ? undefined : sideUri(e, 'base'), sideUri(e, 'proposed')]));
      this.diffShown.fire();
    }
  }
}
