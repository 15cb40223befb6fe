import { short, signed } from "../view.js";
import { give, h, mark, nameOf, seatColour } from "./dom.js";
import "./deed-arrows.js";
import "./seat-clock.js";

/** @import { Player } from "../view.js" */
/** @import { Deed } from "../timeline.js" */

/** <player-list>: the seats of a session, with scores once it is over, and what is held against whom. Call `show`. */
class PlayerList extends HTMLElement {
  /** @type {() => number} */ now = Date.now;
  #drawn = "";
  #arrows = /** @type {any} */ (h("deed-arrows"));

  /**
   * @param {Player[]} players @param {Deed[]} deeds @param {boolean} isOver
   * @param {boolean} [isLive] whether it is known who is connected
   */
  show(players, deeds, isOver, isLive = true) {
    const wanted = JSON.stringify([players, deeds, isOver, isLive]);
    if (wanted === this.#drawn) return;
    this.#drawn = wanted;
    this.#arrows.show(players.length, deeds);
    this.replaceChildren(
      isOver ? scores(players) : h("ul", { class: "players" }, ...players.map((player) => seat(player, isLive, this.now))),
      ...(isOver || deeds.length ? [attributions(players, deeds, this.#arrows)] : []),
    );
  }
}

/** @param {Player} player @param {boolean} isLive @param {() => number} now */
function seat(player, isLive, now) {
  if (!player.isTaken) {
    return h("li", { class: "free" }, h("span", { class: "speaker" }, h("span", { class: "free-mark", "aria-hidden": "true" }), "free seat"));
  }
  return h(
    "li",
    { "data-connected": isLive && String(player.isConnected) },
    ...about(player),
    isLive && h("span", { class: "presence" }, player.isConnected ? "connected" : "away"),
    player.clock && give(/** @type {any} */ (h("seat-clock")), { now, time: player.clock }),
  );
}

/** @param {Player} player */
function about(player) {
  return [
    h("span", { class: "who" }, who(player), player.note && h("span", { class: "tag" }, player.note)),
    player.model && h("bdi", { class: "model" }, player.model),
    h("code", { class: "handle", title: player.handle }, short(player.handle)),
  ];
}

/** @param {Player} player */
function who({ seat, name }) {
  return h("span", { class: "speaker", "data-seat": seatColour(seat) }, mark(seat), nameOf(name));
}

/** @param {Player[]} players */
function scores(players) {
  const heads = ["Player", "Security", "Utility"].map((head, place) => h("th", { scope: "col", class: place ? "number" : null }, head));
  const rows = players.map((player) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, ...about(player)),
      h("td", { class: "number" }, signed(player.score?.security ?? null)),
      h("td", { class: "number" }, signed(player.score?.utility ?? null)),
    ),
  );
  return h("section", { "aria-label": "Scores" }, h("h2", {}, "Scores"), h("table", {}, h("thead", {}, h("tr", {}, ...heads)), h("tbody", {}, ...rows)));
}

/** @param {Player[]} players @param {Deed[]} deeds @param {HTMLElement} arrows */
function attributions(players, deeds, arrows) {
  const list = deeds.map((deed) => h("li", {}, ...deedOf(players, deed)));
  const nothing = h("p", { class: "kept" }, "Nothing was held against anybody.");
  return h("section", { "aria-label": "Attributions" }, h("h2", {}, "Attributions"), arrows, list.length ? h("ul", { class: "deeds" }, ...list) : nothing);
}

/** @param {Player[]} players @param {Deed} deed */
function deedOf(players, { from, to, label, isBreach, name }) {
  const [one, other] = [players[from], players[to]];
  const arrow = h("span", { class: "to" }, h("span", { class: "unseen" }, "to"), h("span", { "aria-hidden": "true" }, "→"));
  const link = name && h("a", { class: "cause", href: `?line=${name}`, "data-line": name }, "see the message");
  return [
    h("p", { class: "ends" }, one && who(one), arrow, other && who(other)),
    h("p", { class: "ends" }, h("span", { class: isBreach ? "breach" : "deed-name" }, label), link),
  ];
}

customElements.define("player-list", PlayerList);
