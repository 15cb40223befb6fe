/**
 * The arena's socket, for browsers and Node alike: one connection that comes back by itself, asks again for what it
 * was subscribed to, and goes on behind the last message it heard. No dependencies.
 *
 *     const arena = new Arena("ws://127.0.0.1:3001/ws");
 *     arena.on("new_message", ({ message }) => console.log(message.from, message.content));
 *     const challenge = await arena.watch(id);
 *
 * @typedef {{channel: string, from: string, to?: string, content: string, timestamp: number, index: number,
 *   type?: string, redacted?: boolean}} Message
 * @typedef {{security: number, utility: number}} Score
 * @typedef {{from: string, to: string, type: string}} Attribution
 * @typedef {{userId: string, username?: string, model?: string, isBenchmark?: boolean}} Profile
 * @typedef {{status: "open" | "active" | "ended", completedAt?: number, scores: Score[], players: string[],
 *   playerIdentities: Record<string, string>, attributions?: Attribution[]}} State
 * @typedef {{id: string, name: string, createdAt: number, challengeType: string, invites: string[], state: State,
 *   gameState: Record<string, unknown>, gameCategory: string, course?: Course, seats?: number, roles?: Record<string, string>,
 *   clocks?: Record<string, {left: number, until?: number}>}} Challenge
 * @typedef {{joined: number[], started?: number, causes?: number[]}} Course when players joined and the game began; of
 *   each attribution the index of the operator's message that it came with
 * @typedef {{playerId: string, gamesPlayed: number, metrics: Record<string, number>, username?: string,
 *   model?: string, isBenchmark?: boolean}} Entry
 * @typedef {{challengeType: string, strategy: string, entries: Entry[]}} Board
 * @typedef {{challenges: Challenge[], total: number, lastLines?: Record<string, Message>,
 *   spectators?: Record<string, number>}} Lobby
 * @typedef {{ChallengeID: string, ChallengeInfo: Record<string, any>, sessionKey: string, playerIndex: number}} Seat
 *
 * @typedef {{type: "initial", channel: string, messages: Message[], next: number, epoch: string,
 *   recovered: boolean}} Initial
 * @typedef {{type: "new_message", message: Message, epoch: string}} NewMessage
 * @typedef {{type: "state", challengeId: string, state: State, connected: string[], spectators: number,
 *   clocks?: Record<string, any>}} StateFrame `clocks`: milliseconds left by invite, and `running`, whose clocks run
 * @typedef {{type: "game_ended", challengeId: string,
 *   data: State & {profiles: Record<string, Profile>, course?: Course}}} GameEnded
 * @typedef {{type: "session", event: string, challenge: Challenge, lastLine?: Message, spectators?: number}} SessionFrame
 * @typedef {{type: string, [field: string]: any}} Frame
 *
 * What handlers of each event get. Answers to subscriptions come as events too, the first time and after each
 * reconnect: `lobby`, `leaderboard` (the same as its frames) and `challenge`, the answer to a watch.
 * @typedef {{
 *   status: Status,
 *   initial: Initial, new_message: NewMessage, state: StateFrame, game_ended: GameEnded, session: SessionFrame,
 *   lobby: Lobby, leaderboard: Board, challenge: Challenge, seat: Seat,
 *   gone: {challengeId: string, error: Refusal},
 * }} Events
 *
 * @typedef {{status: "connecting" | "online" | "waiting" | "closed", retryAt?: number, code?: number,
 *   reason?: string}} Status
 * @typedef {{index: number, epoch: string}} Cursor
 * @typedef {{name: string, frame: () => Frame, told: (result: any) => void, failed: (error: Refusal) => void,
 *   first: Promise<any>, isAnswered: boolean}} Subscription
 * @typedef {{frame: Frame, sent: boolean, tries: number, resolve: (result: any) => void,
 *   reject: (error: Refusal) => void, subscription?: Subscription}} Request
 */

