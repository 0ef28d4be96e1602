// The pictures of the shown run: asked for when a row is drawn that has one, and let go when there are too many.
import { imageType, largest } from '../../images';
import type { FromPage, ToPage } from '../../messages';

/** How many are held at once. */
const most = 40;

export interface Held { url?: string; why?: string }

export class Pictures {
  private run: string | undefined;
  private readonly held = new Map<string, Held>();
  private readonly waiting = new Map<string, Set<() => void>>();

  constructor(private readonly send: (m: FromPage) => void) {}

  /** Another run is shown, and its pictures are others. */
  turn(run: string | undefined): void {
    for (const h of this.held.values()) { release(h); }
    this.held.clear();
    this.waiting.clear();
    this.run = run;
  }

  get(image: string): Held | undefined { return this.held.get(image); }

  /** Asks for one that is not here, and tells when it is; gives what ends that. */
  want(image: string, loaded: () => void): () => void {
    let who = this.waiting.get(image);
    if (!this.held.has(image)) {
      if (!who) {
        this.waiting.set(image, who = new Set());
        if (this.run) { this.send({ type: 'image', run: this.run, image, large: false }); }
      }
      who.add(loaded);
    }
    return () => who?.delete(loaded);
  }

  take(m: Extract<ToPage, { type: 'image' }>): void {
    if (m.run !== this.run || !this.waiting.has(m.image)) { return; }
    this.held.set(m.image, m.data === undefined ? { why: m.why ?? '' } : read(m.data));
    for (const [image, h] of this.held) {
      if (this.held.size <= most) { break; }
      release(h);
      this.held.delete(image);
    }
    const who = this.waiting.get(m.image)!;
    this.waiting.delete(m.image);
    for (const loaded of who) { loaded(); }
  }
}

/** The picture as something of the page's own; whatever it is called, its first bytes say what it is. */
function read(data: string): Held {
  try {
    const bytes = Uint8Array.from(atob(data), c => c.charCodeAt(0)), type = imageType(bytes);
    return type && bytes.length <= largest ? { url: URL.createObjectURL(new Blob([bytes], { type })) } : { why: '' };
  } catch {
    return { why: '' };
  }
}

function release(h: Held): void { if (h.url) { URL.revokeObjectURL(h.url); } }
