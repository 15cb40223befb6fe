/**
 * The arena's client, for browsers and Node alike: one connection that comes back by itself, asks again for what it
 * was subscribed to, takes its seats again, and goes on behind the last message it heard. No dependencies; its types
 * are in `arena.d.ts`.
 *
 *     const arena = new Arena("http://127.0.0.1:3001");
 *     const game = await arena.join("inv_…", { userId: "ada" });
 *     for await (const { from, content } of game) console.log(from, content);
 *     console.log(game.score);
 *
 * @import { Cursor, Ended, Event, Events, Frame, JoinOptions, LinkOptions, Message, Score, Seat, Signed, State,
 *   Status } from "./arena.d.ts"
 * @typedef {{name: string, frame: () => Frame, told: (result: any) => void, failed: (error: Refusal) => void,
 *   first: Promise<any>, carrier: WebSocket | null}} Subscription `carrier`: the connection that has answered it
 * @typedef {{frame: Frame, seat?: string, sent: boolean, tries: number, resolve: (result: any) => void,
 *   reject: (error: Refusal) => void, subscription?: Subscription}} Request `seat`: the session whose seat it needs
 */

const PROTOCOL = "arena.v1.json";
const FINAL = new Set([1000, 1003, 1007, 1009, 4401, 4404, 4409]); // close codes after which coming back makes no sense
const POLICY = 1008;
const ABNORMAL = 1006; // lost without a farewell
const PASSING = new Set(["STORE_UNAVAILABLE", "RATE_LIMITED"]); // refusals that another try may not get
const REPEATABLE = new Set(["sync", "ping", "lobby", "leaderboard", "watch", "unwatch"]);
const TRIES = 5; // of what only reads; what carries a key is sent until it is answered
const OPERATOR_PREFIX = "challenge_";
const SPKI = "302a300506032b6570032100"; // how the DER of every Ed25519 public key begins
const PKCS8 = "302e020100300506032b657004220420"; // and that of a private one

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

/** The address of an arena's socket, from that of its page. @param {string} url */
export function socketOf(url) {
  const found = new URL(url);
  found.protocol = found.protocol.replace(/^http/, "ws");
  if (!/^wss?:$/.test(found.protocol)) throw new TypeError("The address of an arena begins with http://, https://, ws:// or wss://.");
  if (found.pathname === "/") found.pathname = "/ws";
  return found.href;
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
  return hex(crypto.getRandomValues(new Uint8Array(16)));
}

// Who somebody is

/** A player's key pair, for arenas that require one. Made here it can be used and kept, but not be read by anybody. */
export class Identity {
  /** @param {CryptoKeyPair} pair @param {string} publicKey SPKI DER as hex @param {string} user */
  constructor(pair, publicKey, user) {
    this.pair = pair;
    this.publicKey = publicKey;
    this.user = user;
  }

  /** Somebody new; `extractable` if the private key is to be exported. @param {{extractable?: boolean}} [options] */
  static async make({ extractable = false } = {}) {
    return Identity.of(/** @type {CryptoKeyPair} */ (await cryptography((subtle) => subtle.generateKey({ name: "Ed25519" }, extractable, ["sign", "verify"]))));
  }

  /** Whoever holds a pair of keys, as a browser's database gives it back. @param {CryptoKeyPair} pair */
  static async of(pair) {
    const publicKey = SPKI + hex(await cryptography((subtle) => subtle.exportKey("raw", pair.publicKey)));
    const digest = await cryptography((subtle) => subtle.digest("SHA-256", new TextEncoder().encode(publicKey)));
    return new Identity(pair, publicKey, hex(digest));
  }