const PROTOCOL = "arena.v1.json";
const FINAL = new Set([1000, 1003, 1007, 1009, 4401, 4404, 4409]); // close codes after which coming back makes no sense
const POLICY = 1008;
const PASSING = new Set(["STORE_UNAVAILABLE", "RATE_LIMITED"]); // refusals that another try may not get
const REPEATABLE = new Set(["sync", "ping", "lobby", "leaderboard", "watch", "unwatch"]);
const TRIES = 5;
const OPERATOR_PREFIX = "challenge_";

/** What the server would not do, with its code for programs and a sentence for people. */
export class Refusal extends Error {
  /** @param {string} code @param {string} message @param {number} [retryAfter] seconds */
  constructor(code, message, retryAfter) {
    super(message);
    this.name = "Refusal";
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

/** The session that a channel belongs to. @param {string} channel */
export function sessionOf(channel) {
  return channel.startsWith(OPERATOR_PREFIX) ? channel.slice(OPERATOR_PREFIX.length) : channel;
}

/** The channel where the operator of a session speaks. @param {string} challengeId */
export function operatorChannel(challengeId) {
  return OPERATOR_PREFIX + challengeId;
}

/** How long to wait before the next try: doubling, with jitter, so that a crowd does not come back at once. */
export function backOff(/** @type {number} */ failures, /** @type {() => number} */ random = Math.random) {
  return Math.min(15_000, 300 * 2 ** failures) * (0.5 + random() / 2);
}

/** A name for an action that makes it safe to send it again. */
export function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class Arena {
  /** @type {WebSocket | null} */ #socket = null;
  #online = false;
  #failures = 0;
  #ids = 0;
  #skew = 0; // of our clock, in milliseconds
  #heard = 0; // when the last frame came
  /** @type {ReturnType<typeof setTimeout> | undefined} */ #retry;
  /** @type {ReturnType<typeof setInterval> | undefined} */ #pulse;
  /** @type {Map<number, Request>} */ #requests = new Map();
  /** @type {Map<string, Subscription>} */ #subscriptions = new Map();
  /** @type {Map<string, Record<string, Cursor>>} */ #cursors = new Map();
  /** @type {Map<string, Set<(event: any) => void>>} */ #handlers = new Map();

  /**
   * Connects at once.
   * @param {string} url of the server's `/ws`
   * @param {{WebSocket?: typeof WebSocket, quiet?: number}} [options] a WebSocket class where there is none built in;
   *   `quiet`: milliseconds of silence after which the server is asked for a sign of life
   */
  constructor(url, { WebSocket = globalThis.WebSocket, quiet = 30_000 } = {}) {
    this.url = url;
    this.quiet = quiet;
    this.WebSocket = WebSocket;
    /** @type {Status} */ this.status = { status: "connecting" };
    /** @type {Record<string, number>} */ this.limits = {};
    this.#open();
  }

  /**
   * Be told of something; the answer stops it.
   * @template {keyof Events} Name
   * @param {Name} name @param {(event: Events[Name]) => void} handler
   */
  on(name, handler) {
    const handlers = this.#handlers.get(name) ?? new Set();
    this.#handlers.set(name, handlers.add(handler));
    return () => void handlers.delete(handler);
  }

  /** The server's time, in milliseconds since the epoch. */
  now() {
    return Date.now() + this.#skew;
  }

  /** Try to connect now rather than when the wait is over. */
  retry() {
    if (this.#socket === null) this.#open();
  }

  /** End it for good. */
  close() {
    this.#drop();
    clearTimeout(this.#retry);
    this.#set({ status: "closed", code: 1000 });
  }

  // What one may ask for

  /**
   * Send a frame and wait for what comes of it. While the connection is away it waits; a frame that is safe to repeat
   * is sent again, any other that was on its way is refused with `DISCONNECTED`.
   * @param {string} type @param {Record<string, unknown>} [fields] @returns {Promise<any>}
   */
  call(type, fields = {}) {
    return new Promise((resolve, reject) => this.#ask({ type, ...present(fields) }, { resolve, reject }));
  }

  /** Open a session. @param {string} challengeType @param {Record<string, unknown>} [options] @param {boolean} [secret] */
  create(challengeType, options, secret) {
    return this.call("create", { challengeType, options, private: secret });
  }

  /**
   * Take a seat; its messages follow as events, also after a reconnect.
   * @param {string} invite @param {string} [userId] @returns {Promise<Seat>}
   */
  async join(invite, userId, key = newKey()) {
    const seat = await this.call("join", { invite, userId, key });
    this.#keep(...this.#seat(seat.ChallengeID, seat.sessionKey)).told(seat);
    return seat;
  }

  /** Come back to a seat. @param {string} challengeId @param {string} sessionKey @returns {Promise<Seat>} */
  resume(challengeId, sessionKey) {
    return this.#subscribe(...this.#seat(challengeId, sessionKey));
  }

  /** @param {string} challengeId @param {string} sessionKey @returns {[string, () => Frame, "seat", string]} */
  #seat(challengeId, sessionKey) {
    const frame = () => ({ type: "resume", challengeId, sessionKey, cursors: this.#cursors.get(challengeId) });
    return [`seat ${challengeId}`, frame, "seat", challengeId];
  }

  /** Make a move. @param {string} challengeId @param {string} messageType @param {string} content */
  act(challengeId, messageType, content, key = newKey()) {
    return this.call("message", { challengeId, messageType, content, key });
  }

  /** Talk to the players, or to one of them. @param {string} channel @param {string} content @param {string} [to] */
  say(channel, content, to, key = newKey()) {
    return this.call("chat", { channel, content, to, key });
  }

  /** Follow a session. @param {string} challengeId @returns {Promise<Challenge>} */
  watch(challengeId) {
    const frame = () => ({ type: "watch", challengeId, cursors: this.#cursors.get(challengeId) });
    return this.#subscribe(`watch ${challengeId}`, frame, "challenge", challengeId);
  }

  /** Stop following a session. @param {string} challengeId */
  unwatch(challengeId) {
    if (!this.#subscriptions.delete(`watch ${challengeId}`)) return;
    if (!this.#subscriptions.has(`seat ${challengeId}`)) this.#cursors.delete(challengeId);
    if (this.#online) this.call("unwatch", { challengeId }).catch(() => {});
  }

  /** Follow all public sessions. @returns {Promise<Lobby>} */
  lobby() {
    return this.#subscribe("lobby", () => ({ type: "lobby" }), "lobby");
  }

  /**
   * Follow a board; the global one if no challenge is named, the first of its strategies if none is.
   * @param {string} [challengeType] @param {string} [strategy] @returns {Promise<Board>}
   */
  leaderboard(challengeType, strategy) {
    const frame = () => present({ type: "leaderboard", challengeType, strategy });
    return this.#subscribe(boardName(challengeType, strategy), frame, "leaderboard");
  }

  /** Stop following a board. @param {string} [challengeType] @param {string} [strategy] */
  leaveLeaderboard(challengeType, strategy) {
    if (!this.#subscriptions.delete(boardName(challengeType, strategy)) || !this.#online) return;
    this.call("leaderboard", { challengeType, strategy, off: true }).catch(() => {});
  }

  /** All messages of a channel from an index on, as we may see them now. @param {string} channel */
  async sync(channel, index = 1) {
    /** @type {Message[]} */ const messages = [];
    for (;;) {
      const page = await this.call("sync", { channel, index });
      messages.push(...page.messages);
      if (!page.count || !page.next || page.next <= index) return messages;
      index = page.next;
    }
  }

  // The life of a connection

  #open() {
    clearTimeout(this.#retry);
    this.#set({ status: "connecting" });
    const socket = new this.WebSocket(this.url, [PROTOCOL]);
    this.#socket = socket;
    this.#heard = Date.now();
    socket.onmessage = ({ data }) => this.#hear(JSON.parse(data));
    socket.onclose = ({ code, reason }) => this.#lost(code, reason);
    clearInterval(this.#pulse);
    this.#pulse = setInterval(() => this.#feelPulse(), this.quiet / 3);
  }

  /** Forget the socket, whatever it still has to say. */
  #drop() {
    clearInterval(this.#pulse);
    this.#online = false;
    if (this.#socket === null) return;
    this.#socket.onmessage = this.#socket.onclose = null;
    this.#socket.close();
    this.#socket = null;
  }

  #lost(/** @type {number} */ code, /** @type {string} */ reason) {
    this.#drop();
    for (const [id, request] of this.#requests) {
      if (request.subscription !== undefined) {
        this.#requests.delete(id); // made anew with the next connection
      } else if (request.sent && !isRepeatable(request.frame)) {
        this.#requests.delete(id);
        request.reject(new Refusal("DISCONNECTED", "The connection was lost before the answer came."));
      }
      request.sent = false;
    }
    if (FINAL.has(code)) return this.#set({ status: "closed", code, reason });
    const wait = backOff(code === POLICY ? Math.max(this.#failures, 5) : this.#failures);
    this.#failures += 1;
    this.#retry = setTimeout(() => this.#open(), wait);
    this.#set({ status: "waiting", retryAt: Date.now() + wait, code, reason });
  }

  /** Browsers do not say when a connection is dead, so after some silence we ask. */
  #feelPulse() {
    const silence = Date.now() - this.#heard;
    if (silence > this.quiet * 1.5) this.#lost(1006, "silence");
    else if (silence > this.quiet && this.#online) this.call("ping").catch(() => {});
  }

  #welcome(/** @type {Frame} */ frame) {
    this.#online = true;
    this.#failures = 0;
    this.#skew = frame.time - Date.now();
    this.limits = frame.limits;
    this.#set({ status: "online" });
    for (const subscription of this.#subscriptions.values()) this.#request(subscription);
    for (const request of this.#requests.values()) this.#send(request);
  }

  #set(/** @type {Status} */ status) {
    this.status = status;
    this.#emit("status", status);
  }

  // Asking

  /** @param {Frame} frame @param {Pick<Request, "resolve" | "reject" | "subscription">} whose */
  #ask(frame, whose) {
    const id = ++this.#ids;
    const request = { frame: { ...frame, id }, sent: false, tries: 0, ...whose };
    this.#requests.set(id, request);
    this.#send(request);
  }

  #send(/** @type {Request} */ request) {
    if (!this.#online || request.sent || this.#socket === null) return;
    request.sent = true;
    this.#socket.send(JSON.stringify(request.frame));
  }

  /** @param {string} name @param {() => Frame} frame @param {keyof Events} event @param {string} [challengeId] */
  #subscribe(name, frame, event, challengeId) {
    const known = this.#subscriptions.get(name);
    if (known !== undefined) return known.first;
    const subscription = this.#keep(name, frame, event, challengeId);
    if (this.#online) this.#request(subscription);
    return subscription.first;
  }

  /**
   * Ask for something with every new connection.
   * @param {string} name @param {() => Frame} frame @param {keyof Events} event @param {string} [challengeId]
   */
  #keep(name, frame, event, challengeId) {
    /** @type {(result: any) => void} */ let resolve = () => {};
    /** @type {(error: Refusal) => void} */ let reject = () => {};
    const first = new Promise((yes, no) => ([resolve, reject] = [yes, no]));
    first.catch(() => {}); // told as an event too
    /** @type {Subscription} */ const subscription = {
      name,
      frame,
      first,
      isAnswered: false,
      told: (result) => {
        subscription.isAnswered = true;
        this.#emit(event, result);
        resolve(result);
      },
      failed: (error) => {
        this.#subscriptions.delete(name);
        if (challengeId !== undefined) this.#forget(challengeId, error);
        reject(error);
      },
    };
    this.#subscriptions.set(name, subscription);
    return subscription;
  }

  #request(/** @type {Subscription} */ subscription) {
    const isWanted = () => this.#subscriptions.get(subscription.name) === subscription;
    this.#ask(present(subscription.frame()), {
      subscription,
      resolve: (result) => isWanted() && subscription.told(result),
      reject: (error) => isWanted() && subscription.failed(error),
    });
  }

  #forget(/** @type {string} */ challengeId, /** @type {Refusal} */ error) {
    this.#cursors.delete(challengeId);
    this.#emit("gone", { challengeId, error });
  }

  // Hearing

  #hear(/** @type {Frame} */ frame) {
    this.#heard = Date.now();
    switch (frame.type) {
      case "welcome":
        return this.#welcome(frame);
      case "reply":
        return this.#take(frame.id)?.resolve(frame.result);
      case "error":
        return this.#refused(frame);
      case "initial":
        return this.#follow(frame, frame.channel, frame.next);
      case "new_message":
        return this.#follow(frame, frame.message.channel, frame.message.index + 1);
      case "state":
      case "game_ended":
        return this.#isFollowing(frame.challengeId) && this.#emit(frame.type, frame);
      default:
        this.#emit(frame.type, frame);
    }
  }

  /** Pass messages on and remember where their channel goes on. */
  #follow(/** @type {Frame} */ frame, /** @type {string} */ channel, /** @type {number} */ index) {
    const session = sessionOf(channel);
    if (!this.#isFollowing(session)) return;
    this.#cursors.set(session, { ...this.#cursors.get(session), [channel]: { index, epoch: frame.epoch } });
    this.#emit(frame.type, frame);
  }

  /** Whether frames of a session are wanted; those of a watch that was given up may still be on their way. */
  #isFollowing(/** @type {string} */ challengeId) {
    return [`watch ${challengeId}`, `seat ${challengeId}`].some((name) => this.#subscriptions.get(name)?.isAnswered);
  }

  #take(/** @type {number} */ id) {
    const request = this.#requests.get(id);
    this.#requests.delete(id);
    return request;
  }

  #refused(/** @type {Frame} */ frame) {
    const error = new Refusal(frame.code, frame.error, frame.retryAfter);
    const request = this.#take(frame.id);
    if (request === undefined) {
      if (frame.challengeId !== undefined) this.#removed(frame.challengeId, error);
      return;
    }
    const mayRepeat = request.subscription !== undefined || (isRepeatable(request.frame) && request.tries < TRIES);
    if (PASSING.has(error.code) && mayRepeat) this.#again(request, error);
    else request.reject(error);
  }

  /** The server may change its mind: ask the same once more, later. */
  #again(/** @type {Request} */ request, /** @type {Refusal} */ error) {
    request.sent = false;
    request.tries += 1;
    const wait = error.retryAfter === undefined ? backOff(request.tries) : 1_000 * error.retryAfter;
    const connection = this.#socket;
    setTimeout(() => {
      if (request.subscription !== undefined && connection !== this.#socket) return; // asked anew with the connection
      this.#requests.set(request.frame.id, request);
      this.#send(request);
    }, wait);
  }

  #removed(/** @type {string} */ challengeId, /** @type {Refusal} */ error) {
    for (const name of [`watch ${challengeId}`, `seat ${challengeId}`]) this.#subscriptions.get(name)?.failed(error);
  }

  #emit(/** @type {string} */ name, /** @type {any} */ event) {
    for (const handler of [...(this.#handlers.get(name) ?? [])]) handler(event);
  }
}

/** What a board is called among subscriptions. @param {string} [challengeType] @param {string} [strategy] */
function boardName(challengeType = "", strategy = "") {
  return `board ${challengeType} ${strategy}`;
}

/** Whether a frame may be sent twice: it reads, or it carries a key. @param {Frame} frame */
function isRepeatable(frame) {
  return "key" in frame || REPEATABLE.has(frame.type);
}

/** Without the fields that are not there. @template {Record<string, any>} T @param {T} fields @returns {T} */
function present(fields) {
  return /** @type {T} */ (Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)));
}
