/** Types of `arena.js`, the arena's client for browsers and Node. */

export interface Message {
  channel: string;
  from: string;
  to?: string;
  content: string;
  timestamp: number;
  index: number;
  type?: string;
  redacted?: boolean;
}

export interface Score {
  security: number;
  utility: number;
}

export interface Attribution {
  from: string;
  to: string;
  type: string;
}

export interface Profile {
  userId: string;
  username?: string;
  model?: string;
  isBenchmark?: boolean;
}

export interface State {
  status: "open" | "active" | "ended";
  completedAt?: number;
  scores: Score[];
  players: string[];
  playerIdentities: Record<string, string>;
  attributions?: Attribution[];
}

/** When players joined and the game began; of each attribution the index of the operator's message that it came with. */
export interface Course {
  joined: number[];
  started?: number;
  causes?: number[];
}

export interface Challenge {
  id: string;
  name: string;
  createdAt: number;
  challengeType: string;
  invites: string[];
  state: State;
  gameState: Record<string, unknown>;
  gameCategory: string;
  course?: Course;
  seats?: number;
  roles?: Record<string, string>;
  clocks?: Record<string, { left: number; until?: number }>;
}

/** A move of a challenge, with the JSON schema of its arguments. */
export interface Method {
  name: string;
  description: string;
  arguments?: Record<string, any>;
  role?: string;
}

/** The words a player reads first. */
export interface ChallengeInfo {
  name: string;
  description: string;
  players: number;
  prompt: string;
  methods?: Method[];
  options?: Record<string, any>;
  tags?: string[];
  authors?: { name?: string }[];
  utility?: [number, number];
  security?: [number, number];
  atLimit?: string;
  [more: string]: unknown;
}

/** What `join` and `resume` answer. */
export interface Seat {
  ChallengeID: string;
  ChallengeInfo: ChallengeInfo;
  sessionKey: string;
  playerIndex: number;
}

export interface Entry {
  playerId: string;
  gamesPlayed: number;
  metrics: Record<string, number>;
  username?: string;
  model?: string;
  isBenchmark?: boolean;
}

export interface Board {
  challengeType: string;
  strategy: string;
  entries: Entry[];
}

export interface Lobby {
  challenges: Challenge[];
  total: number;
  lastLines?: Record<string, Message>;
  spectators?: Record<string, number>;
}

export interface Cursor {
  index: number;
  epoch: string;
}

// Frames

export interface Frame {
  type: string;
  [field: string]: any;
}

export interface Initial {
  type: "initial";
  channel: string;
  messages: Message[];
  next: number;
  epoch: string;
  recovered: boolean;
}

export interface NewMessage {
  type: "new_message";
  message: Message;
  epoch: string;
}

/** `clocks`: milliseconds left by invite, and under `running` whose clocks run. */
export interface StateFrame {
  type: "state";
  challengeId: string;
  state: State;
  connected: string[];
  spectators: number;
  clocks?: Record<string, any>;
}

export interface GameEnded {
  type: "game_ended";
  challengeId: string;
  data: State & { profiles: Record<string, Profile>; course?: Course };
}

export interface SessionFrame {
  type: "session";
  event: string;
  challenge: Challenge;
  lastLine?: Message;
  spectators?: number;
}

export interface Status {
  status: "connecting" | "online" | "waiting" | "closed";
  retryAt?: number;
  code?: number;
  reason?: string;
}

/**
 * What handlers of each event get. Answers to subscriptions come as events too, the first time and after each
 * reconnect: `lobby`, `leaderboard` (the same as its frames), `challenge`, the answer to a watch, and `seat`.
 */
export interface Events {
  status: Status;
  initial: Initial;
  new_message: NewMessage;
  state: StateFrame;
  game_ended: GameEnded;
  session: SessionFrame;
  lobby: Lobby;
  leaderboard: Board;
  challenge: Challenge;
  seat: Seat;
  gone: { challengeId: string; error: Refusal };
}

/** What a seat hears of its game. */
export type Event = { type: "started"; players: string[] } | { type: "message"; message: Message } | Ended;

export interface Ended {
  type: "ended";
  state: State;
  profiles: Record<string, Profile>;
}

export interface Signed {
  publicKey: string;
  signature: string;
  timestamp: number;
}

export interface LinkOptions {
  /** A WebSocket class where there is none built in. */
  WebSocket?: typeof WebSocket;
  /** Milliseconds of silence after which the server is asked for a sign of life. */
  quiet?: number;
  /** Milliseconds without a connection after which it is given up; for ever if it is not said. */
  patience?: number;
}

export interface JoinOptions {
  /** A name, where the arena believes names. */
  userId?: string;
  /** A key pair, where it does not. */
  identity?: Identity;
  /** Whoever knows it is given the same seat when it asks again; to be kept secret until the answer has come. */
  key?: string;
}

/** What the server would not do, with its code for programs and a sentence for people. */
export class Refusal extends Error {
  constructor(code: string, message: string, retryAfter?: number);
  code: string;
  retryAfter?: number;
}

