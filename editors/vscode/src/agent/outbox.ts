// What goes to a page: at most one message in a frame, the newest of its kind. No VS Code in here.
import type { ToPage } from './messages';

/** Between two messages, in milliseconds. */
const frame = 16;

export class Outbox {
  private readonly waiting = new Map<string, () => ToPage | undefined>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private last = 0;

  constructor(private readonly post: (message: ToPage) => void) {}

  /** Sends a message, made when its time comes. One that waits under the same key is not sent any more. */
  put(key: string, make: () => ToPage | undefined): void {
    this.waiting.set(key, make);
    this.schedule();
  }

  /** Forgets what waits. */
  clear(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.waiting.clear();
  }

  private schedule(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      for (const [key, make] of this.waiting) {
        this.waiting.delete(key);
        const message = make();
        if (message) {
          this.last = Date.now();
          this.post(message);
          break;
        }
      }
      if (this.waiting.size > 0) {
        this.schedule();
      }
    }, Math.max(0, this.last + frame - Date.now()));
  }
}
