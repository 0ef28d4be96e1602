// The view "Pending Changes".
import * as vscode from 'vscode';
import type { EditKind, PendingEdit } from '../protocol';
import { markText, outputText, dangers, shownName } from './held';
import { brokenElsewhere, counts, editsOf, hunkCounts, hunkLabel, lines, owners, problemLines, type Node } from './model';
import type { Drawn } from './reconcile';
import { sideUri } from './sides';
import type { Pending } from './store';

const icons: Record<EditKind, [string, string]> = {
  create: ['diff-added', 'gitDecoration.addedResourceForeground'],
  modify: ['diff-modified', 'gitDecoration.modifiedResourceForeground'],
  delete: ['diff-removed', 'gitDecoration.deletedResourceForeground'],
  rename: ['diff-renamed', 'gitDecoration.renamedResourceForeground'],
};
const warningColor = new vscode.ThemeColor('list.warningForeground');
const conflictColor = new vscode.ThemeColor('gitDecoration.conflictingResourceForeground');

export class PendingTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<Node[] | undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  readonly view: vscode.TreeView<Node>;
  private readonly checked = new Set<string>(); // ids of leaves

  constructor(private readonly pending: Pending) {
    this.view = vscode.window.createTreeView('sidecar.pending', { treeDataProvider: this, canSelectMany: true, manageCheckboxStateManually: true, showCollapseAll: true });
    this.view.onDidChangeCheckboxState(e => {
      for (const [node, state] of e.items) {
        for (const id of leaves(node)) {
          state === vscode.TreeItemCheckboxState.Checked ? this.checked.add(id) : this.checked.delete(id);
        }
      }
      this.refresh('all');
    });
    pending.onDidChange(changed => this.refresh(changed));
  }

  private refresh(changed: Drawn['changed']): void {
    const present = new Set(this.pending.roots.flatMap(leaves));
    for (const id of [...this.checked].filter(id => !present.has(id))) {
      this.checked.delete(id);
    }
    const n = this.pending.list.edits.length;
    this.view.badge = n > 0 ? { value: n, tooltip: n === 1 ? vscode.l10n.t('1 file with pending changes') : vscode.l10n.t('{0} files with pending changes', n) } : undefined;
    const broken = brokenElsewhere(this.pending.list);
    const message = [
      broken.length > 0 ? `⚠ ${vscode.l10n.t('Accepted, this brings problems to other files: {0}', broken.slice(0, 5).join(', '))}` : '',
      this.pending.list.verified ? verifiedText(this.pending.list.verified) : '',
    ].filter(Boolean).join('\n') || undefined;
    if (this.view.message !== message) {
      this.view.message = message; // VS Code holds the tree back for 200 ms behind each one that is set, even to the same
    }
    const { only, byMessage } = this.pending.shown;
    void vscode.commands.executeCommand('setContext', 'sidecar.pendingOnly', only !== undefined);
    void vscode.commands.executeCommand('setContext', 'sidecar.byMessage', byMessage);
    void vscode.commands.executeCommand('setContext', 'sidecar.pending', n + this.pending.list.commits.length);
    void vscode.commands.executeCommand('setContext', 'sidecar.held', this.pending.held.length);
    void vscode.commands.executeCommand('setContext', 'sidecar.checked', this.checked.size);
    if (changed === 'all') {
      this.changed.fire(undefined);
    } else if (changed.length > 0) {
      this.changed.fire(changed);
    }
  }

  /** The nodes whose boxes are ticked: leaves, as their parents follow from them. */
  checkedNodes(): Node[] {
    const found: Node[] = [];
    const walk = (node: Node): void => {
      if (node.children.length > 0) {
        node.children.forEach(walk);
      } else if (this.checked.has(node.id)) {
        found.push(node);
      }
    };
    this.pending.roots.forEach(walk);
    return found;
  }

  getChildren(node?: Node): Node[] { return node ? node.children : this.pending.roots; }
  getParent(node: Node): Node | undefined { return node.parent; }

  getTreeItem(node: Node): vscode.TreeItem {
    const item = this.item(node);
    item.id = node.id;
    item.contextValue = node.kind;
    if (!unticked.has(node.kind) && node.kind !== 'batch' && !this.inBatch(node)) {
      const ids = leaves(node);
      item.checkboxState = ids.length > 0 && ids.every(id => this.checked.has(id)) ? vscode.TreeItemCheckboxState.Checked : vscode.TreeItemCheckboxState.Unchecked;
    }
    if (this.inBatch(node)) {
      item.contextValue += 'InBatch';
    }
    if ((node.kind === 'hunk' ? node.hunk : node.kind === 'file' ? node.edit : undefined)?.state === 'conflict') {
      item.contextValue += 'Conflict';
    }
    if (node.kind === 'hunk' && node.hunk.message || node.kind === 'message' && node.message) {
      item.contextValue += 'Said';
    }
    return item;
  }

  private inBatch(node: Node): boolean {
    return node.parent?.kind === 'batch' || (node.parent ? this.inBatch(node.parent) : false);
  }

  private item(node: Node): vscode.TreeItem {
    const { Collapsed, Expanded, None } = vscode.TreeItemCollapsibleState;
    switch (node.kind) {
      case 'filter': {
        const item = new vscode.TreeItem(vscode.l10n.t('Only {0}', node.title), None);
        item.iconPath = new vscode.ThemeIcon('filter-filled');
        item.description = vscode.l10n.t('show all');
        item.tooltip = vscode.l10n.t('Only what this conversation has changed is shown. Click to see the changes of all sessions.');
        item.command = { command: 'sidecar.showAllSessions', title: vscode.l10n.t('Show the changes of all sessions') };
        return named(item, `${String(item.label)}, ${item.description}`);
      }
      case 'total': {
        const sum = (of: (e: PendingEdit) => number) => node.edits.reduce((n, e) => n + of(e), 0);
        const item = new vscode.TreeItem(files(node.edits.length), None);
        item.iconPath = new vscode.ThemeIcon('files');
        item.description = counts(sum(e => e.added), sum(e => e.removed));
        item.tooltip = vscode.l10n.t('All that is shown. The filter finds files by their names.');
        return named(item, `${String(item.label)}, ${item.description}`);
      }
      case 'batch': {
        const item = new vscode.TreeItem(vscode.l10n.t('Batch of {0}', node.session), Expanded);
        item.iconPath = new vscode.ThemeIcon('package');
        const { verified, edits } = this.pending.list;
        const tested = verified && edits.length === node.edits.length ? verified : undefined; // else it is of other edits, too
        item.description = (tested ? `${verifiedMark(tested)} ` : '') + [files(node.edits.length), node.commits.length === 1 ? vscode.l10n.t('1 commit') : node.commits.length > 0 ? vscode.l10n.t('{0} commits', node.commits.length) : ''].filter(Boolean).join(', ');
        item.tooltip = [vscode.l10n.t('Accepted as a whole or not at all. Its commits are made after its files.'), tested ? verifiedText(tested) : ''].filter(Boolean).join('\n');
        return named(item, [String(item.label), item.description, tested ? verifiedText(tested) : ''].filter(Boolean).join(', '));
      }
      case 'commit': {
        const [subject] = node.commit.message.split('\n');
        const item = new vscode.TreeItem(subject ?? '', None);
        item.iconPath = new vscode.ThemeIcon(node.commit.ref === 'tag' ? 'tag' : node.commit.ref ? 'git-branch' : 'git-commit', node.commit.error ? new vscode.ThemeColor('list.errorForeground') : undefined);
        item.description = node.commit.error ?? [node.commit.branch, node.commit.merges ? vscode.l10n.t('merges {0}', node.commit.merges.map(id => id.slice(0, 10)).join(', ')) : '', node.commit.ref && !node.commit.paths.length ? '' : files(node.commit.paths.length)].filter(Boolean).join(', ');
        item.tooltip = new vscode.MarkdownString().appendCodeblock(node.commit.message, 'git-commit').appendText(node.commit.paths.join('\n'));
        return named(item, node.commit.ref ? subject ?? '' : vscode.l10n.t('commit {0}', subject ?? ''));
      }
      case 'message': {
        const { message } = node, n = new Set(editsOf(node).map(e => e.uri)).size;
        const item = new vscode.TreeItem(message ? firstLine(message.text) || vscode.l10n.t('Message {0}', message.number) : vscode.l10n.t('Without a message'), Expanded);
        item.iconPath = new vscode.ThemeIcon(message ? 'comment' : 'circle-slash');
        item.description = files(n);
        item.tooltip = message ? message.text : vscode.l10n.t('What no message of a conversation has led to.');
        return named(item, `${String(item.label)}, ${item.description}`);
      }
      case 'folder': {
        const item = new vscode.TreeItem(node.label, Expanded);
        item.iconPath = vscode.ThemeIcon.Folder;
        return item;
      }
      case 'file': {
        const edit = node.edit;
        const name = edit.path.split('/').pop() ?? edit.path;
        const item = new vscode.TreeItem(name, node.children.length > 0 ? (edit.state === 'conflict' ? Expanded : Collapsed) : None);
        const [icon, color] = icons[edit.kind];
        item.iconPath = new vscode.ThemeIcon(icon, edit.state === 'conflict' ? conflictColor : new vscode.ThemeColor(color));
        item.resourceUri = sideUri(edit, 'proposed');
        item.description = [node.where ?? '', counts(edit.added, edit.removed), edit.from ? `← ${edit.from}` : '', edit.state === 'conflict' ? vscode.l10n.t('conflict') : '', problems(edit)].filter(Boolean).join('  ');
        item.tooltip = [edit.path, [edit.command ? `${edit.tool}: ${edit.command}` : edit.tool, ...owners(edit)].join(' · '), ...problemLines(this.pending.list, edit.path, vscode.l10n.t)].join('\n');
        item.command = { command: 'sidecar.openDiff', title: vscode.l10n.t('Show diff'), arguments: [node] };
        return named(item, `${edit.path}, ${kindName(edit.kind)}, ${item.description}`);
      }
      case 'hunk': {
        const { hunk } = node;
        const item = new vscode.TreeItem(hunkLabel(hunk), None);
        item.description = [hunkCounts(hunk), vscode.l10n.t('line {0}', lines(hunk, 'proposed')[0]), hunk.state === 'conflict' ? vscode.l10n.t('conflict') : '', hunk.again ? vscode.l10n.t('rejected before') : ''].filter(Boolean).join('  ');
        item.iconPath = hunk.state === 'conflict' ? new vscode.ThemeIcon('warning', conflictColor) : undefined;
        item.tooltip = new vscode.MarkdownString().appendCodeblock(hunk.text, 'diff');
        if (hunk.message) {
          item.tooltip.appendText(`${hunk.message.run}: ${hunk.message.text.slice(0, 80)}`);
        }
        item.command = { command: 'sidecar.openDiff', title: vscode.l10n.t('Show diff'), arguments: [node] };
        return named(item, `${String(item.label)}, ${item.description}`);
      }
      case 'output': {
        const { held } = node;
        const item = new vscode.TreeItem(vscode.l10n.t('Output of {0}', shownName(held.session)), Collapsed);
        item.iconPath = new vscode.ThemeIcon('output', held.protected.length > 0 ? warningColor : undefined);
        item.description = outputText(held, vscode.l10n.t);
        item.tooltip = [vscode.l10n.t('What git ignores, and dependencies, as commands left them. It goes to the workspace when you accept it.'), new Date(held.at).toLocaleString(), ...dangers([held], vscode.l10n.t)].join('\n');
        return named(item, `${String(item.label)}: ${item.description}`);
      }
      case 'outputFile': {
        const item = new vscode.TreeItem(shownName(node.name), None);
        const [icon, color] = node.marks.includes('protected') ? ['warning', warningColor] as const
          : node.marks.includes('deleted') ? ['diff-removed', new vscode.ThemeColor(icons.delete[1])] as const
          : [node.marks.includes('program') ? 'terminal' : 'files', undefined] as const;
        item.iconPath = new vscode.ThemeIcon(icon, color);
        item.description = node.marks.map(mark => markText(mark, vscode.l10n.t)).join(', ');
        item.tooltip = [item.label, item.description].filter(Boolean).join('\n');
        return named(item, [item.label, item.description].filter(Boolean).join(', '));
      }
    }
  }

  dispose(): void {
    this.view.dispose();
    this.changed.dispose();
  }
}

