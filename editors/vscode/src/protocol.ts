// The messages of docs/protocol.md, as far as this extension reads them.

export interface Hunk {
  id: string;
  /** Whose it is. */
  sessions?: string[];
  /** The request that it came from; number counts those of the run from 1. */
  message?: { run: string; seq: number; number: number; text: string };
  oldStart: number; oldLines: number;
  newStart: number; newLines: number;
  /** As newStart, with the conflicts of its file in it; there is one only where there are any. */
  takenStart?: number;
  state: EditState;
  text: string;
  /** The person has rejected the same before. */
  again?: boolean;
}

export type EditState = 'clean' | 'moved' | 'conflict';
export type EditKind = 'create' | 'modify' | 'delete' | 'rename';

export interface PendingEdit {
  uri: string; path: string; from?: string;
  kind: EditKind;
  revision: number;
  added: number; removed: number;
  state: EditState;
  session: string; tool: string; command?: string;
  batch?: boolean;
  updatedAt: string;
  /** What the edit would make worse in this file; absent while that isn't known. */
  problems?: { errors: number; warnings: number };
  hunks: Hunk[];
}

export interface QueuedCommit { message: string; session: string; paths: string[]; error?: string; byFile?: boolean; branch?: string; merges?: string[]; ref?: 'tag' | 'branch' | 'switch' }

/** How far the project index is. */
export interface IndexStatus { files: number; symbols: number; ready: boolean; looked: number; parsed: number; parseable: number; error?: string }
/** A problem that pending edits would bring; lines and columns count from one. */
export interface PlacedProblem { path: string; uri: string; line: number; column: number; severity: string; source?: string; message: string }

export interface ReviewList { revision: number; batch: boolean; edits: PendingEdit[]; commits: QueuedCommit[]; problems?: PlacedProblem[]; verified?: Verified }

/** What the newest run of tests over pending changes said; stale: they are others now. */
export interface Verified { command: string; ok: boolean; passed?: number; failed?: number; at: string; stale: boolean }
export interface VerifyResult { ok: boolean; command: string; exitCode: number; passed?: number; failed?: number; failing?: { name: string; message: string }[]; output: string }

/** Output of a session's commands that is held: what git ignores, and dependencies. Names are those at its top; each list is bounded. */
export interface HeldOutput { session: string; at: string; files: number; bytes: number; names: string[]; programs: string[]; protected: string[]; deleted: string[] }
/** Left says in sentences what stays held after an accept, and why. */
export interface OutputResult { entries: HeldOutput[]; accepted?: number; left?: string[]; built?: { ok: boolean; exitCode: number; output: string } }

export interface Failure { uri: string; error: string }
export interface MadeCommit { message: string; id?: string; error?: string }
export interface AcceptResult { accepted: string[]; failed: Failure[]; commits?: MadeCommit[]; revision: number }
export interface RejectResult { rejected: string[]; commits?: QueuedCommit[]; made?: MadeCommit[]; revision: number }
export interface UndoResult { restored: string[]; failed: Failure[]; what: 'undo' | 'redo'; commits?: MadeCommit[] }

/** An edit that was accepted, or applied without review. */
export interface PastEdit {
  id: string; at?: string; session: string; tool: string; what: 'accept' | 'apply' | 'undo' | 'redo';
  files: { path: string; kind: string; added: number; removed: number }[]; undoable: boolean; why?: string;
}

/** What accept and reject take; nothing means all. */
export interface Selection { uris?: string[]; hunks?: string[]; revision?: number; session?: string; reason?: string; take?: boolean }

export interface Effects { access: Access; reads?: string[]; writes?: string[]; command?: string; hosts?: string[] }
export type Access = 'read' | 'edit' | 'exec';
export type Scope = 'once' | 'session' | 'pattern';

