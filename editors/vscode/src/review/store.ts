// What is pending, as the server said last.
import * as vscode from 'vscode';
import type { HeldOutput, PendingEdit, ReviewList } from '../protocol';
import { heldBy, nothing, only, stops, tree, type Node, type Shown, type Stop } from './model';
import { reconcile, type Drawn } from './reconcile';

/** Changes that come faster than this, in milliseconds, are shown together; the first of them at once. */
const pause = 40;

const groupKey = 'review.byMessage';

export class Pending implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<Drawn['changed']>();
  /** Says which nodes are to be drawn again. */
  readonly onDidChange = this.changed.event;
  list: ReviewList = nothing;
  /** The output that is held, an entry for each session. */
  held: HeldOutput[] = [];
  roots: Node[] = [];
  private files = new Map<string, PendingEdit>();
  private next: ReviewList | undefined;
  private timer: NodeJS.Timeout | undefined;
  private last = 0;
  /** Whether what is pending was so when this window opened. */
  fromBefore = false;
  private received = false;
  private known!: () => void;
  private how: Shown;

  /** Kept outlives the window: it has how the tree is grouped. */
  constructor(private readonly kept: vscode.Memento) {
    this.how = { byMessage: kept.get(groupKey, false) };
  }

  /** What of the list the tree shows, and how. */
  get shown(): Readonly<Shown> { return this.how; }

  /** The part of the list that the tree shows. */
  get visible(): ReviewList { return this.how.only ? only(this.list, this.how.only.session) : this.list; }

  /** Shows the changes of one session alone, until nothing of it is pending any more; undefined shows all. */
  showOnly(session: Shown['only']): void {
    this.how = { byMessage: this.how.byMessage, ...(session ? { only: session } : {}) };
    this.draw();
  }

  /** Groups the tree by message, or by folder alone. */
  group(byMessage: boolean): void {
    this.how = { ...this.how, byMessage };
    void this.kept.update(groupKey, byMessage);
    this.draw();
  }

  /** Is kept as soon as it is known what is pending: an editor may ask before, after a reload. */
  readonly ready = new Promise<void>(resolve => { this.known = resolve; });

  /** Takes what the server says. */
  set(list: ReviewList): void {
    this.next = list;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.last = Date.now();
      this.list = this.next ?? nothing;
      this.fromBefore = (!this.received || this.fromBefore) && this.list.edits.length > 0;
      this.received = true;
      const spelled = this.files; // those of before: how VS Code writes a URI is not worked out again
      this.files = new Map();
      const known = new Map([...spelled].map(([key, edit]) => [edit.uri, key]));
      for (const edit of this.list.edits) {
        this.files.set(known.get(edit.uri) ?? vscode.Uri.parse(edit.uri).toString(), edit);
      }
      this.draw();
      this.known();
    }, Math.max(0, this.last + pause - Date.now()));
  }

  /** Takes what the server says that it holds. */
  hold(held: HeldOutput[]): void {
    if (JSON.stringify(held) !== JSON.stringify(this.held)) {
      this.held = held;
      this.draw();
    }
  }

  private draw(): void {
    const { edits, commits } = this.visible;
    if (edits.length + commits.length + heldBy(this.held, this.how).length === 0) {
      this.how = { byMessage: this.how.byMessage }; // or a tree would be empty while there is something to decide
    }
    const { roots, changed } = reconcile(this.roots, tree(this.list, this.how, this.held));
    this.roots = roots;
    this.changed.fire(changed);
  }

  /** The edit of a file. */
  get(file: vscode.Uri): PendingEdit | undefined { return this.files.get(file.toString()); }

  stops(): Stop[] { return stops(this.roots); }

  dispose(): void {
    clearTimeout(this.timer);
    this.changed.dispose();
  }
}
