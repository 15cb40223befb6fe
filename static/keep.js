/**
 * What this browser keeps for its reader, in a database of its own: the key pair, seats that were taken, and sessions
 * that were created. Where there is no database it is kept as long as the tab lives, which keys do not outlast.
 *
 * @typedef {{id: string, pair: CryptoKeyPair}} Me
 * @typedef {{id: string, key: string, userId?: string, session?: string, sessionKey?: string, at: number}} Seat `id`: the
 *   invite; `key`: what makes a join safe to repeat
 * @typedef {{id: string, invites: string[], at: number}} Made a session that was created here
 * @typedef {{keys: Me, seats: Seat, sessions: Made}} Shelves
 */

const NAME = "arena";
const SHELVES = ["keys", "seats", "sessions"];
const LONG = 30 * 24 * 3_600_000; // milliseconds after which seats and sessions are forgotten

/** @type {Promise<IDBDatabase | null> | undefined} */ let opening;
/** @type {Map<string, any>} where there is no database */ const pocket = new Map();

/** @returns {Promise<IDBDatabase | null>} */
function database() {
  return (opening ??= new Promise((resolve) => {
    try {
      const asked = indexedDB.open(NAME, 1);
      asked.onupgradeneeded = () => SHELVES.forEach((shelf) => asked.result.createObjectStore(shelf, { keyPath: "id" }));
      asked.onsuccess = () => resolve(asked.result);
      asked.onerror = asked.onblocked = () => resolve(null);
    } catch {
      resolve(null);
    }
  }));
}

/**
 * @template T @param {string} shelf @param {IDBTransactionMode} mode
 * @param {(store: IDBObjectStore) => IDBRequest<T>} work @param {() => T} without a database
 * @returns {Promise<T>}
 */
async function ask(shelf, mode, work, without) {
  const found = await database();
  if (!found) return without();
  return new Promise((resolve, reject) => {
    const request = work(found.transaction(shelf, mode).objectStore(shelf));
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** Keep something under its id. @template {keyof Shelves} Shelf @param {Shelf} shelf @param {Shelves[Shelf]} thing */
export async function keep(shelf, thing) {
  await ask(shelf, "readwrite", (store) => store.put(thing), () => {
    pocket.set(`${shelf} ${thing.id}`, thing);
    if (shelf !== "keys") sessionStorage.setItem(`${NAME} ${shelf} ${thing.id}`, JSON.stringify(thing));
    return thing.id;
  });
}

/** What is kept under an id. @template {keyof Shelves} Shelf @param {Shelf} shelf @param {string} id @returns {Promise<Shelves[Shelf] | undefined>} */
export function recall(shelf, id) {
  return ask(shelf, "readonly", (store) => store.get(id), () => {
    return pocket.get(`${shelf} ${id}`) ?? JSON.parse(sessionStorage.getItem(`${NAME} ${shelf} ${id}`) ?? "null") ?? undefined;
  });
}

/** Keep something no longer. @param {keyof Shelves} shelf @param {string} id */
export async function forget(shelf, id) {
  await ask(shelf, "readwrite", (store) => store.delete(id), () => {
    pocket.delete(`${shelf} ${id}`);
    sessionStorage.removeItem(`${NAME} ${shelf} ${id}`);
    return undefined;
  });
}

/** All seats that were taken here, the last one first; what is too old is forgotten. @returns {Promise<Seat[]>} */
export async function seats(now = Date.now()) {
  /** @type {Seat[]} */ const found = await ask("seats", "readonly", (store) => store.getAll(), () => {
    const names = Array.from({ length: sessionStorage.length }, (_, place) => sessionStorage.key(place) ?? "");
    return names.filter((name) => name.startsWith(`${NAME} seats `)).map((name) => JSON.parse(sessionStorage.getItem(name) ?? "null"));
  });
  const old = found.filter(({ at }) => now - at > LONG);
  await Promise.all(old.flatMap(({ id, session }) => [forget("seats", id), ...(session ? [forget("sessions", session)] : [])]));
  return found.filter((seat) => !old.includes(seat)).sort((one, other) => other.at - one.at);
}

/** A word for later, unless the browser keeps none. @param {"localStorage" | "sessionStorage"} where @param {string} name @param {string} text */
export function note(where, name, text) {
  try {
    globalThis[where].setItem(name, text);
  } catch {
    pocket.set(`${where} ${name}`, text);
  }
}

/** What was noted, or nothing. @param {"localStorage" | "sessionStorage"} where @param {string} name @returns {string} */
export function noted(where, name) {
  try {
    return globalThis[where].getItem(name) ?? "";
  } catch {
    return pocket.get(`${where} ${name}`) ?? "";
  }
}
