import { readFile } from "node:fs";

/** Largest side that we draw. */
export const MAX_SIDE = 400, MIN_SIDE = 1;
let drawn: number = 0;

// What can be drawn.
export interface Shape extends Named<string> {
  readonly area: number;
  draw(ctx: Canvas, opts?: { fill: boolean }): void;
}

export type Pair<T> = { a: T; b: T };

export enum Colour { Red = 1, Green, Blue }

@sealed
export abstract class Circle<T> implements Shape {
  static count = 0;
  private readonly r: number;

  constructor(r: number) { this.r = r; const local = 1; }

  get area(): number { return Math.PI * this.r ** 2; }

  /**
   * Draws it.
   * Twice if asked.
   */
  public async draw(ctx: Canvas): Promise<void> {
    function inner(x: number) { return x; }
    const helper = (y: number) => y + 1;
  }

  protected abstract grow(by: number): this;
  handler = () => { this.draw(null!); };
}

export function point(x: number, y: number): { x: number; y: number } {
  const hidden = 1;
  return { x, y };
}

export const area = async (s: Shape): Promise<number> => {
  return s.area;
};

export default function main() {}

declare module "ext" {
  export function outside(n: number): void;
}

namespace Deep.Inner {
  export class Leaf { grüße() {} }
}

function overload(a: string): void;
function overload(a: number): void;
function overload(a: any) {}

class Broken { fine() { return 1 }
