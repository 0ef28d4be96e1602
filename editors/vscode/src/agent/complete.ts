// What @ offers in the composer: files, symbols, what is selected, what is wrong.
import * as vscode from 'vscode';
import { diagnosticsChip, fileChip, plain, selectionChip } from './chips';
import type { Attachment } from './event';
import type { Chip, Completion } from './messages';

const t = vscode.l10n.t;

/** How many files are looked through and how many items are offered; after that many milliseconds the files are looked for anew. */
const most = { files: 5000, items: 30, symbols: 10 }, fresh = 5000;

type Made = [Omit<Chip, 'id'>, Attachment];

export class Completions {
  private offered = new Map<string, () => Made | undefined>();
  private files: { at: number; list: Promise<string[]> } | undefined;
  private asked = 0;

  /** The offers for what was typed behind the @; undefined when something else has been typed meanwhile. */
  async complete(query: string): Promise<Completion[] | undefined> {
    const turn = ++this.asked;
    const [files, symbols] = await Promise.all([this.paths(), query.length >= 2 ? this.symbols(query) : []]);
    if (turn !== this.asked) {
      return undefined;
    }
    const offered = new Map<string, () => Made | undefined>(), items: Completion[] = [];
    const offer = (item: Completion, make: () => Made | undefined) => {
      if (items.length < most.items) {
        items.push(item);
        offered.set(item.id, make);
      }
    };
    const editor = vscode.window.activeTextEditor ?? vscode.window.visibleTextEditors.find(e => e.document.uri.scheme === 'file');
    const fits = (word: string) => word.startsWith(query.toLowerCase());
    if (editor?.document.uri.scheme === 'file' && !editor.selection.isEmpty && fits('selection')) {
      const [chip] = selectionChip(editor);
      offer({ id: 'selection', label: t('Selection'), detail: chip.label, kind: 'selection' }, () => selectionChip(editor));
    }
    const problems = fits('problems') ? diagnosticsChip() : undefined;
    if (problems) {
      offer({ id: 'diagnostics', label: t('Problems'), detail: problems[0].label, kind: 'diagnostics' }, diagnosticsChip);
    }
    for (const file of ranked(files, query).slice(0, most.items)) {
      const uri = uriOf(file);
      if (uri) {
        offer({ id: `file:${file}`, label: file.split('/').pop() ?? file, ...(file.includes('/') ? { detail: file } : {}), kind: 'file' }, () => fileChip(uri));
      }
    }
    for (const s of symbols) {
      const where = vscode.workspace.asRelativePath(s.location.uri), line = s.location.range.start.line + 1;
      offer({ id: `symbol:${where}:${line}:${s.name}`, label: s.name, detail: `${where}:${line}`, kind: 'symbol' },
        () => [{ kind: 'range', label: s.name, detail: `${where}:${line}` }, { kind: 'range', uri: s.location.uri.toString(), range: plain(s.location.range) }]);
    }
    this.offered = offered;
    return items;
  }

  /** What an offer stands for. */
  take(id: string): Made | undefined { return this.offered.get(id)?.(); }

  private paths(): Promise<string[]> {
    if (!this.files || Date.now() - this.files.at > fresh) {
      const list = Promise.resolve(vscode.workspace.findFiles('**/*', undefined, most.files)).then(found => found.map(u => vscode.workspace.asRelativePath(u)).sort(), () => []);
      this.files = { at: Date.now(), list };
    }
    return this.files.list;
  }

  private async symbols(query: string): Promise<vscode.SymbolInformation[]> {
    const found = await Promise.resolve(vscode.commands.executeCommand<vscode.SymbolInformation[]>('vscode.executeWorkspaceSymbolProvider', query)).catch(() => []);
    return (found ?? []).filter(s => s.location.uri.scheme === 'file').slice(0, most.symbols);
  }
}

// With several folders the first part of a path is the folder's name.
function uriOf(file: string): vscode.Uri | undefined {
  const folders = vscode.workspace.workspaceFolders ?? [];
  if (folders.length === 1) {
    return vscode.Uri.joinPath(folders[0]!.uri, file);
  }
  const [name = '', ...rest] = file.split('/');
  const folder = folders.find(f => f.name === name);
  return folder && vscode.Uri.joinPath(folder.uri, ...rest);
}

/** The paths that have the letters of the query in their order: first those whose name begins with it, then those that have it in one piece. */
function ranked(files: string[], query: string): string[] {
  const q = query.toLowerCase();
  if (q === '') {
    return files;
  }
  const rank = (file: string): number => {
    const lower = file.toLowerCase(), name = lower.slice(lower.lastIndexOf('/') + 1);
    if (name.startsWith(q)) { return 0; }
    if (name.includes(q)) { return 1; }
    if (lower.includes(q)) { return 2; }
    let at = -1;
    for (const c of q) {
      at = lower.indexOf(c, at + 1);
      if (at < 0) { return -1; }
    }
    return 3;
  };
  return files.map(file => ({ file, r: rank(file) })).filter(x => x.r >= 0).sort((a, b) => a.r - b.r || a.file.length - b.file.length).map(x => x.file);
}
