// What is pending, as the server said last.
import * as vscode from 'vscode';
import type { PendingEdit, ReviewList } from '../protocol';
import { nothing, stops, tree, type Node, type Stop } from './model';
import { reconcile, type Drawn } from './reconcile';

/** Changes that come faster than this, in milliseconds, are shown together; the first of them at once. */
const pause = 40;

export class Pending implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<Drawn['changed']>();
  /** Says which nodes are to be drawn again. */
  readonly onDidChange = this.changed.event;
  list: ReviewList = nothing;
  roots: Node[] = [];
  private files = new Map<string, PendingEdit>();
  private next: ReviewList | undefined;
  private timer: NodeJS.Timeout | undefined;
  private last = 0;
  private known!: () => void;

  /** Is kept as soon as it is known what is pending: an editor may ask before, after a reload. */
  readonly ready = new Promise<void>(resolve => { this.known = resolve; });

  /** Takes what the server says. */
  set(list: ReviewList): void {
    this.next = list;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.last = Date.now();
      this.list = this.next ?? nothing;
      const spelled = this.files; // those of before: how VS Code writes a URI is not worked out again
      this.files = new Map();
      const known = new Map([...spelled].map(([key, edit]) => [edit.uri, key]));
      for (const edit of this.list.edits) {
        this.files.set(known.get(edit.uri) ?? vscode.Uri.parse(edit.uri).toString(), edit);
      }
      const { roots, changed } = reconcile(this.roots, tree(this.list));
      this.roots = roots;
      this.changed.fire(changed);
      this.known();
    }, Math.max(0, this.last + pause - Date.now()));
  }

  /** The edit of a file. */
  get(file: vscode.Uri): PendingEdit | undefined { return this.files.get(file.toString()); }

  stops(): Stop[] { return stops(this.roots); }

  dispose(): void {
    clearTimeout(this.timer);
    this.changed.dispose();
  }
}
