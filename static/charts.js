/** Charts: real SVG with axes and labels. Colours come from the style sheets, numbers from the caller. */

import { around, figure, front, spanOf, ticks } from "./boards.js";
import { markAt, svg } from "./elements/svg.js";

/** @import { Dot } from "./boards.js" */
/** @typedef {(value: number) => number} Scale from a value to a place */
/** @typedef {{name: string, points: {x: number, y: number}[]}} Series */

/** What lies beyond the span is drawn at its end. @param {[number, number]} span of values @param {[number, number]} room in the drawing @returns {Scale} */
export function scale([low, high], [first, last]) {
  return (value) => Number((first + Math.min(1, Math.max(0, (value - low) / (high - low))) * (last - first)).toFixed(2));
}

const LENGTH = 112; // of an interval's bar
const THICK = 16;

/**
 * A value with its interval: a thin bar with a dot, hollow while it is provisional.
 * @param {[number, number]} span of the column @param {number | undefined} value @param {[number, number] | undefined} interval
 * @param {boolean} isProvisional
 */
export function intervalBar(span, value, interval, isProvisional) {
  const at = scale(span, [6, LENGTH - 6]);
  const middle = THICK / 2;
  const [low, high] = interval ?? [];
  return svg(
    "svg",
    { class: "interval", viewBox: `0 0 ${LENGTH} ${THICK}`, width: LENGTH, height: THICK, "aria-hidden": "true", "data-provisional": isProvisional ? "" : null },
    span[0] < 0 && span[1] > 0 && svg("line", { class: "zero", x1: at(0), x2: at(0), y1: 0, y2: THICK }),
    low !== undefined && high !== undefined && svg("path", { class: "whisker", d: `M${at(low)} 4V12M${at(low)} ${middle}H${at(high)}M${at(high)} 4V12` }),
    value !== undefined && svg("circle", { class: "dot", cx: at(value), cy: middle, r: 3.5 }),
  );
}

/** What a chart lies in. */
const FRAME = { width: 560, height: 380, left: 88, right: 16, top: 16, bottom: 52 };

