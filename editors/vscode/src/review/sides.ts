// The two sides of a pending edit as documents: `sidecar-base:` and `sidecar-proposed:` with the path of the file. The
// proposal can be edited; saving it proposes the new text.
import * as vscode from 'vscode';
import type { Server } from '../client';
import type { PendingEdit } from '../protocol';
import { stamp } from './model';
import type { Pending } from './store';

export type Side = 'base' | 'proposed';
export const schemes = { base: 'sidecar-base', proposed: 'sidecar-proposed' } as const;

/** The document of an edit's side. */
export const sideUri = (edit: { uri: string }, side: Side) => vscode.Uri.parse(edit.uri).with({ scheme: schemes[side] });

/** The file that a side's document stands for, as the server names it. */
const fileUri = (uri: vscode.Uri) => uri.with({ scheme: 'file' });

/** The pending edit of a document: of the file itself or of one of its sides. */
export const editOf = (pending: Pending, uri: vscode.Uri): PendingEdit | undefined => pending.get(fileUri(uri));

/** Leads on when the diffs of decided files are about to be closed. */
export type LeadOn = (decided: vscode.Uri) => Promise<void>;

export function registerSides(server: Server, pending: Pending, leadOn: LeadOn): vscode.Disposable {
  const base = new SideFiles('base', server, pending), proposed = new SideFiles('proposed', server, pending);
  let before = new Set<string>();
  return vscode.Disposable.from(
    vscode.workspace.registerFileSystemProvider(schemes.base, base, { isReadonly: true, isCaseSensitive: true }),
    vscode.workspace.registerFileSystemProvider(schemes.proposed, proposed, { isCaseSensitive: true }),
    pending.onDidChange(() => {
      if (server.health !== 'running') {
        return; // what is pending is not known: documents stay as they are
      }
      base.compare();
      proposed.compare();
      const now = new Set(pending.list.edits.map(e => sideUri(e, 'proposed').toString()));
      void closeDecided(new Set([...before].filter(uri => !now.has(uri))), leadOn);
      before = now;
    }),
    vscode.window.registerFileDecorationProvider(new Badges(pending)),
    markNew(pending),
  );
}

class SideFiles implements vscode.FileSystemProvider {
  private readonly changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.changed.event;
  private shown = new Map<string, { stamp: string; mtime: number }>();

  constructor(private readonly side: Side, private readonly server: Server, private readonly pending: Pending) {}

  /** Tells VS Code which documents are other than they were. */
  compare(): void {
    const now = new Map<string, { stamp: string; mtime: number }>();
    const events: vscode.FileChangeEvent[] = [];
    for (const edit of this.pending.list.edits) {
      const old = this.shown.get(edit.uri), current = stamp(edit);
      now.set(edit.uri, old?.stamp === current ? old : { stamp: current, mtime: Date.now() });
      if (old && old.stamp !== current) {
        events.push({ type: vscode.FileChangeType.Changed, uri: sideUri(edit, this.side) });
      }
    }
    for (const uri of this.shown.keys()) {
      if (!now.has(uri)) {
        events.push({ type: vscode.FileChangeType.Deleted, uri: sideUri({ uri }, this.side) });
      }
    }
    this.shown = now;
    if (events.length > 0) {
      this.changed.fire(events);
    }
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const edit = await this.edit(uri);
    return { type: vscode.FileType.File, ctime: 0, mtime: this.shown.get(edit.uri)?.mtime ?? 0, size: Buffer.byteLength(await this.text(edit)) };
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    return Buffer.from(await this.text(await this.edit(uri)));
  }

  async writeFile(uri: vscode.Uri, content: Uint8Array): Promise<void> {
    await this.server.execute('sidecar.review.propose', { uri: (await this.edit(uri)).uri, text: Buffer.from(content).toString() });
  }

  private async edit(uri: vscode.Uri): Promise<PendingEdit> {
    await this.pending.ready;
    const edit = editOf(this.pending, uri);
    if (!edit) {
      // VS Code strikes out what is not found; without the server nobody knows
      throw this.server.health === 'running' ? vscode.FileSystemError.FileNotFound(uri) : vscode.FileSystemError.Unavailable(uri);
    }
    return edit;
  }

  private async text(edit: PendingEdit): Promise<string> {
    return (await this.server.execute<{ text: string }>('sidecar.review.text', { uri: edit.uri, side: this.side === 'proposed' && edit.state === 'conflict' ? 'taken' : this.side })).text;
  }

  watch(): vscode.Disposable { return new vscode.Disposable(() => undefined); }
  readDirectory(): [string, vscode.FileType][] { return []; }
  createDirectory(uri: vscode.Uri): never { throw vscode.FileSystemError.NoPermissions(uri); }
  delete(uri: vscode.Uri): never { throw vscode.FileSystemError.NoPermissions(uri); }
  rename(uri: vscode.Uri): never { throw vscode.FileSystemError.NoPermissions(uri); }
}

