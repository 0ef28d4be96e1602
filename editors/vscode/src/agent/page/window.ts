// Which rows are drawn, and where the view stands: by row and offset, so that what changes above it moves nothing. Pure.

/** The first row on the screen, and how many pixels of it are above. */
export interface Anchor { row: string; offset: number }

export class Window {
  private keys: readonly string[] = [];
  private readonly at = new Map<string, number>();
  private readonly heights = new Map<string, number>();
  private tops: number[] = [0];
  private dirty = 0;

  /** Guess is how high a row is that was never measured. */
  constructor(private readonly guess = 28) {}

  get count(): number { return this.keys.length; }
  get total(): number { this.sum(this.keys.length); return this.tops[this.keys.length]!; }

  setRows(keys: readonly string[]): void {
    let same = 0;
    while (same < keys.length && this.keys[same] === keys[same]) { same++; }
    if (same === keys.length && same === this.keys.length) { return; }
    for (let i = same; i < this.keys.length; i++) { this.at.delete(this.keys[i]!); }
    for (let i = same; i < keys.length; i++) { this.at.set(keys[i]!, i); }
    this.keys = keys;
    this.dirty = Math.min(this.dirty, same);
  }

  /** Takes a height that was measured; whether it is another than was thought. */
  measured(key: string, height: number): boolean {
    const before = this.heights.get(key);
    if (before === height) { return false; }
    this.heights.set(key, height);
    const i = this.at.get(key);
    if (i !== undefined) { this.dirty = Math.min(this.dirty, i); }
    return before !== undefined || height !== this.guess;
  }

  index(key: string): number { return this.at.get(key) ?? -1; }
  key(i: number): string | undefined { return this.keys[i]; }
  top(i: number): number { this.sum(i); return this.tops[Math.min(i, this.keys.length)]!; }
  height(i: number): number { return this.heights.get(this.keys[i] ?? '') ?? this.guess; }

  /** The row at this distance from the top. */
  row(y: number): number {
    this.sum(this.keys.length);
    let low = 0, high = this.keys.length - 1;
    while (low < high) {
      const mid = (low + high + 1) >> 1;
      if (this.tops[mid]! <= y) { low = mid; } else { high = mid - 1; }
    }
    return Math.max(0, low);
  }

  anchor(y: number): Anchor | undefined {
    if (this.keys.length === 0) { return undefined; }
    const i = this.row(y);
    return { row: this.keys[i]!, offset: Math.round(y - this.top(i)) };
  }

  /** How far down the view is to be so that the anchor is where it was; undefined when its row is gone. */
  scrollOf(anchor: Anchor): number | undefined {
    const i = this.index(anchor.row);
    return i < 0 ? undefined : this.top(i) + Math.min(anchor.offset, Math.max(0, this.height(i) - 1));
  }

  /** The rows to be drawn for a view of this height: those on it, and a view more each way. From the first up to, not with, the second. */
  range(y: number, view: number): [number, number] {
    if (this.keys.length === 0) { return [0, 0]; }
    y = Math.min(y, Math.max(0, this.total - view));
    return [this.row(y - view), Math.min(this.keys.length, this.row(y + 2 * view) + 1)];
  }

  private sum(to: number): void {
    const n = Math.min(to, this.keys.length);
    if (this.dirty >= n && this.tops.length > n) { return; }
    for (let i = Math.min(this.dirty, this.tops.length - 1); i < n; i++) {
      this.tops[i + 1] = this.tops[i]! + (this.heights.get(this.keys[i]!) ?? this.guess);
    }
    this.dirty = Math.max(this.dirty, n);
    if (n === this.keys.length) { this.tops.length = n + 1; }
  }
}
