import { verdictOf } from "../sitting.js";
import { give, h } from "./dom.js";
import "./live-clock.js";

/** @import { Challenge } from "../arena.js" */
/** @import { Form, Question, Turn } from "../sitting.js" */

const ROLES = /** @type {Record<string, [string, string]>} */ ({
  judge: ["You judge", "You are asked about what agents produced, and your verdicts count in their scorecards. You see the task and the evidence; nothing of what you write is shown to the players."],
  user: ["You speak for the user", "Agents talk with a person, and that person is you. Whatever you write reaches the agent as the user's words."],
});

/**
 * <sit-page>: the seat of somebody who does not compete. Call `offer`, `show`, `over` or `fail`. A wish to sit down comes
 * up as `sit`, an answer as `answer` with `ask` and `said`; call `refuse` if it was not taken.
 */
class SitPage extends HTMLElement {
  /** @type {() => number} */ now = Date.now;
  #drawn = "";
  /** @type {Map<string, HTMLElement>} */ #cards = new Map();
  #list = h("div", { class: "asked" });
  #status = h("p", { class: "empty", role: "status" });

  connectedCallback() {
    if (!this.childElementCount) this.replaceChildren(h("p", { class: "empty" }, "Looking for your seat…"));
  }

  /** A seat that can be taken. @param {Challenge} challenge @param {string} role */
  offer(challenge, role) {
    const button = h("button", { type: "button", class: "primary" }, "Take the seat");
    const problem = h("p", { class: "problem", role: "alert" });
    button.addEventListener("click", () => {
      /** @type {HTMLButtonElement} */ (button).disabled = true;
      this.dispatchEvent(new CustomEvent("sit", { bubbles: true }));
    });
    this.replaceChildren(header(challenge.name, role), h("p", {}, "The invite is used up when you take the seat. This browser then keeps it: reload the page, and you are back."), h("p", {}, button), problem);
  }