const firstLine = (text: string) => text.trim().split('\n')[0]!.slice(0, 80);

// What an edit would make worse in its file.
function problems({ problems: p }: PendingEdit): string {
  return [
    p?.errors ? (p.errors === 1 ? vscode.l10n.t('1 error') : vscode.l10n.t('{0} errors', p.errors)) : '',
    p?.warnings ? (p.warnings === 1 ? vscode.l10n.t('1 warning') : vscode.l10n.t('{0} warnings', p.warnings)) : '',
  ].filter(Boolean).map(text => `⚠ ${text}`).join('  ');
}

export const files = (n: number) => (n === 1 ? vscode.l10n.t('1 file') : vscode.l10n.t('{0} files', n));

export function kindName(kind: EditKind): string {
  switch (kind) {
    case 'create': return vscode.l10n.t('new file');
    case 'modify': return vscode.l10n.t('modified');
    case 'delete': return vscode.l10n.t('is deleted');
    case 'rename': return vscode.l10n.t('is moved');
  }
}

// Without this a tooltip would be what a screen reader reads.
function named(item: vscode.TreeItem, label: string): vscode.TreeItem {
  item.accessibilityInformation = { label };
  return item;
}

// What no box can tick: it is decided on in another way, or not at all.
const unticked = new Set<Node['kind']>(['filter', 'total', 'commit', 'output', 'outputFile']);