  /** Whoever holds a private key, PKCS8 DER as hex, as `arena identity new` writes it. @param {string} privateKey */
  static async load(privateKey) {
    const text = privateKey.trim().toLowerCase();
    if (!text.startsWith(PKCS8) || !/^[0-9a-f]{96}$/.test(text)) throw new TypeError("This is no Ed25519 private key.");
    const bytes = Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
    const key = await cryptography((subtle) => subtle.importKey("pkcs8", bytes, { name: "Ed25519" }, true, ["sign"]));
    const { d: _, ...open } = await cryptography((subtle) => subtle.exportKey("jwk", key));
    const known = await cryptography((subtle) => subtle.importKey("jwk", { ...open, key_ops: ["verify"] }, { name: "Ed25519" }, true, ["verify"]));
    return Identity.of({ privateKey: key, publicKey: known });
  }

  /** The private key as a file keeps it; refused by a pair that was not made for it. */
  async export() {
    return hex(await cryptography((subtle) => subtle.exportKey("pkcs8", this.pair.privateKey)));
  }

  /** What proves who sends a request. @param {string} purpose `join:{invite}` or `user-update` @param {number} [now] @returns {Promise<Signed>} */
  async sign(purpose, now = Date.now()) {
    const timestamp = Math.round(now);
    const text = new TextEncoder().encode(`arena:v1:${purpose}:${timestamp}`);
    const signature = hex(await cryptography((subtle) => subtle.sign({ name: "Ed25519" }, this.pair.privateKey, text)));
    return { publicKey: this.publicKey, signature, timestamp };
  }
}

/** Have something done with keys, or say why it cannot be. @template T @param {(subtle: SubtleCrypto) => Promise<T>} work @returns {Promise<T>} */
async function cryptography(work) {
  const subtle = globalThis.crypto?.subtle;
  if (!subtle) throw new Refusal("NO_KEYS", "Browsers lend their keys only to pages of https and of this machine.");
  try {
    return await work(subtle);
  } catch (error) {
    const isUnknown = error instanceof Error && error.name === "NotSupportedError";
    throw isUnknown ? new Refusal("NO_KEYS", "This browser knows no Ed25519 keys; a newer one does.") : error;
  }
}