  /** @param {string} name @param {string} role @param {string} session @param {(Question | Turn)[]} asks */
  show(name, role, session, asks) {
    if (this.#drawn !== name + role) {
      this.#drawn = name + role;
      this.replaceChildren(header(name, role), this.#status, this.#list, watch(session));
    }
    const words = asks.length === 0 ? "Nothing waits for you at the moment. What is asked appears here by itself." : asks.length === 1 ? "One answer is asked for." : `${asks.length} answers are asked for.`;
    if (this.#status.textContent !== words) this.#status.textContent = words;
    this.#cards = new Map(asks.map((ask) => [ask.key, this.#cards.get(ask.key) ?? this.#card(ask)]));
    for (const child of [...this.#list.children]) if (![...this.#cards.values()].includes(/** @type {HTMLElement} */ (child))) child.remove();
    for (const [key, card] of this.#cards) {
      if (card.parentElement !== this.#list) this.#list.append(card);
      const clock = /** @type {any} */ (card.querySelector("live-clock"));
      const until = asks.find((ask) => ask.key === key)?.until;
      if (clock && until) clock.until = until;
    }
  }

  /** The game has ended. @param {string} name @param {string} session */
  over(name, session) {
    this.replaceChildren(
      h("header", { class: "challenge-head" }, h("h1", { tabindex: -1 }, "The game is over"), h("p", { class: "lead", role: "status" }, "Thank you: your part in ", h("bdi", {}, name), " is done.")),
      h("p", {}, h("a", { href: `/session/${encodeURIComponent(session)}/scorecards` }, "See the scorecards")),
      watch(session),
    );
  }

  /** An answer was not taken. @param {string} key @param {string} sentence */
  refuse(key, sentence) {
    const card = this.#cards.get(key);
    const problem = (card ?? this).querySelector(".problem");
    for (const button of (card ?? this).querySelectorAll("button")) button.disabled = false;
    if (problem) problem.textContent = sentence;
  }

  /** Nothing can be shown. @param {string} title @param {string} sentence */
  fail(title, sentence) {
    this.replaceChildren(h("div", { class: "empty failure", role: "alert" }, h("h1", { tabindex: -1 }, title), h("p", {}, sentence), h("p", {}, h("a", { href: "/" }, "See what is being played"))));
  }

  /** @param {Question | Turn} ask */
  #card(ask) {
    const problem = h("p", { class: "problem", role: "alert" });
    const button = h("button", { class: "primary" }, ask.kind === "turn" ? "Say it" : "Give the verdict");
    const form = h("form", { "aria-label": ask.kind === "turn" ? `Words of the user in ${ask.run}` : `Verdict on ${ask.id}` }, ...(ask.kind === "turn" ? [field("What the user says", h("textarea", { name: "content", rows: 4, dir: "auto", required: true }))] : fields(ask.form)), h("p", {}, button), problem);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      try {
        const said = saidIn(/** @type {HTMLFormElement} */ (form), ask);
        problem.textContent = "";
        /** @type {HTMLButtonElement} */ (button).disabled = true;
        this.dispatchEvent(new CustomEvent("answer", { detail: { ask, said }, bubbles: true }));
      } catch (error) {
        problem.textContent = /** @type {Error} */ (error).message;
      }
    });
    const left = ask.until !== null && h("p", { class: "left" }, "Time left: ", give(/** @type {any} */ (h("live-clock")), { until: ask.until, now: this.now }));
    return h("article", { class: "ask" }, ...(ask.kind === "turn" ? turn(ask) : question(ask)), left || "", form);
  }
}

/** @param {string} name @param {string} role */
function header(name, role) {
  const [title, words] = ROLES[role] ?? ["Your seat", ""];
  return h("header", { class: "challenge-head" }, h("p", { class: "about" }, h("bdi", {}, name)), h("h1", { tabindex: -1 }, title), h("p", { class: "lead" }, words));
}

/** @param {string} session */
function watch(session) {
  return h("p", {}, h("a", { href: `/session/${encodeURIComponent(session)}` }, "Watch the session"));
}

/** @param {Turn} turn */
function turn({ run, case: key, answer }) {
  const player = run.split("/")[0];
  return [
    h("h2", {}, `Player ${player}, case `, h("bdi", {}, key)),
    answer ? h("div", {}, h("h3", {}, "The agent said"), h("div", { class: "text evidence", dir: "auto", tabindex: 0 }, answer)) : h("p", {}, "The conversation begins with you."),
  ];
}

/** @param {Question} question */
function question({ id, system, user }) {
  return [
    h("h2", {}, `Question ${id.replace(/^q/, "")}`),
    h("div", { class: "text evidence", dir: "auto", tabindex: 0 }, user),
    h("details", {}, h("summary", {}, "What every judge is told"), h("div", { class: "text evidence", dir: "auto", tabindex: 0 }, system)),
  ];
}

/** @param {string} label @param {HTMLElement} input */
function field(label, input) {
  return h("label", {}, h("span", { class: "label" }, label), input);
}

/** @param {Form} form */
function fields({ mode, min = 1, max = 5, candidates = [] }) {
  const sure = field("How sure are you?", h("select", { name: "confidence" }, ...["high", "medium", "low"].map((word) => h("option", { value: word }, word))));
  switch (mode) {
    case "rubric":
    case "reference":
      return [field(`Score, ${min} to ${max}`, h("input", { type: "number", name: "score", min, max, step: "any", required: true })), sure];
    case "assertion":
      return [h("fieldset", {}, h("legend", {}, "Does it hold?"), ...["yes", "no"].map((word) => h("label", { class: "tick-box" }, h("input", { type: "radio", name: "pass", value: word, required: true }), word))), sure];
    case "n_wise":
      return candidates.map((_, place) => field(place ? `Place ${place + 1}` : "The best", h("select", { name: "ranking", required: true }, h("option", { value: "" }, "choose"), ...candidates.map((name) => h("option", { value: name }, name)))));
    default:
      return [field("Your verdict, in the form that is asked for", h("textarea", { name: "answer", rows: 4, spellcheck: "false", required: true }))];
  }
}

/** @param {HTMLFormElement} form @param {Question | Turn} ask */
function saidIn(form, ask) {
  const data = new FormData(form);
  const given = Object.fromEntries([...new Set(data.keys())].map((name) => [name, data.getAll(name).map(String)]));
  if (ask.kind === "question") return verdictOf(ask.form, given);
  const words = given.content?.[0]?.trim();
  if (!words) throw new Error("Write what the user says.");
  return words;
}

customElements.define("sit-page", SitPage);
