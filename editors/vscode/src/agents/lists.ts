// The views "Sessions" and "Shadows". They ask the server when they are looked at, and when something happened.
import * as vscode from 'vscode';
import type { Server } from '../client';

/** A view whose items are the answer to one command. */
export class ListView<T> implements vscode.TreeDataProvider<T>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly view: vscode.TreeView<T>;
  private timer: NodeJS.Timeout | undefined;

  constructor(id: string, private readonly server: Server, private readonly ask: () => Promise<T[]>, private readonly item: (t: T) => vscode.TreeItem) {
    this.view = vscode.window.createTreeView(id, { treeDataProvider: this });
    server.onDidChange(() => this.refresh());
  }

  /** Asks again soon if somebody is looking; VS Code asks by itself when the view is shown. */
  refresh(): void {
    if (this.view.visible) {
      this.timer ??= setTimeout(() => { this.timer = undefined; this.changed.fire(); }, 150);
    }
  }

  async getChildren(parent?: T): Promise<T[]> {
    return parent || this.server.health !== 'running' ? [] : this.ask().catch(() => []);
  }

  getTreeItem(t: T): vscode.TreeItem { return this.item(t); }

  dispose(): void {
    clearTimeout(this.timer);
    this.view.dispose();
  }
}
