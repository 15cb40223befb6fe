/**
 * Gathers what was heard for a moment before it is drawn; unlike a frame of the screen, that comes in hidden tabs too.
 * The longer a drawing took the longer the next one waits, so that drawing never fills the day.
 */

const PAUSE = 40; // milliseconds
const SHARE = 4; // a pause is at least so many times as long as the drawing before it

/** A function that has `draw` called soon, once however often it is called. @param {() => void} draw @param {number} [least] pause */
export function soon(draw, least = PAUSE) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */ let waiting;
  let pause = least;
  return () => {
    waiting ??= setTimeout(() => {
      waiting = undefined;
      const begun = performance.now();
      draw();
      pause = Math.max(least, SHARE * (performance.now() - begun));
    }, pause);
  };
}
