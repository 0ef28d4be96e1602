// What is pending, as the server said last.
import * as vscode from 'vscode';
import type { ReviewList } from '../protocol';
import { nothing, stops, tree, type Node, type Stop } from './model';

/** Changes that come faster than this, in milliseconds, are shown together. */
const pause = 40;

export class Pending implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  list: ReviewList = nothing;
  roots: Node[] = [];
  private next: ReviewList | undefined;
  private timer: NodeJS.Timeout | undefined;
  private known!: () => void;

  /** Is kept as soon as it is known what is pending: an editor may ask before, after a reload. */
  readonly ready = new Promise<void>(resolve => { this.known = resolve; });

  /** Takes what the server says. */
  set(list: ReviewList): void {
    this.next = list;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.list = this.next ?? nothing;
      this.roots = tree(this.list);
      this.changed.fire();
      this.known();
    }, pause);
  }

  stops(): Stop[] { return stops(this.roots); }

  dispose(): void {
    clearTimeout(this.timer);
    this.changed.dispose();
  }
}
