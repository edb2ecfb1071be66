// The clock of the page: one moment of the run, which the flow, every chart and the transcript show. It plays, is
// scrubbed, and jumps from event to event. Whoever wants to follow it calls minilbTime.follow.
"use strict";
(() => {
  const byID = (id) => document.getElementById(id);
  const { t: word, figure: number } = minilbWords;
  const player = byID("player"), scrub = byID("scrub"), clockFace = byID("clock"), speedMenu = byID("speed");
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const followers = [];
  // The sentence of the first frame is the first incident's; a link has another one.
  if (location.hash.length > 1) byID("verdict").textContent = "Playing the scenario of this link…";
  const scrubStops = 1000;

  let t = 0, end = 0, moments = [], playing = false, asked = false, last = 0, frame = 0, written = 0;
  let held = 0, skipped = 0; // until when nobody is told of the time, and how much of it they have not been told of

  const speed = () => Number(speedMenu.value);
  const seconds = (v, digits) => number(v >= 600 ? `${(v / 60).toFixed(1)} min` : `${v.toFixed(digits)} s`);

  // write brings the face up to date; while playing ten times a second, since nobody reads faster.
  const write = (at, force) => {
    if (!force && at - written < 100) return;
    written = at;
    const digits = end < 5 ? 3 : end < 60 ? 2 : 1;
    clockFace.textContent = word("{t} of {end}", { t: seconds(t, digits), end: seconds(end, digits) });
    scrub.value = end > 0 ? Math.round((t / end) * scrubStops) : 0;
    scrub.setAttribute("aria-valuetext", seconds(t, digits));
    markLine();
  };

  const tell = (elapsed) => { for (const follow of followers) follow(t, elapsed, playing); };

  const button = () => {
    const play = player.querySelector('[data-time="play"]');
    play.textContent = playing ? word("Pause") : word("Play");
    play.setAttribute("aria-pressed", String(playing));
  };

  const tick = (at) => {
    frame = 0;
    if (!playing) return;
    const elapsed = Math.min(Math.max(0, at - last), 100) / 1000; // a tab that was hidden does not catch up
    last = at;
    t += elapsed * speed();
    if (t >= end) {
      t = end;
      set(false);
    }
    if (at < held && playing) skipped += elapsed;
    else {
      write(at, !playing);
      tell(elapsed + skipped);
      skipped = 0;
    }
    if (playing) frame = requestAnimationFrame(tick);
  };

  const set = (on) => {
    playing = on && end > 0;
    button();
    if (playing && !frame) {
      last = performance.now();
      frame = requestAnimationFrame(tick);
    }
    if (!playing) tell(0);
  };

  const seek = (to) => {
    t = Math.min(Math.max(to, 0), end);
    write(0, true);
    tell(0);
  };

  const play = (on = !playing) => {
    asked = true;
    if (on && t >= end) seek(0);
    set(on);
  };
  const next = () => seek((moments.find((m) => m > t + 1e-6) ?? end));
  const before = () => seek(moments.findLast((m) => m < t - 1e-6) ?? 0);
  const restart = () => { seek(0); if (!still.matches) play(true); };
  const faster = (steps) => {
    speedMenu.selectedIndex = Math.min(Math.max(speedMenu.selectedIndex + steps, 0), speedMenu.length - 1);
  };

  // markLine shows which line of the transcript has come last.
  let lines = [], shownLine = null;
  const markLine = () => {
    let line = null;
    for (const candidate of lines) {
      if (Number(candidate.dataset.at) > t) break;
      line = candidate;
    }
    if (line === shownLine) return;
    shownLine?.removeAttribute("aria-current");
    line?.setAttribute("aria-current", "time");
    shownLine = line;
    const list = byID("transcript").querySelector("ol");
    if (line && playing) list.scrollTop = line.offsetTop - list.offsetTop - list.clientHeight / 2;
  };

  // span is told of a new run. The moment stays when a slider moves; the first run begins to play by itself, unless the
  // person wants no motion: then the page shows the end.
  const span = (seconds, events) => {
    const first = end === 0;
    end = seconds;
    moments = [...new Set(events.filter((e) => e <= end))];
    t = Math.min(t, end);
    if (first && still.matches) t = end;
    if (first && !still.matches && !asked) set(true);
    write(0, true);
    tell(0);
  };

  // newLines is told that the transcript is another one.
  const newLines = () => {
    lines = [...byID("transcript").querySelectorAll("[data-at]")];
    shownLine = null;
    markLine();
  };

  // hold lets the clock run on but draws nothing of it for so many milliseconds: while a change is under way, what it
  // gives comes first.
  const hold = (ms) => { held = performance.now() + ms; };

  const presses = { play: () => play(), next, before, restart };
  document.addEventListener("click", ({ target }) => {
    const what = target.closest("[data-time]")?.dataset.time;
    if (what) presses[what]();
    const at = target.closest("[data-at]")?.dataset.at;
    if (at !== undefined) { asked = true; set(false); seek(Number(at)); }
  });
  scrub.max = scrubStops;
  scrub.addEventListener("input", () => { asked = true; set(false); seek((scrub.value / scrubStops) * end); });
  still.addEventListener("change", () => { if (still.matches) { set(false); seek(end); } });
  speedMenu.addEventListener("change", () => { asked = true; });

  globalThis.minilbTime = {
    span, newLines, hold, seek, play, next, before, restart, faster, follow: (f) => followers.push(f),
    step: (direction) => { set(false); seek(t + (direction * end) / 100); },
    now: () => t, still: () => still.matches, playing: () => playing,
  };
})();
