// A list on the page "Manage" whose items are the answer to one command of the server.
import * as vscode from 'vscode';
import type { Row } from '../manage/rows';

export class List<T> implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  /** It may say something else by now. */
  readonly onDidChange = this.changed.event;
  private items = new Map<string, T>();

  constructor(private readonly ask: () => Promise<T[]>, private readonly row: (item: T) => Row) {}

  /** Says that something has happened; who shows the list asks again. */
  refresh(): void { this.changed.fire(); }

  async rows(): Promise<Row[]> {
    const all = (await this.ask()).map(item => ({ item, row: this.row(item) }));
    this.items = new Map(all.map(({ item, row }) => [row.id, item]));
    return all.map(({ row }) => row);
  }

  /** The item of a row that was given last. */
  item(id: string): T | undefined { return this.items.get(id); }

  /** An item that a person chooses, for a command that was run without one; those alone that offer the command. */
  async pick(command: string, title: string): Promise<T | undefined> {
    const fits = (await this.rows()).filter(r => r.actions.some(a => a.command === command));
    if (fits.length === 0) {
      void vscode.window.showInformationMessage(vscode.l10n.t('There is nothing that this could be done with.'));
      return undefined;
    }
    const chosen = await vscode.window.showQuickPick(fits.map(row => ({ label: row.label, description: row.detail, row })), { title });
    return chosen && this.item(chosen.row.id);
  }

  /** Runs a command for an item, shows its error, and reloads the list. */
  command(id: string, title: string, run: (item: T) => Promise<unknown>): vscode.Disposable {
    return vscode.commands.registerCommand(id, async (item?: T) => {
      try {
        const chosen = item ?? await this.pick(id, title);
        if (chosen) {
          await run(chosen);
        }
      } catch (e) {
        void vscode.window.showErrorMessage(e instanceof Error ? e.message : String(e));
      }
      this.refresh();
    });
  }

  dispose(): void { this.changed.dispose(); }
}