/**
 * Closes the diffs of what was pending in this window and is so no more. One with text of the user's own that is not saved
 * stays, and so does one from before a reload, until it is known to be decided.
 */
async function closeDecided(gone: Set<string>, leadOn: LeadOn): Promise<void> {
  if (gone.size === 0) {
    return;
  }
  const shows = (tab: vscode.Tab) => tab.input instanceof vscode.TabInputTextDiff ? tab.input.modified : tab.input instanceof vscode.TabInputText ? tab.input.uri : undefined;
  const decided = (tab: vscode.Tab) => {
    const uri = shows(tab);
    return uri?.scheme === schemes.proposed && !tab.isDirty && gone.has(uri.toString());
  };
  const active = vscode.window.tabGroups.activeTabGroup.activeTab, shown = active && shows(active);
  if (active && shown && decided(active)) {
    await leadOn(shown).catch(() => undefined); // the next is there before this one goes, so that the place is kept
  }
  // They are looked up again: a preview has been taken over, and VS Code may have made new objects for the tabs.
  const left = vscode.window.tabGroups.all.flatMap(g => g.tabs).filter(decided);
  if (left.length > 0) {
    await vscode.window.tabGroups.close(left, true);
  }
}

/** A new file is shown alone, with nothing to compare it with: all of it has the colour of what is new. */
function markNew(pending: Pending): vscode.Disposable {
  const added = vscode.window.createTextEditorDecorationType({ isWholeLine: true, backgroundColor: new vscode.ThemeColor('diffEditor.insertedLineBackground'), overviewRulerColor: new vscode.ThemeColor('editorOverviewRuler.addedForeground') });
  const draw = () => vscode.window.visibleTextEditors.filter(e => e.document.uri.scheme === schemes.proposed).forEach(e =>
    e.setDecorations(added, editOf(pending, e.document.uri)?.kind === 'create' ? [new vscode.Range(0, 0, Math.max(0, e.document.lineCount - (e.document.lineAt(e.document.lineCount - 1).isEmptyOrWhitespace ? 2 : 1)), 0)] : []));
  return vscode.Disposable.from(added, vscode.window.onDidChangeVisibleTextEditors(draw), vscode.workspace.onDidChangeTextDocument(e => { if (e.document.uri.scheme === schemes.proposed) { draw(); } }));
}

// One letter beside the name of a file in the tree and in the tab of its diff.
class Badges implements vscode.FileDecorationProvider {
  private readonly changed = new vscode.EventEmitter<vscode.Uri[]>();
  readonly onDidChangeFileDecorations = this.changed.event;
  private shown = new Map<string, string>();

  constructor(private readonly pending: Pending) {
    pending.onDidChange(() => this.compare());
  }

  // VS Code asks again only about those that are named.
  private compare(): void {
    const now = new Map(this.pending.list.edits.map(e => [e.uri, `${e.kind} ${e.state} ${e.problems?.errors ?? 0}`]));
    const other = [...new Set([...now.keys(), ...this.shown.keys()])].filter(uri => now.get(uri) !== this.shown.get(uri));
    this.shown = now;
    if (other.length > 0) {
      this.changed.fire(other.map(uri => sideUri({ uri }, 'proposed')));
    }
  }

  provideFileDecoration(uri: vscode.Uri): vscode.FileDecoration | undefined {
    const edit = uri.scheme === schemes.proposed ? editOf(this.pending, uri) : undefined;
    if (!edit) {
      return undefined;
    }
    if (edit.state === 'conflict') {
      return new vscode.FileDecoration('!', vscode.l10n.t('in conflict with your changes'), new vscode.ThemeColor('gitDecoration.conflictingResourceForeground'));
    }
    if (edit.problems?.errors) {
      return new vscode.FileDecoration(String(Math.min(edit.problems.errors, 99)), vscode.l10n.t('brings errors'), new vscode.ThemeColor('list.errorForeground'));
    }
    switch (edit.kind) {
      case 'create': return new vscode.FileDecoration('A', vscode.l10n.t('new file'), new vscode.ThemeColor('gitDecoration.addedResourceForeground'));
      case 'delete': return new vscode.FileDecoration('D', vscode.l10n.t('is deleted'), new vscode.ThemeColor('gitDecoration.deletedResourceForeground'));
      case 'rename': return new vscode.FileDecoration('R', vscode.l10n.t('is moved'), new vscode.ThemeColor('gitDecoration.renamedResourceForeground'));
      case 'modify': return new vscode.FileDecoration('M', vscode.l10n.t('modified'), new vscode.ThemeColor('gitDecoration.modifiedResourceForeground'));
    }
  }
}