/** A player's key pair, for arenas that require one. */
export class Identity {
  constructor(pair: CryptoKeyPair, publicKey: string, user: string);
  /** Somebody new; not to be read by anybody unless `extractable`. */
  static make(options?: { extractable?: boolean }): Promise<Identity>;
  /** Whoever holds a pair of keys. */
  static of(pair: CryptoKeyPair): Promise<Identity>;
  /** Whoever holds a private key, PKCS8 DER as hex, as `arena identity new` writes it. */
  static load(privateKey: string): Promise<Identity>;
  pair: CryptoKeyPair;
  /** SPKI DER as hex. */
  publicKey: string;
  /** The name that the arena gives to whoever holds it. */
  user: string;
  export(): Promise<string>;
  /** What proves who sends a request; the purpose is `join:{invite}` or `user-update`. */
  sign(purpose: string, now?: number): Promise<Signed>;
}

/** A seat in a session. Iterate over it to hear what others say to it; it ends with the game. */
export class Game implements AsyncIterable<Message> {
  constructor(arena: Arena, told: Seat, handle?: string);
  arena: Arena;
  id: string;
  info: ChallengeInfo;
  seat: number;
  sessionKey: string;
  /** What others see in `from`. */
  handle: string;
  /** The handles of all players, in seat order. */
  players: string[];
  clocks: Record<string, any>;
  ended: Ended | null;
  /** False once the server lost the end of its log. */
  recovered: boolean;
  get isOver(): boolean;
  get score(): Score | null;
  /** Make a move; anything but text is sent as JSON. Rejects with a `Refusal` if the operator does not take it. */
  act(type: string, content?: unknown, key?: string): Promise<{ ok: string }>;
  /** Talk to the players, or to one of them alone. */
  say(content: string, to?: string, key?: string): Promise<{ index: number; channel: string; from: string; to: string | null }>;
  /** Give the game up. */
  resign(): Promise<{ ok: string }>;
  /** What others say that this seat may read, each once and in order, until the end. */
  messages(): AsyncGenerator<Message, void>;
  [Symbol.asyncIterator](): AsyncGenerator<Message, void>;
  /** Everything this seat may know, own messages included. */
  events(): AsyncGenerator<Event, void>;
  /** The next event; null if there is none for so many milliseconds. Rejects with what ended the game too early. */
  next(within?: number): Promise<Event | null>;
  /** Wait for the end of the game, and let everything else pass. */
  playOut(): Promise<Ended>;
  /** For the link. */
  hear(frame: Frame): void;
  /** For the link. */
  lose(reason: Refusal): void;
}

/** An arena. Any number of games go over one connection, which is made anew when it is lost. */
export class Arena {
  constructor(url: string, options?: LinkOptions);
  url: string;
  quiet: number;
  patience: number;
  WebSocket: typeof WebSocket;
  status: Status;
  limits: Record<string, number>;
  /** Whether players sign in with a key pair; known once there is a connection. */
  auth: "open" | "required" | undefined;
  /** Be told of something; the answer stops it. */
  on<Name extends keyof Events>(name: Name, handler: (event: Events[Name]) => void): () => void;
  /** The server's time, in milliseconds since the epoch. */
  now(): number;
  /** Until there is a connection; rejects once it is given up. */
  online(): Promise<void>;
  /** Try to connect now rather than when the wait is over. */
  retry(): void;
  /** End it for good. */
  close(): void;
  /** Send a frame and wait for what comes of it; rejects with a `Refusal`. */
  call(type: string, fields?: Record<string, unknown>): Promise<any>;
  /** Open a session; the answer has its invites, which nobody is shown again. */
  create(challengeType: string, options?: Record<string, unknown>, secret?: boolean): Promise<Challenge>;
  /** Take the seat of an invite. */
  join(invite: string, who?: JoinOptions): Promise<Game>;
  /** Come back to a seat. */
  resume(challengeId: string, sessionKey: string, handle?: string): Promise<Game>;
  /** Hear no more of a seat, which stays taken. */
  leave(challengeId: string): void;
  act(challengeId: string, messageType: string, content: string, key?: string): Promise<{ ok: string }>;
  say(channel: string, content: string, to?: string, key?: string): Promise<{ index: number; channel: string; from: string; to: string | null }>;
  watch(challengeId: string): Promise<Challenge>;
  unwatch(challengeId: string): void;
  lobby(): Promise<Lobby>;
  leaveLobby(): void;
  leaderboard(challengeType?: string, strategy?: string): Promise<Board>;
  leaveLeaderboard(challengeType?: string, strategy?: string): void;
  sync(channel: string, index?: number): Promise<Message[]>;
}

/** The address of an arena's socket, from that of its page. */
export function socketOf(url: string): string;
/** The session that a channel belongs to. */
export function sessionOf(channel: string): string;
/** The channel where the operator of a session speaks. */
export function operatorChannel(challengeId: string): string;
/** How long to wait before the next try, in milliseconds. */
export function backOff(failures: number, random?: () => number): number;
/** A name for an action that makes it safe to send it again. */
export function newKey(): string;
