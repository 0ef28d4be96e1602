// What a run tells, as the server's JSON has it. No VS Code in here.

import type { CommandRule } from '../protocol';

export type Kind = 'run.start' | 'step.start' | 'text' | 'thought' | 'call.proposed' | 'call.decided' | 'call.started' | 'call.output' | 'call.finished'
  | 'note' | 'steer' | 'plan' | 'usage' | 'state' | 'compaction' | 'child' | 'question' | 'answered' | 'queue' | 'run.end';
export type RunState = 'idle' | 'running' | 'waiting' | 'paused' | 'ended';

/** Which members are set follows from the kind; an agent can send any text in any of them. */
export interface AgentEvent {
  run: string; seq: number; time: string; kind: Kind;
  /** Of text and thought: a delta is added to the message, a text is the whole of it. */
  message?: string; role?: string; delta?: string; text?: string;
  call?: Call;
  state?: RunState; reason?: string; retryAt?: string; attempt?: number;
  /** A question's id; what is asked is in text. custom: besides the options any text is an answer. */
  question?: string; options?: Option[]; custom?: boolean; expiresAt?: string; irrecoverable?: boolean; answer?: string; by?: string;
  /** The rule that sidecar.policy.allowAlways can make of a yes. */
  always?: CommandRule;
  items?: Item[]; paused?: boolean;
  /** Pictures that a call or, in a note, the agent has shown; the server has their data. */
  images?: Image[];
  step?: number; plan?: PlanEntry[]; usage?: Usage; child?: string;
  agent?: string; title?: string; session?: string; ref?: string;
  /** Of what a sub-agent says and does: its call. */
  parent?: string;
  /** Bytes that were left out. */
  cut?: number;
  raw?: unknown;
}

export interface Call {
  call: string; kind?: string; title?: string; locations?: Location[]; diff?: FileDiff[];
  outputBytes?: number; uri?: string; outcome?: string;
}
export interface Image { image: string; mime: string; bytes: number; width: number; height: number; alt?: string }
export interface Location { path: string; line?: number }
/** A file before and after; without old it is new. */
export interface FileDiff { path: string; old?: string; new: string }
export interface Option { id: string; label: string; kind?: string }
export interface PlanEntry { text: string; status?: string; priority?: string }
export interface Usage { used?: number; size?: number; cost?: number; currency?: string }
/** Whether a note takes back what was shown of a message, or of the thoughts that came with it. */
export const withdrawn = (note: AgentEvent, message: string | undefined): boolean => message === note.message || message === `${note.message}-thought`;

export interface Item { item: string; text: string; attachments?: Attachment[]; hold?: boolean; question?: string }
export interface Attachment { kind: string; uri?: string; range?: unknown; data?: string; mime?: string; text?: string }

/** A row of sidecar.agent.list. */
export interface Agent {
  name: string; title: string; kind: 'builtin' | 'acp' | 'program';
  available: boolean; version?: string; why?: string;
  modes?: Choice[]; models?: Choice[];
  can: ('steer' | 'fork' | 'rewind' | 'resume' | 'images' | 'commands')[];
  sees: string[]; consented: boolean; signIn?: { id: string; title: string }[];
}

/** A mode or a model of an agent's own. */
export interface Choice { id: string; title: string; description?: string }

/** A row of sidecar.agent.runs. */
export interface RunInfo {
  run: string; agent: string; title: string; state: RunState; session: string; parent?: string; children?: number;
  step: number; pending: number; usage?: Usage; waitingFor?: string; openedAt: string;
  /** Whether there is an agent that hears prompts. */
  attached?: boolean;
  /** How the agent works, by ids of its own. */
  agentMode?: string; model?: string;
}
