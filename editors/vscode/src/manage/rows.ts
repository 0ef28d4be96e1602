// What the page "Manage" shows, and the messages between it and the extension. No VS Code in here: the page has this file, too.

/** The tabs, in their order. */
export const tabs = ['activity', 'tools', 'sessions', 'shadows', 'mcp', 'plugins', 'metrics'] as const;
export type TabId = typeof tabs[number];

/** A button: it runs a command of the extension, with the row's item if it is a row's. */
export interface Action { command: string; label: string }

/** The sign before a row, by the name of its drawing. */
export type Sign = 'agent' | 'check' | 'circle' | 'cross' | 'file' | 'folder' | 'key' | 'pencil' | 'plug' | 'question' | 'spinner' | 'stop' | 'terminal' | 'warning';

export interface Row {
  id: string; label: string;
  /** Beside the label, dim. */
  detail: string;
  /** Lines below it. */
  more?: string[];
  sign: Sign; look?: 'good' | 'needs' | 'bad';
  /** The rows of a group stand together, below its name. */
  group?: string;
  /** The command that a click on the label runs. */
  open?: string;
  actions: Action[];
}

/** How often a tool was called, how that went, and how long it took: parts of bars in shares of the longest, and words. */
export interface MetricRow {
  tool: string; calls: number;
  went: { kind: 'ok' | 'no' | 'bad'; share: number }[]; wentText: string;
  took: { kind: 'time' | 'tail'; share: number }[]; p50: string; p95: string; most: string; failures: string;
}

export interface Tab {
  id: TabId; title: string;
  /** Its purpose, in a sentence; and the text for an empty list. */
  about: string; none: string;
  actions: Action[];
  /** Whether its rows can be filtered. */
  filter?: boolean;
}

export type ToPage =
  | { type: 'state'; health: 'starting' | 'running' | 'stopped' | 'failed'; tabs: Tab[]; words?: Record<string, string> }
  /** Rows of a tab, or the reason why there are none. */
  | { type: 'rows'; tab: TabId; rows: Row[]; metrics?: MetricRow[]; error?: string }
  /** The tab that is shown; a person who has asked for it is brought there, or to its filter. */
  | { type: 'show'; tab: TabId; focus?: 'tab' | 'filter' };

export type FromPage =
  | { type: 'ready'; tab?: TabId }
  | { type: 'tab'; tab: TabId }
  | { type: 'act'; tab: TabId; command: string; row?: string }
  | { type: 'server'; what: 'start' | 'log' };

/** A message of the page, if it is one. */
export function checkFromPage(m: unknown): FromPage | undefined {
  if (typeof m !== 'object' || m === null) { return undefined; }
  const { type, tab, command, row, what } = m as Record<string, unknown>;
  const isTab = (v: unknown): v is TabId => (tabs as readonly unknown[]).includes(v);
  switch (type) {
    case 'ready': return { type, ...(isTab(tab) ? { tab } : {}) };
    case 'tab': return isTab(tab) ? { type, tab } : undefined;
    case 'act': return isTab(tab) && typeof command === 'string' && (row === undefined || typeof row === 'string') ? { type, tab, command, ...(row === undefined ? {} : { row }) } : undefined;
    case 'server': return what === 'start' || what === 'log' ? { type, what } : undefined;
  }
  return undefined;
}