function leaves(node: Node): string[] {
  return node.children.length > 0 ? node.children.flatMap(leaves) : unticked.has(node.kind) ? [] : [node.id];
}

/** What tests said of pending changes, in a sign. */
const verifiedMark = (v: { ok: boolean; passed?: number; failed?: number; stale?: boolean }) => (v.stale || noTest(v) ? '○' : v.ok ? '✓' : '✗');

// A runner that counts its tests ran none: that it went well says nothing.
const noTest = (v: { ok: boolean; passed?: number; failed?: number }) => v.ok && v.passed === 0 && !v.failed;

/** What tests said of pending changes, in a line. */
export function verifiedText(v: { ok: boolean; command: string; passed?: number; failed?: number; stale?: boolean }): string {
  if (noTest(v)) {
    return vscode.l10n.t('○ Not tested, no test was run: {0}', v.command);
  }
  const counts = v.passed === undefined ? v.command : v.failed ? vscode.l10n.t('{0} passed, {1} failed', v.passed, v.failed) : vscode.l10n.t('{0} passed', v.passed);
  if (v.stale) {
    return v.ok ? vscode.l10n.t('○ Tested, and changed since: {0}', counts) : vscode.l10n.t('○ Tests failed, and it was changed since: {0}', counts);
  }
  return v.ok ? vscode.l10n.t('✓ Tested: {0}', counts) : vscode.l10n.t('✗ Tests failed: {0}', counts);
}
