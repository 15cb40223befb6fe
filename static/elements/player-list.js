import { short, signed } from "../view.js";
import { h, mark, nameOf, seatColour } from "./dom.js";

/** @import { Player, attributionsOf } from "../view.js" */
/** @typedef {ReturnType<typeof attributionsOf>} Attributions */

/** <player-list>: the seats of a session, with scores and attributions once it is over. Call `show`. */
class PlayerList extends HTMLElement {
  #drawn = "";

  /** @param {Player[]} players @param {Attributions} attributions @param {boolean} isOver */
  show(players, attributions, isOver) {
    const wanted = JSON.stringify([players, attributions, isOver]);
    if (wanted === this.#drawn) return;
    this.#drawn = wanted;
    this.replaceChildren(
      ...(isOver ? [scores(players), deeds(players, attributions)] : [h("ul", { class: "players" }, ...players.map(seat))]),
    );
  }
}

/** @param {Player} player */
function seat(player) {
  if (!player.isTaken) {
    return h("li", { class: "free" }, h("span", { class: "speaker" }, h("span", { class: "free-mark", "aria-hidden": "true" }), "free seat"));
  }
  return h(
    "li",
    {},
    ...about(player),
    h("span", { class: "presence" }, player.isConnected ? "connected" : "away"),
  );
}

/** @param {Player} player */
function about(player) {
  return [
    who(player),
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

/** @param {Player[]} players @param {Attributions} attributions */
function deeds(players, attributions) {
  const list = attributions.map(({ from, to, label, isBreach }) => {
    const [one, other] = [players[from], players[to]];
    return h("li", {}, one && who(one), h("span", { class: isBreach ? "breach arrow" : "arrow" }, label), other && who(other));
  });
  const nothing = h("p", { class: "kept" }, "Nothing was held against anybody.");
  return h("section", { "aria-label": "Attributions" }, h("h2", {}, "Attributions"), list.length ? h("ul", { class: "deeds" }, ...list) : nothing);
}

customElements.define("player-list", PlayerList);