/** Lines, numbers and words of both axes. @param {{span: [number, number], at: Scale, label: string, text: (value: number) => string, marks?: number[]}} across @param {{span: [number, number], at: Scale, label: string, text: (value: number) => string}} up */
function axes(across, up) {
  const { width, height, left, right, top, bottom } = FRAME;
  return [
    ...ticks(up.span).map((value) =>
      svg(
        "g",
        { class: "tick" },
        svg("line", { x1: left, x2: width - right, y1: up.at(value), y2: up.at(value) }),
        svg("text", { x: left - 8, y: up.at(value), "text-anchor": "end", "dominant-baseline": "middle" }, up.text(value)),
      ),
    ),
    ...(across.marks ?? ticks(across.span)).map((value) =>
      svg(
        "g",
        { class: "tick" },
        svg("line", { x1: across.at(value), x2: across.at(value), y1: top, y2: height - bottom }),
        svg("text", { x: across.at(value), y: height - bottom + 16, "text-anchor": "middle" }, across.text(value)),
      ),
    ),
    svg("path", { class: "axis", d: `M${left} ${top}V${height - bottom}H${width - right}` }),
    svg("text", { class: "title", x: (left + width - right) / 2, y: height - 8, "text-anchor": "middle" }, across.label),
    svg("text", { class: "title", transform: `translate(12 ${(top + height - bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, up.label),
  ];
}

/** A span with some air around it. @param {[number, number]} span @returns {[number, number]} */
function airy([low, high]) {
  const air = (high - low) * 0.06;
  return [low - air, high + air];
}

/**
 * Players by two metrics, with their intervals and the Pareto front; a dot leads to its player.
 * @param {Dot[]} dots @param {{x: string, y: string}} labels
 */
export function scatter(dots, labels) {
  const { width, height, left, right, top, bottom } = FRAME;
  const spanX = airy(spanOf(dots.map(({ x }) => x), dots.map(({ across }) => across)));
  const spanY = airy(spanOf(dots.map(({ y }) => y), dots.map(({ up }) => up)));
  const [atX, atY] = [scale(spanX, [left, width - right]), scale(spanY, [height - bottom, top])];
  const steps = front(dots).map(({ x, y }) => [atX(x), atY(y)]);
  // Whatever lies left of and below a step is beaten by it.
  const line = steps.map(([x, y], step) => (step === 0 ? `M${left} ${y}H${x}` : `V${y}H${x}`)).join("") + (steps.length ? `V${height - bottom}` : "");
  const named = apart(dots.filter(({ isFront }) => isFront), atX, atY);
  return svg(
    "svg",
    { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": `${labels.y} by ${labels.x}` },
    ...axes({ span: spanX, at: atX, label: labels.x, text: figure }, { span: spanY, at: atY, label: labels.y, text: figure }),
    svg("path", { class: "front", d: line }),
    ...[...dots].sort((one, other) => Number(one.isFront) - Number(other.isFront)).map((dot) => player(dot, atX, atY, named.has(dot))),
  );
}

const ROOM = { x: 120, y: 14 }; // that a name takes

/** Those dots whose names do not cover each other. @param {Dot[]} dots @param {Scale} atX @param {Scale} atY @returns {Set<Dot>} */
function apart(dots, atX, atY) {
  /** @type {Set<Dot>} */ const found = new Set();
  for (const dot of dots) {
    const isFree = [...found].every(({ x, y }) => Math.abs(atX(x) - atX(dot.x)) > ROOM.x || Math.abs(atY(y) - atY(dot.y)) > ROOM.y);
    if (isFree) found.add(dot);
  }
  return found;
}

/** One dot. @param {Dot} dot @param {Scale} atX @param {Scale} atY @param {boolean} isNamed always, or only when looked at */
function player(dot, atX, atY, isNamed) {
  const [x, y] = [atX(dot.x), atY(dot.y)];
  const isRight = x > FRAME.width * 0.7;
  const words = `${dot.name}: ${figure(dot.x)}, ${figure(dot.y)}${dot.isFront ? ", on the front" : ""}${dot.isProvisional ? ", provisional" : ""}`;
  return svg(
    "a",
    {
      class: "player-dot",
      href: `/players/${encodeURIComponent(dot.id)}`,
      "aria-label": words,
      "data-front": dot.isFront ? "" : null,
      "data-named": isNamed ? "" : null,
      "data-provisional": dot.isProvisional ? "" : null,
    },
    dot.across && svg("line", { class: "whisker", x1: atX(dot.across[0]), x2: atX(dot.across[1]), y1: y, y2: y }),
    dot.up && svg("line", { class: "whisker", x1: x, x2: x, y1: atY(dot.up[0]), y2: atY(dot.up[1]) }),
    svg("circle", { class: "reach", cx: x, cy: y, r: 12 }),
    dot.isFront ? svg("path", { class: "dot", d: `M${x} ${y - 6.5}L${x + 6.5} ${y}L${x} ${y + 6.5}L${x - 6.5} ${y}Z` }) : svg("circle", { class: "dot", cx: x, cy: y, r: 4.5 }),
    svg("text", { class: "name", x: isRight ? x - 10 : x + 10, y: y - 8, "text-anchor": isRight ? "end" : "start" }, clip(dot.name)),
  );
}

/** A name that fits beside a dot. @param {string} name */
function clip(name) {
  return name.length > 20 ? `${name.slice(0, 18)}…` : name;
}

const day = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });
const minute = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const second = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const [MINUTES, DAYS] = [10 * 60_000, 2 * 86_400_000];

/** How moments of a span are told apart. @param {[number, number]} span */
function clockFor([first, last]) {
  return last - first > DAYS ? day : last - first > MINUTES ? minute : second;
}

/** The way of some players over time, each with a colour and a shape. @param {Series[]} series at most eight @param {string} label */
export function lines(series, label) {
  const { width, height, left, right, top, bottom } = FRAME;
  const points = series.flatMap((one) => one.points);
  const spanX = around(points.map(({ x }) => x));
  const spanY = airy(around(points.map(({ y }) => y)));
  const [atX, atY] = [scale(spanX, [left, width - right]), scale(spanY, [height - bottom, top])];
  const clock = clockFor(spanX);
  const marks = [0.1, 0.5, 0.9].map((share) => spanX[0] + share * (spanX[1] - spanX[0]));
  return svg(
    "svg",
    { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${label} over time, of ${series.map(({ name }) => name).join(", ")}` },
    ...axes({ span: spanX, at: atX, label: "Time", text: (at) => clock.format(at), marks }, { span: spanY, at: atY, label, text: figure }),
    ...series.map(({ name, points }, number) => {
      const last = points.at(-1);
      return svg(
        "g",
        { class: "series", "data-seat": number },
        svg("title", {}, name),
        svg("path", { d: points.map(({ x, y }, step) => `${step ? "L" : "M"}${atX(x)} ${atY(y)}`).join("") }),
        last && markAt(number, atX(last.x), atY(last.y), 0.9),
      );
    }),
  );
}
