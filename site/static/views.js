// Drawings that are no time series: the ring or the table of a hashing policy, and the policies of a run side by side.
// Both are SVG, made from what Go hands over, with colours by the names of the style sheet.
"use strict";
(() => {
  const { t, figure: number } = minilbWords;
  const draw = minilbDraw;
  const text = (s) => String(s).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
  const round = (v) => Math.round(v * 100) / 100;

  // svg fills a figure's drawing. Its colours are variables, so that a change of theme needs no new drawing.
  const svg = (box, width, height, inside) => {
    box.innerHTML = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="12" fill="var(--ink)" aria-hidden="true">${inside}</svg>`;
  };
  const words = (x, y, said, more = "") => `<text x="${round(x)}" y="${round(y)}" ${more}>${text(said)}</text>`;

  // Marks: a colour for each of the first six backends, hatching for the others.
  const paint = (b, i) => (b.hatched ? `url(#hatch${i})` : `var(--m${b.place})`);
  const hatches = (list) => `<defs>${list.map((b, i) => (b.hatched ? `<pattern id="hatch${i}" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)">` +
    `<rect width="6" height="6" fill="var(--panel)"/><rect width="6" height="3" fill="var(--m${b.place})"/></pattern>` : "")).join("")}</defs>`;

  // The ring: outside who owns what now, inside without the backend that goes. The table: two bars, one above the other.
  const keyview = document.getElementById("keyring"), keybox = keyview.querySelector(".drawing");
  let keys = null, mark = null;
  const point = (r, at) => { const a = at * 2 * Math.PI; return `${round(130 + r * Math.sin(a))} ${round(130 - r * Math.cos(a))}`; };
  const arc = (r, from, to) => (to - from > 0.999 ? `M${point(r, 0)}A${r} ${r} 0 1 1 ${point(r, 0.5)}A${r} ${r} 0 1 1 ${point(r, 0)}`
    : `M${point(r, from)}A${r} ${r} 0 ${to - from > 0.5 ? 1 : 0} 1 ${point(r, to)}`);
  const band = (arcs, r, width) => keys.backends.map((b, i) => {
    const own = arcs.filter(([owner]) => owner === i);
    return own.length ? `<path d="${own.map(([, from, to]) => arc(r, from, to)).join("")}" fill="none" stroke="${paint(b, i)}" stroke-width="${width}"/>` : "";
  }).join("");
  const letter = (i) => (i < 0 ? "–" : keys.backends[i].letter);
  const pin = (r) => {
    const { at, now, after } = mark, a = at * 2 * Math.PI;
    return `<path d="M${point(52, at)}L${point(118, at)}" stroke="var(--ink)" stroke-width="2"/><circle cx="${round(130 + 118 * Math.sin(a))}" cy="${round(130 - 118 * Math.cos(a))}" r="10" fill="var(--panel)" stroke="var(--ink)" stroke-width="2"/>` +
      words(130 + 118 * Math.sin(a), 134 - 118 * Math.cos(a), letter(now), 'text-anchor="middle" font-weight="700"') +
      words(130, 140, now === after ? letter(now) : `${letter(now)} → ${letter(after)}`, 'text-anchor="middle" font-weight="700" font-size="16"');
  };
  const ring = () => band(keys.now, 96, 22) + band(keys.after, 68, 18) + (mark ? pin() : "") +
    (mark ? words(130, 122, mark.key.length > 12 ? `${mark.key.slice(0, 11)}…` : mark.key, 'text-anchor="middle" fill="var(--soft)"') : "");

  const bar = (arcs, width, y) => arcs.map(([owner, from, to]) => (owner < 0 ? "" :
    `<rect x="${round(from * width)}" y="${y}" width="${round((to - from) * width)}" height="30" fill="${paint(keys.backends[owner], owner)}"/>`)).join("");
  const moved = (width) => {
    const borders = [...new Set([...keys.now, ...keys.after].flatMap(([, from, to]) => [from, to]))].sort((a, b) => a - b);
    const owner = (arcs, at) => arcs.find(([, from, to]) => from <= at && at < to)?.[0];
    const pieces = borders.slice(1).map((to, i) => [borders[i], to]).filter(([from, to]) => owner(keys.now, (from + to) / 2) !== owner(keys.after, (from + to) / 2));
    return `<path d="${pieces.map(([from, to]) => `M${round(from * width)} 58H${round(to * width)}`).join("")}" stroke="var(--ink)" stroke-width="3"/>`;
  };
  const table = (width) => {
    const x = mark ? mark.at * width : 0;
    return words(mark && mark.at < 0.5 ? width : 0, 14, t("now"), mark && mark.at < 0.5 ? 'text-anchor="end"' : "") + bar(keys.now, width, 20) + moved(width) + bar(keys.after, width, 66) + words(0, 110, t("without {backend}", { backend: keys.gone })) +
      (mark ? `<path d="M${round(x)} 16V100" stroke="var(--ink)" stroke-width="2"/><circle cx="${round(Math.min(Math.max(x, 11), width - 11))}" cy="11" r="10" fill="var(--panel)" stroke="var(--ink)" stroke-width="2"/>` +
        words(Math.min(Math.max(x, 11), width - 11), 15, letter(mark.now), 'text-anchor="middle" font-weight="700"') : "");
  };
  const widthOf = (box) => Math.max(260, Math.min(box.clientWidth, 760));
  const drawKeys = () => {
    if (!keys) return;
    if (keys.kind === "ring") svg(keybox, 260, 260, hatches(keys.backends) + ring());
    else svg(keybox, widthOf(keybox), 116, hatches(keys.backends) + table(widthOf(keybox)));
  };
  const legend = () => keyview.querySelector(".legend").replaceChildren(...keys.backends.map((b) => {
    const item = document.createElement("li"), swatch = document.createElement("span");
    swatch.className = `swatch m${b.place}${b.hatched ? " hatched" : ""}`;
    item.append(swatch, document.createTextNode(b.name));
    return item;
  }));

  // Side by side: a small chart for each policy of the run and for each run that was kept, all on one scale.
  const small = document.getElementById("small"), smallbox = small.querySelector(".drawing");
  const most = 4, kept = new Map();
  const columns = () => {
    const now = draw.now();
    const own = now.policies.map((name, i) => ({ name, run: now.runs[i], shown: name === now.shown }));
    const others = own.filter((c) => !c.shown);
    return [...kept.values(), ...own.filter((c) => c.shown), ...others].slice(0, most);
  };
  const rangeOf = (list) => {
    let lo = Infinity, hi = 0;
    for (const { run } of list) {
      for (const v of run.percentiles[0]) if (v > 0 && v < lo) lo = v;
      for (const v of run.percentiles[2]) if (v > hi) hi = v;
    }
    return hi > 0 ? [Math.log(draw.round125(lo, false)), Math.log(draw.round125(Math.max(hi, lo * 2), true))] : [0, Math.log(100)];
  };
  const endOf = ({ run }) => (run.windows ? run.start[run.windows - 1] + run.seconds : 1);
  const failing = (run, w) => { const over = run.answered[w] + run.dropped[w]; return over > 0 ? (run.errors[w] + run.dropped[w]) / over : 0; };
  const chart = (column, width, [lo, hi], end) => {
    const { run } = column, left = 44, right = width - 8, top = 22, low = 104, base = 140;
    const x = (s) => left + ((right - left) * s) / end, y = (ms) => low - ((low - top) * (Math.log(ms) - lo)) / (hi - lo || 1);
    const line = (values) => {
      let path = "", pen = "M";
      values.forEach((v, w) => { if (!(v > 0)) { pen = "M"; return; } path += `${pen}${round(x(run.start[w]))} ${round(y(v))}`; pen = "L"; });
      return path;
    };
    const scale = [lo, hi].map((v) => `<path d="M${left} ${round(y(Math.exp(v)))}H${right}" stroke="var(--grid)"/>` + words(left - 5, y(Math.exp(v)) + 4, draw.milliseconds(Math.exp(v)), 'text-anchor="end" fill="var(--soft)" font-size="10"')).join("");
    let bad = "";
    for (let w = 0; w < run.windows; w++) {
      const share = failing(run, w);
      if (share > 0) bad += `M${round(x(run.start[w]))} ${base}V${round(base - 26 * share)}H${round(x(run.start[w] + run.seconds))}V${base}Z`;
    }
    return words(left, 13, column.name, `font-weight="${column.shown ? 700 : 600}"`) + scale +
      `<path d="${line(run.percentiles[0])}" fill="none" stroke="var(--p50)" stroke-dasharray="2 3" stroke-width="1.5"/><path d="${line(run.percentiles[2])}" fill="none" stroke="var(--p99)" stroke-width="1.75"/>` +
      `<path d="M${left} ${base}H${right}M${left} ${base - 26}H${right}" stroke="var(--grid)"/><path d="${bad}" fill="var(--bad)"/>` +
      words(left - 5, base - 22, number("100%"), 'text-anchor="end" fill="var(--soft)" font-size="10"') +
      words(left, base + 13, number("0 s"), 'fill="var(--soft)" font-size="10"') + words(right, base + 13, number(`${+end.toPrecision(3)} s`), 'text-anchor="end" fill="var(--soft)" font-size="10"');
  };
  const drawSmall = () => {
    if (!draw.now()) return;
    const list = columns();
    small.hidden = list.length < 2;
    if (small.hidden || !smallbox.clientWidth) return;
    const whole = smallbox.clientWidth;
    const across = Math.max(1, Math.min(list.length, Math.floor(whole / 200))), width = Math.floor(Math.min(whole / across, 420));
    const range = rangeOf(list), end = Math.max(...list.map(endOf));
    svg(smallbox, width * across, 162 * Math.ceil(list.length / across), list.map((column, i) =>
      `<g transform="translate(${width * (i % across)} ${162 * Math.floor(i / across)})">${chart(column, width, range, end)}</g>`).join(""));
    fill();
  };
  const fill = () => {
    const details = small.querySelector("details");
    if (!details.open) return;
    const list = columns(), longest = list.reduce((a, b) => (b.run.windows > a.run.windows ? b : a));
    const cell = (run, w) => (w < run.windows ? `${draw.shown(run.percentiles[2][w], draw.milliseconds)}, ${number(`${(failing(run, w) * 100).toFixed(0)}%`)}` : "–");
    draw.fill(details, [t("from"), ...list.map((c) => c.name)], Array.from({ length: longest.run.windows }, (_, w) =>
      [draw.seconds(longest.run.start[w]), ...list.map(({ run }) => cell(run, w))]));
  };
  small.querySelector("details").addEventListener("toggle", fill);
  new ResizeObserver(drawSmall).observe(smallbox);
  new ResizeObserver(() => { if (keys?.kind === "table") drawKeys(); }).observe(keybox);

  // where says on which part the pointer is.
  keybox.addEventListener("pointermove", (e) => {
    if (!keys) return;
    const box = keybox.firstElementChild.getBoundingClientRect();
    const dx = e.clientX - box.left - box.width / 2, dy = e.clientY - box.top - box.height / 2;
    const at = keys.kind === "ring" ? (Math.atan2(dx, -dy) / (2 * Math.PI) + 1) % 1 : (e.clientX - box.left) / box.width;
    const owner = (arcs) => { const i = arcs.find(([, from, to]) => from <= at && at < to)?.[0] ?? -1; return i < 0 ? t("nobody") : keys.backends[i].name; };
    document.getElementById("keys-say").textContent = t("Keys here go to {backend}; without {gone} to {after}.", { backend: owner(keys.now), gone: keys.gone, after: owner(keys.after) });
  });

  globalThis.minilbViews = {
    // keys draws what KeyDrawing says; nothing, for a policy without ring and table, hides the drawing.
    keys(json) {
      keys = json ? JSON.parse(json) : null;
      mark = null;
      keyview.hidden = !keys;
      if (!keys) return;
      keyview.querySelector("h3").textContent = keys.kind === "ring" ? t("Ring") : t("Table");
      keyview.querySelector(".unit").textContent = keys.kind === "ring" ? t("outside now, inside without {backend}", { backend: keys.gone })
        : keys.places < keys.size ? t("one entry in {n} of {size}; a line between the bars where they differ", { n: Math.round(keys.size / keys.places), size: keys.size })
          : t("all {size} entries; a line between the bars where they differ", { size: keys.size });
      legend();
      drawKeys();
    },
    // key marks one: where it lies, and whose it is now and after.
    key(name, at, now, after) { mark = { key: name, at, now, after }; drawKeys(); },
    show: drawSmall,
    keep(id, name) { const now = draw.now(); kept.set(id, { name, run: now.run }); drawSmall(); },
    drop(id) { kept.delete(id); drawSmall(); },
  };
})();
