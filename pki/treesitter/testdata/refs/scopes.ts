import dflt, { Store, Item as It, type Opts } from './store';
import * as util from '../util';
import old = require('old');
export { Store as Shop, default } from './store';
export * from './more';
export * as all from './all';

export interface Named extends Base<Store>, ns.Thing {
  name: Store;
  open(s: Store): It[];
}

export default class Cart<T extends Named> extends util.List<T> implements Named, Other {
  private items: It[] = [];
  static byName = new Map<string, Store>();
  last?: Promise<It | null>;
  handler = (s: Store) => s.close();
  constructor(private readonly store: Store, public count = 1) {
    super();
    this.extra = new Store();
  }
  get first(): It { return this.items[0]; }
  add(Store: It, { price, tax: { rate } }: Opts): this {
    Store.check();
    this.items.push(Store);
    this.store.put(price, rate);
    this.extra.close();
    super.add();
    for (const it of this.items) it.sell();
    this.items.forEach(i => i.sell());
    this.first.sell();
    return this;
  }
  async load() {
    const it = await this.last;
    it?.sell();
    return (it as unknown as Store) ?? dflt();
  }
}

function make(n: number) {
  if (n) return new Cart(make(1), 2);
  const helper = () => make(n);
  function inner() { return helper(); }
  return inner();
}

const { close, open: reopen = 1 } = make(0);
export const api = { make, get: () => make(1), async run(c: Cart<Named>) { c.add(); } };
let counter = 0;
counter++;
util.log(counter, api.get(), close, reopen);
enum Level { Low = counter, High }
namespace Deep { export function fn(l: Level) { return Level.Low; } }
type Maybe<K> = { [P in keyof K]?: Store } | Cart<Named>;
try { old.f(); } catch (util) { util.message; }
switch (counter) { case 1: { let api = 2; api; } }
export = api;