/** @param {ArrayBuffer | Uint8Array} bytes */
function hex(bytes) {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// One seat

/** A seat in a session. Iterate over it to hear what others say to it; it ends with the game. */
export class Game {
  /** @type {Event[]} */ #events = [];
  /** @type {Set<() => void>} */ #waiting = new Set();
  /** @type {Map<string, number>} */ #next = new Map(); // index of the next message by channel
  /** @type {Refusal | null} */ #loss = null;
  #isStarted = false;

  /** @param {Arena} arena @param {Seat} told @param {string} [handle] what others see in `from` */
  constructor(arena, told, handle = "") {
    this.arena = arena;
    this.id = told.ChallengeID;
    this.info = told.ChallengeInfo;
    this.seat = told.playerIndex;
    this.sessionKey = told.sessionKey;
    this.handle = handle;
    /** @type {string[]} */ this.players = [];
    /** @type {Record<string, any>} */ this.clocks = {};
    /** @type {Ended | null} */ this.ended = null;
    this.recovered = true; // false once the server lost the end of its log
  }

  /** Whether nothing more will be heard. */
  get isOver() {
    return this.ended !== null || this.#loss !== null;
  }

  /** What this seat got, after the end. @returns {Score | null} */
  get score() {
    return this.ended?.state.scores[this.seat] ?? null;
  }

  /** Make a move; anything but text is sent as JSON. @param {string} type @param {unknown} [content] @param {string} [key] */
  act(type, content = "", key) {
    return this.arena.act(this.id, type, typeof content === "string" ? content : JSON.stringify(content), key);
  }

  /** Talk to the players, or to one of them alone. @param {string} content @param {string} [to] @param {string} [key] */
  say(content, to, key) {
    return this.arena.say(this.id, content, to, key);
  }

  /** Give the game up. */
  resign() {
    return this.act("resign");
  }

  /** What others say that this seat may read, each once and in order, until the end. @returns {AsyncGenerator<Message, void>} */
  async *messages() {
    for await (const event of this.events()) {
      if (event.type === "message" && event.message.from !== this.handle) yield event.message;
    }
  }

  [Symbol.asyncIterator]() {
    return this.messages();
  }

  /** Everything this seat may know: messages, own ones included, and the start and the end of the game. @returns {AsyncGenerator<Event, void>} */
  async *events() {
    while (this.#events.length || !this.ended) {
      const event = await this.next();
      if (event) yield event;
    }
  }

  /** The next event; null if there is none for so many milliseconds. Throws what ended the game too early. @param {number} [within] @returns {Promise<Event | null>} */
  async next(within = Infinity) {
    const until = Date.now() + within;
    for (;;) {
      const event = this.#events.shift();
      if (event) return event;
      if (this.#loss) throw this.#loss;
      if (this.ended || Date.now() >= until) return null;
      await this.#more(until - Date.now());
    }
  }

  /** Wait for the end of the game, and let everything else pass. @returns {Promise<Ended>} */
  async playOut() {
    for await (const event of this.events()) if (event.type === "ended") return event;
    return /** @type {Ended} */ (this.ended);
  }

  /** Until something has come, or the time is up. @param {number} within milliseconds */
  #more(within) {
    return new Promise((/** @type {(nothing?: void) => void} */ resolve) => {
      const timer = Number.isFinite(within) ? setTimeout(done, within) : undefined;
      const waiting = this.#waiting;
      waiting.add(done);
      function done() {
        clearTimeout(timer);
        waiting.delete(done);
        resolve();
      }
    });
  }

  /** Take a frame of this session. @param {Frame} frame */
  hear(frame) {
    switch (frame.type) {
      case "initial":
        return this.#begin(/** @type {any} */ (frame));
      case "new_message":
        return this.#take(frame.message);
      case "state":
        this.clocks = frame.clocks ?? {};
        return this.#see(frame.state);
      case "game_ended":
        if (this.ended) return;
        const { profiles = {}, course: _, ...state } = frame.data;
        this.players = state.players;
        this.ended = { type: "ended", state, profiles };
        this.#tell(this.ended);
    }
  }

  /** Nothing more will be heard of this game. @param {Refusal} reason */
  lose(reason) {
    if (this.isOver) return;
    this.#loss = reason;
    for (const wake of [...this.#waiting]) wake();
  }

  #begin(/** @type {{channel: string, messages: Message[], next: number, recovered: boolean}} */ { channel, messages, next, recovered }) {
    const known = this.#next.get(channel);
    if (known !== undefined && !recovered) {
      this.recovered &&= next >= known;
      this.#next.set(channel, Math.min(known, next));
    }
    for (const message of messages) this.#take(message);
  }

  #take(/** @type {Message} */ message) {
    if (message.index < (this.#next.get(message.channel) ?? 1)) return;
    this.#next.set(message.channel, message.index + 1);
    if (!message.redacted) this.#tell({ type: "message", message });
  }

  #see(/** @type {State} */ { players, status }) {
    this.players = players;
    this.handle ||= players[this.seat] ?? "";
    if (status !== "active" || this.#isStarted) return;
    this.#isStarted = true;
    this.#tell({ type: "started", players });
  }

  #tell(/** @type {Event} */ event) {
    this.#events.push(event);
    for (const wake of [...this.#waiting]) wake();
  }
}

// The connection

export class Arena {
  /** @type {WebSocket | null} */ #socket = null;
  #online = false;
  #failures = 0;
  #ids = 0;
  #skew = 0; // of our clock, in milliseconds
  #heard = 0; // when the last frame came
  #lostAt = Date.now();
  /** @type {ReturnType<typeof setTimeout> | undefined} */ #retry;
  /** @type {ReturnType<typeof setInterval> | undefined} */ #pulse;
  /** @type {Map<number, Request>} */ #requests = new Map();
  /** @type {Map<string, Subscription>} */ #subscriptions = new Map();
  /** @type {Map<string, Record<string, Cursor>>} */ #cursors = new Map();
  /** @type {Map<string, Set<(event: any) => void>>} */ #handlers = new Map();
  /** @type {Map<string, Game>} */ #games = new Map();

  /**
   * Connects at once.
   * @param {string} url of the arena, or of its `/ws`
   * @param {LinkOptions} [options] a WebSocket class where there is none built in; `quiet`: milliseconds of silence
   *   after which the server is asked for a sign of life; `patience`: milliseconds without a connection after which it
   *   is given up, for ever if it is not said
   */
  constructor(url, { WebSocket = globalThis.WebSocket, quiet = 30_000, patience = Infinity } = {}) {
    if (!WebSocket) throw new TypeError("There is no WebSocket here: Node has one from 22 on, with --experimental-websocket from 20.10 on; else hand one in.");
    this.url = socketOf(url);
    this.quiet = quiet;
    this.patience = patience;
    this.WebSocket = WebSocket;
    /** @type {Status} */ this.status = { status: "connecting" };
    /** @type {Record<string, number>} */ this.limits = {};
    /** @type {"open" | "required" | undefined} */ this.auth = undefined; // whether players sign in with a key pair
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

  /** Until there is a connection; refused once it is given up. @returns {Promise<void>} */
  online() {
    return new Promise((resolve, reject) => {
      if (this.#online) return resolve();
      if (this.status.status === "closed") return reject(farewell(this.status));
      const stop = this.on("status", (status) => {
        if (status.status === "online") resolve();
        else if (status.status === "closed") reject(farewell(status));
        else return;
        stop();
      });
    });
  }

  /** Try to connect now rather than when the wait is over. */
  retry() {
    if (this.#socket === null) this.#open();
  }

  /** End it for good. */
  close() {
    this.#end({ status: "closed", code: 1000 });
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
   * Take a seat; its messages follow, also after a reconnect.
   * @param {string} invite @param {JoinOptions} [who] `key` is to be kept secret until the answer has come
   * @returns {Promise<Game>}
   */
  async join(invite, { userId, identity, key = newKey() } = {}) {
    await this.online();
    if (this.auth === "required" && !identity) throw new Refusal("UNAUTHORIZED", "This arena knows its players by their key pairs: join with an identity.");
    const who = this.auth === "required" ? await identity?.sign(`join:${invite}`, this.now()) : { userId: userId ?? identity?.user };
    return new Promise((resolve, reject) => {
      // The seat is noted before anything else is heard: its history follows right behind the answer.
      const sit = (/** @type {Seat} */ told) => resolve(this.#sit(told, invite));
      this.#ask(present({ type: "join", invite, key, ...who }), { resolve: sit, reject });
    });
  }

  /** Come back to a seat. @param {string} challengeId @param {string} sessionKey @param {string} [handle] @returns {Promise<Game>} */
  async resume(challengeId, sessionKey, handle) {
    const name = `seat ${challengeId}`;
    const known = this.#games.get(challengeId);
    if (known && this.#subscriptions.has(name)) return known;
    /** @type {Promise<Game>} */ const game = new Promise((resolve, reject) => {
      const subscription = this.#keep(name, this.#back(challengeId, sessionKey), "seat", challengeId);
      const told = subscription.told;
      subscription.told = (/** @type {Seat} */ seat) => {
        if (!this.#games.has(challengeId)) this.#games.set(challengeId, new Game(this, seat, handle));
        told(seat);
        resolve(/** @type {Game} */ (this.#games.get(challengeId)));
      };
      subscription.first.catch(reject);
      if (this.#online) this.#request(subscription);
    });
    return game;
  }

  /** @param {Seat} told @param {string} handle */
  #sit(told, handle) {
    const { ChallengeID: id, sessionKey } = told;
    const game = new Game(this, told, handle);
    this.#games.set(id, game);
    this.#keep(`seat ${id}`, this.#back(id, sessionKey), "seat", id).told(told);
    return game;
  }

  /** How a seat is asked for again. @param {string} challengeId @param {string} sessionKey @returns {() => Frame} */
  #back(challengeId, sessionKey) {
    return () => ({ type: "resume", challengeId, sessionKey, cursors: this.#cursors.get(challengeId) });
  }

  /** Hear no more of a seat, which stays taken. Only a new connection is without it, so one is made. @param {string} challengeId */
  leave(challengeId) {
    if (!this.#subscriptions.delete(`seat ${challengeId}`)) return;
    this.#cursors.delete(challengeId);
    this.#games.get(challengeId)?.lose(new Refusal("LEFT", "The seat was left."));
    this.#games.delete(challengeId);
    if (!this.#online) return;
    this.#drop();
    this.#open();
  }

  /** Make a move. @param {string} challengeId @param {string} messageType @param {string} content @returns {Promise<{ok: string}>} */
  act(challengeId, messageType, content, key = newKey()) {
    return this.#play(challengeId, { type: "message", challengeId, messageType, content, key });
  }

  /** Talk to the players, or to one of them. @param {string} channel @param {string} content @param {string} [to] */
  say(channel, content, to, key = newKey()) {
    return this.#play(sessionOf(channel), present({ type: "chat", channel, content, to, key }));
  }

  /** @param {string} seat @param {Frame} frame @returns {Promise<any>} */
  #play(seat, frame) {
    return new Promise((resolve, reject) => this.#ask(frame, { resolve, reject, seat }));
  }

  /** Follow a session. @param {string} challengeId */
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

  /** Follow all public sessions. */
  lobby() {
    return this.#subscribe("lobby", () => ({ type: "lobby" }), "lobby");
  }

  /** Stop following them. */
  leaveLobby() {
    if (this.#subscriptions.delete("lobby") && this.#online) this.call("lobby", { off: true }).catch(() => {});
  }

  /**
   * Follow a board; the global one if no challenge is named, the first of its strategies if none is.
   * @param {string} [challengeType] @param {string} [strategy]
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
    // A close follows and says all, except in Node 20 where no connection came about.
    socket.onerror = () => void setTimeout(() => this.#socket === socket && this.#lost(ABNORMAL, ""), 0);
    clearInterval(this.#pulse);
    this.#pulse = setInterval(() => this.#feelPulse(), this.quiet / 3);
  }

  /** Forget the socket, whatever it still has to say. */
  #drop() {
    clearInterval(this.#pulse);
    if (this.#online) this.#lostAt = Date.now();
    this.#online = false;
    if (this.#socket === null) return;
    this.#socket.onmessage = this.#socket.onclose = this.#socket.onerror = null;
    this.#socket.close();
    this.#socket = null;
    this.#unsend();
  }

  /** What was on its way is asked again by the next connection, or refused. */
  #unsend() {
    for (const [id, request] of this.#requests) {
      if (request.subscription !== undefined) {
        this.#requests.delete(id); // made anew with the next connection
      } else if (request.sent && !isRepeatable(request.frame)) {
        this.#requests.delete(id);
        request.reject(new Refusal("DISCONNECTED", "The connection was lost before the answer came."));
      }
      request.sent = false;
    }
  }

  #lost(/** @type {number} */ code, /** @type {string} */ reason) {
    this.#drop();
    if (FINAL.has(code)) return this.#end({ status: "closed", code, reason });
    if (Date.now() - this.#lostAt > this.patience) return this.#end({ status: "closed", code, reason: reason || "nobody answers" });
    const wait = backOff(code === POLICY ? Math.max(this.#failures, 5) : this.#failures);
    this.#failures += 1;
    this.#retry = setTimeout(() => this.#open(), wait);
    this.#set({ status: "waiting", retryAt: Date.now() + wait, code, reason });
  }

  /** There will be no other connection: whoever waits is told. @param {Status} status */
  #end(status) {
    this.#drop();
    clearTimeout(this.#retry);
    this.#set(status);
    const error = farewell(status);
    const waiting = [...this.#requests.values()];
    this.#requests.clear();
    for (const { reject, subscription } of waiting) if (!subscription) reject(error);
    for (const game of this.#games.values()) game.lose(error);
  }

  /** Browsers do not say when a connection is dead, so after some silence we ask. */
  #feelPulse() {
    const silence = Date.now() - this.#heard;
    if (silence > this.quiet * 1.5) this.#lost(ABNORMAL, "silence");
    else if (silence > this.quiet && this.#online) this.call("ping").catch(() => {});
  }

  #welcome(/** @type {Frame} */ frame) {
    this.#online = true;
    this.#failures = 0;
    this.#skew = frame.time - Date.now();
    this.limits = frame.limits;
    this.auth = frame.auth ?? "open";
    this.#set({ status: "online" });
    for (const subscription of this.#subscriptions.values()) this.#request(subscription);
    this.#sendAll();
  }

  #set(/** @type {Status} */ status) {
    this.status = status;
    this.#emit("status", status);
  }

  // Asking

  /** @param {Frame} frame @param {Pick<Request, "resolve" | "reject" | "subscription" | "seat">} whose */
  #ask(frame, whose) {
    if (this.status.status === "closed") return whose.reject(farewell(this.status));
    const id = ++this.#ids;
    const request = { frame: { ...frame, id }, sent: false, tries: 0, ...whose };
    this.#requests.set(id, request);
    this.#send(request);
  }

  #sendAll() {
    for (const request of this.#requests.values()) this.#send(request);
  }

  #send(/** @type {Request} */ request) {
    if (!this.#online || request.sent || this.#socket === null) return;
    const seat = request.seat === undefined ? undefined : this.#subscriptions.get(`seat ${request.seat}`);
    if (seat && seat.carrier !== this.#socket) return; // this connection does not have the seat yet
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
      carrier: null,
      told: (result) => {
        subscription.carrier = this.#socket;
        this.#emit(event, result);
        resolve(result);
        this.#sendAll();
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
    if (!this.#subscriptions.has(`seat ${challengeId}`)) {
      this.#games.get(challengeId)?.lose(error);
      this.#games.delete(challengeId);
      this.#sendAll(); // moves that waited for the seat get their refusal from the server
    }
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
        return this.#pass(frame.challengeId, frame);
      default:
        this.#emit(frame.type, frame);
    }
  }

  /** Pass messages on and remember where their channel goes on. */
  #follow(/** @type {Frame} */ frame, /** @type {string} */ channel, /** @type {number} */ index) {
    const session = sessionOf(channel);
    if (!this.#isFollowing(session)) return;
    this.#cursors.set(session, { ...this.#cursors.get(session), [channel]: { index, epoch: frame.epoch } });
    this.#pass(session, frame);
  }

  /** @param {string} session @param {Frame} frame */
  #pass(session, frame) {
    if (!this.#isFollowing(session)) return;
    this.#games.get(session)?.hear(frame);
    this.#emit(frame.type, frame);
  }

  /** Whether frames of a session are wanted; those of a watch that was given up may still be on their way. */
  #isFollowing(/** @type {string} */ challengeId) {
    return [`watch ${challengeId}`, `seat ${challengeId}`].some((name) => this.#subscriptions.get(name)?.carrier === this.#socket);
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
    const isKept = request.subscription !== undefined || "key" in request.frame;
    const mayRepeat = isKept || (isRepeatable(request.frame) && request.tries < TRIES);
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
      if (this.status.status === "closed") return request.reject(farewell(this.status));
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

/** What those are told who wait for a connection that will not come. @param {Status} status */
function farewell({ code, reason }) {
  return new Refusal("DISCONNECTED", `The connection is closed${reason ? `: ${reason}` : code === 1000 ? "" : ` with ${code}`}.`);
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