/** The request sidecar/approve. */
export interface ApproveParams {
  id: string; callId: string; session: string; agentPath: string[] | null;
  tool: string; title: string; detail: string;
  arguments: unknown;
  diff?: string;
  effects: Effects;
  rule?: string;
  irrecoverable: boolean;
  /** Whether an answer may hold for longer than this once. */
  rememberable?: boolean;
  /** What an answer with the scope pattern holds for, as it is to be shown; without it there is none to offer. */
  pattern?: string;
  /** The rule that sidecar.policy.allowAlways can make of a yes; without it there is none to offer. */
  always?: CommandRule;
  expiresAt: string;
}
export interface CommandRule { prefix: string[]; decision: string; rest?: string; packages?: string; host?: string }
export interface ApproveAnswer { outcome: 'allow' | 'deny'; scope?: Scope; reason?: string; typed?: string }

/** The request sidecar/ask. */
export interface AskParams { question: string; options: string[] | null; allowCustom: boolean }

export type Schema = {
  type?: string | string[];
  title?: string; description?: string;
  default?: unknown; enum?: unknown[];
  minimum?: number; maximum?: number; minLength?: number; maxLength?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[]; oneOf?: Schema[];
};

export interface ToolInfo {
  name: string; title: string; description: string;
  inputSchema: Schema;
  access: Access;
  source: 'builtin' | 'mcp' | 'plugin'; mcpServer?: string;
  requiresApproval: boolean; alwaysRequireApproval: boolean;
  category: string;
}

export interface ToolResult {
  callId: string; tool: string; ok: boolean;
  content: string;
  structured?: unknown;
  error?: { code: string; message: string };
  decision: { outcome: string; by: string; rule?: string };
  changes?: ChangeRef[];
  durationMs: number; approvalMs: number; attempts: number;
  truncated?: { shownBytes: number; totalBytes: number; cursor: string };
}
export interface ChangeRef { path: string; uri?: string; kind: EditKind; state: 'applied' | 'pending' }
export interface Page { content: string; hasMore: boolean; nextCursor?: string }

export interface Metric {
  calls: number; ok: number; errors: Record<string, number>;
  denied: number; truncated: number; p50Ms: number; p95Ms: number; maxMs: number;
}

/** The notification sidecar/event, of calls; those of the type agent are an AgentEvent. */
export interface CallEvent {
  type: 'toolStarted' | 'permissionRequested' | 'permissionResolved' | 'toolOutput' | 'toolCompleted' | 'hook' | 'toolsChanged';
  time: string; session: string; callId: string; tool: string;
  access?: Access; arguments?: unknown;
  outcome?: string; by?: string; rule?: string; scope?: string; reason?: string;
  chunk?: string; dropped?: number;
  ok?: boolean; code?: string; message?: string; durationMs?: number; approvalMs?: number; bytes?: number; changes?: ChangeRef[];
}

/** An MCP server whose tools are offered to agents. Command is what is run or reached, and hash stands for it. */
export interface McpServer {
  name: string; state: string; transport: string; tools: number; error?: string; hidden?: string[];
  origin: string; command: string; hash: string; trusted: boolean;
  changed?: string[]; warnings?: string[]; shadowed?: boolean;
}

/** A plugin. Commands are what it would run, and hash stands for all that is in it. */
export interface Plugin {
  id: string; name: string; version: string; description?: string; origin: string; path: string;
  state: 'discovered' | 'enabled' | 'disabled' | 'faulted'; trust: 'unknown' | 'trusted' | 'mine'; hash: string;
  tools: number; hooks: number; skills: number; servers: number;
  commands?: string[]; overrides?: string[]; error?: string; warnings?: string[]; changed?: string[];
}

export interface SessionInfo { session: string; mode: string; root: string; shadow?: string; calls: number; tokens: number; openedAt: string }
export interface SessionPort { session: string; port: number; program: string; opened?: string }
export interface ShadowSetup {
  state: 'running' | 'done' | 'failed' | 'needed' | 'interrupted' | 'offered';
  why?: string; command?: string; exitCode?: number; output?: string; next?: string; offers?: string[];
}
export interface ShadowInfo { id: string; path: string; base: string; createdAt: string; changed: number; setup?: ShadowSetup }
export interface ShadowDiff { diff: string; files: { path: string; kind: EditKind; added: number; removed: number }[] }
export interface ShadowMerge {
  merged: string[] | null;
  conflicts: { path: string; base: string | null; ours: string | null; theirs: string | null }[] | null; // why is a message
}
