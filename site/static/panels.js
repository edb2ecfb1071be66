// The charts beside latency and share: requests in flight as a heat map, health and ejection, errors by kind, attempts
// per request, and the percentiles with their nines. All but the last share the time axis and the clock.
"use strict";
(() => {
  const d = minilbDraw, { t, figure } = minilbWords;
  const ratio = () => devicePixelRatio || 1;

  // rowsOf is the options of a chart that has a row for each backend instead of a scale; draw paints the rows.
  const rowsOf = (base) => ({
    ...base,
    scales: { x: d.xScale(), y: { range: () => [0, 1] } },
    axes: [d.timeAxis(), d.axis({ size: 54, gap: 4, grid: { show: false }, filter: (_, list) => list,
      splits: (u) => d.now().backends.map((_, i) => { const row = rowBox(u, i, d.now().backends.length); return 1 - (row.top + row.height / 2 - u.bbox.top) / u.bbox.height; }),
      values: () => d.now().backends.map((b) => d.nameOf(b.name.length > 5 ? { ...b, name: `${b.name.slice(0, 1)}…${b.name.slice(-3)}` } : b)) })],
    series: [{}, { points: { show: false }, stroke: "transparent" }],
  });
  const header = 16; // above the rows, for the words of the events
  const rowBox = (u, i, n) => {
    const height = (u.bbox.height - header * ratio()) / n;
    return { top: u.bbox.top + header * ratio() + height * i, height };
  };
  const flat = () => [d.gaps(d.now().run.start), d.gaps(d.now().run.start).map(() => 0)];
  const fit = (figure) => {
    figure.querySelector(".plot").style.height = `${Math.max(90, Math.min(300, d.now().backends.length * 30 + 56))}px`;
  };

  // Heat map: the darker, the more in flight; the square root keeps one request apart from none.
  const inflight = document.getElementById("inflight");
  const topOf = (runs) => {
    let top = 1;
    for (const run of runs) for (const column of run.inFlight) for (const v of column) if (v > top) top = v;
    return top;
  };
  const paintHeat = (u) => {
    const { ctx } = u, { run, runs, backends } = d.now(), top = topOf(runs);
    ctx.save();
    ctx.fillStyle = d.colours().accent;
    backends.forEach((_, i) => {
      const row = rowBox(u, i, backends.length);
      for (let w = 0; w < run.windows; w++) {
        const v = run.inFlight[i][w];
        if (!(v > 0)) continue;
        const x = u.valToPos(run.start[w], "x", true), right = u.valToPos(run.start[w] + run.seconds, "x", true);
        ctx.globalAlpha = Math.min(1, 0.06 + 0.94 * Math.sqrt(v / top));
        ctx.fillRect(Math.floor(x), row.top + ratio(), Math.ceil(right) - Math.floor(x), row.height - 2 * ratio());
      }
    });
    ctx.restore();
  };
  const few = (v) => figure(String(+v.toPrecision(3)));
  d.add("inflight", {
    key: () => { fit(inflight); return d.backendsKey(); },
    draw: [paintHeat], options: rowsOf, data: flat, legend: d.names,
    text: (i, w) => d.shown(d.now().run.inFlight[i]?.[w], few),
    table: () => d.byWindow(d.now().backends.map((b) => b.name), (w) => d.now().backends.map((_, i) => d.shown(d.now().run.inFlight[i][w], few))),
  });

  // Gantt: a thin bar while a backend is up, a box with a letter while it is not, and its faults below.
  const health = document.getElementById("health");
  const letters = { ejected: "E", down: "D", draining: "G" };
  const paintSpan = (u, span, row, fault) => {
    const { ctx } = u, c = d.colours(), end = d.end();
    const left = u.valToPos(span.from, "x", true), right = u.valToPos(span.to || end, "x", true);
    const width = Math.max(right - left, 1.5 * ratio());
    const top = fault ? row.top + row.height * 0.72 : row.top + row.height * 0.12, height = fault ? row.height * 0.2 : row.height * 0.56;
    if (span.state === "absent") {
      ctx.fillStyle = c.panel;
      ctx.fillRect(left, row.top, width, row.height);
      return;
    }
    ctx.fillStyle = fault ? c.fault : span.state === "draining" ? c.panel : span.state === "ejected" ? d.hatch(c.out) : c.out;
    ctx.fillRect(left, top, width, height);
    ctx.strokeStyle = fault ? c.fault : span.state === "draining" ? c.soft : c.out;
    ctx.lineWidth = ratio();
    ctx.strokeRect(left, top, width, height);
    label(u, fault ? "" : letters[span.state], left, top, width, height, t(span.state));
  };
  const label = (u, letter, left, top, width, height, state) => {
    const { ctx } = u, c = d.colours();
    if (!letter || width < 12 * ratio()) return;
    ctx.font = `700 ${11 * ratio()}px system-ui, sans-serif`;
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    const words = ctx.measureText(state).width + 8 * ratio() < width ? state : letter;
    const room = ctx.measureText(words).width + 6 * ratio();
    ctx.fillStyle = c.panel;
    ctx.fillRect(left + 2 * ratio(), top + 2 * ratio(), room, height - 4 * ratio());
    ctx.fillStyle = c.ink;
    ctx.fillText(words, left + 5 * ratio(), top + height / 2);
  };
  const paintHealth = (u) => {
    const { ctx } = u, { backends, spans, troubles } = d.now(), c = d.colours();
    ctx.save();
    ctx.beginPath();
    ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
    ctx.clip();
    backends.forEach((_, i) => {
      const row = rowBox(u, i, backends.length);
      ctx.fillStyle = c.back;
      ctx.fillRect(u.bbox.left, row.top + row.height * 0.36, u.bbox.width, Math.max(2, row.height * 0.08));
    });
    for (const s of spans) paintSpan(u, s, rowBox(u, s.backend, backends.length), false);
    for (const s of troubles) paintSpan(u, s, rowBox(u, s.backend, backends.length), true);
    ctx.restore();
  };
  const stateAt = (i, time) => {
    const at = (list) => list.findLast((s) => s.backend === i && s.from <= time && (!s.to || time < s.to))?.state;
    return [t(at(d.now().spans) ?? "up"), at(d.now().troubles)].filter(Boolean).join(", ");
  };
  d.add("health", {
    key: () => { fit(health); return d.backendsKey(); },
    draw: [paintHealth], options: rowsOf, data: flat, legend: d.names,
    text: (i, w) => stateAt(i, d.now().run.start[w] ?? 0),
    table: () => [[t("backend"), t("what"), t("from"), t("to")], [...d.now().spans, ...d.now().troubles].sort((a, b) => a.from - b.from).map((s) => [
      d.now().backends[s.backend].name, t(s.state), d.seconds(s.from), s.to ? d.seconds(s.to) : t("the end")])],
  });

  // Errors by kind, a second.
  const kindNames = ["5xx", "timeout", "refused", "broken", "no backend", "queue full"];
  const kindDashes = [[], [7, 3], [2, 3], [10, 3, 2, 3], [4, 4], [1, 2]];
  const seenKinds = () => kindNames.map((_, k) => k).filter((k) => k === 0 || d.now().runs.some((r) => r.kinds[k].some((v) => v > 0)));
  const perSecond = (k) => Array.from(d.now().run.kinds[k], (v) => v / d.now().run.seconds);
  const rate = (v) => `${few(v)}/s`;
  const topErrors = () => {
    let top = 0;
    for (const r of d.now().runs) for (const column of r.kinds) for (const v of column) top = Math.max(top, v / (r.seconds || 1));
    return d.round125(Math.max(top, 1), true);
  };
  d.add("kinds", {
    key: () => seenKinds().join(),
    options: (base) => ({
      ...base, scales: { x: d.xScale(), y: { range: () => [0, topErrors()] } }, axes: [d.timeAxis(), d.axis({ size: 54, gap: 4, space: 26, values: (_, list) => list.map(few) })],
      series: [{}, ...seenKinds().map((k) => ({ label: kindNames[k], width: 2, dash: kindDashes[k], stroke: () => (k === 0 ? d.colours().out : d.colours().ink), points: { show: false } }))],
    }),
    data: () => [d.gaps(d.now().run.start), ...seenKinds().map(perSecond)],
    legend: () => seenKinds().map((k) => ({ mark: `kind k${k}`, name: t(kindNames[k]) })),
    text: (i, w) => d.shown(d.now().run.kinds[seenKinds()[i]]?.[w] / d.now().run.seconds, rate),
    table: () => d.byWindow(seenKinds().map((k) => t(kindNames[k])), (w) => seenKinds().map((k) => String(d.now().run.kinds[k][w]))),
  });

  // Attempts per request: one without retries, more when they multiply the load.
  const perRequest = (run, w) => {
    const over = run.answered[w] + run.dropped[w];
    return over > 0 ? run.attempts[w] / over : NaN;
  };
  const topAttempts = () => {
    let top = 2;
    for (const r of d.now().runs) for (let w = 1; w < r.windows; w++) { const v = perRequest(r, w); if (v > top && v < 20) top = v; }
    return Math.ceil(top);
  };
  d.add("attempts", {
    options: (base) => ({
      ...base, scales: { x: d.xScale(), y: { range: () => [0, topAttempts()] } }, axes: [d.timeAxis(), d.axis({ size: 54, gap: 4, space: 26, values: (_, list) => list.map(few) })],
      series: [{}, { label: "attempts per request", width: 2, stroke: () => d.colours().accent, points: { show: false } }],
    }),
    data: () => [d.gaps(d.now().run.start), d.gaps(Array.from({ length: d.now().run.windows }, (_, w) => perRequest(d.now().run, w)))],
    legend: () => [{ mark: "one", name: t("attempts per request") }],
    text: (_, w) => d.shown(perRequest(d.now().run, w), few),
    table: () => d.byWindow([t("attempts"), t("requests over"), t("attempts per request")], (w) => [String(d.now().run.attempts[w]),
      String(d.now().run.answered[w] + d.now().run.dropped[w]), d.shown(perRequest(d.now().run, w), few)]),
  });

  // Percentiles of the whole run, all policies: how far to the right a line stays low is how many nines it has.
  const nines = (q, most) => (q >= 1 ? most : -Math.log10(1 - q));
  const mostNines = () => Math.max(2, ...d.now().curves.map((c) => (c.length > 1 ? nines(c[c.length - 2][0], 0) + 0.1 : 0)));
  const nineText = (x) => figure(x === 0 ? "0%" : `${(100 * (1 - 10 ** -x)).toFixed(Math.max(0, Math.round(x) - 2))}%`);
  const policyDash = [[], [8, 4], [2, 3], [10, 3, 2, 3], [4, 4], [1, 2], [14, 4], [6, 2, 2, 2], [3, 6], [12, 2], [5, 1]];
  const joined = () => {
    const most = mostNines();
    return uPlot.join(d.now().curves.map((c) => [c.map(([q]) => nines(q, most)), c.map(([, ms]) => Math.max(ms, 1e-3))]));
  };
  const curveRange = () => {
    const all = d.now().curves.flatMap((c) => c.filter(([q]) => q >= 0.15).map(([, ms]) => ms)).filter((v) => v > 0); // the very fastest would take half the height
    return all.length ? [d.round125(all.reduce((a, b) => Math.min(a, b)), false), d.round125(all.reduce((a, b) => Math.max(a, b)) * 1.0001, true)] : [1, 100];
  };
  d.add("percentiles", {
    still: true, key: () => JSON.stringify([d.now().policies, d.now().shown]),
    options: (base) => ({
      ...base, cursor: { ...base.cursor, sync: undefined }, hooks: { setCursor: base.hooks.setCursor },
      scales: { x: { time: false, range: () => [0, mostNines()] }, y: { distr: 3, range: curveRange } },
      axes: [d.axis({ size: 26, gap: 4, splits: () => Array.from({ length: Math.floor(mostNines()) + 1 }, (_, i) => i), values: (_, list) => list.map(nineText) }), d.latencyAxis()],
      series: [{}, ...d.now().policies.map((label, i) => ({
        label, spanGaps: true, width: label === d.now().shown ? 2.5 : 1.5, dash: policyDash[i % policyDash.length],
        stroke: () => (label === d.now().shown ? d.colours().ink : d.colours().accent), points: { show: false },
      }))],
    }),
    data: joined,
    legend: () => d.now().policies.map((name, i) => ({ mark: `kind k${i % 6}`, name })),
    text: () => "",
    table: () => {
      const qs = [0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 1];
      return [[t("percentile"), ...d.now().policies], qs.map((q) => [figure(`${+(q * 100).toFixed(4)}%`), ...d.now().curves.map((c) => {
        const point = c.find(([at]) => at >= q - 1e-9);
        return point ? d.milliseconds(point[1]) : "–";
      })])];
    },
  });

  // On a phone one chart is shown at a time, and the controls are a sheet from below; the style sheet says when.
  const tabs = document.getElementById("tabs");
  const figures = [...document.querySelectorAll("#results > figure:not(#flow), #transcript")];
  const choose = (id) => {
    for (const figure of figures) figure.classList.toggle("off", figure.id !== id);
    for (const tab of tabs.children) tab.setAttribute("aria-pressed", String(tab.dataset.tab === id));
  };
  tabs.replaceChildren(...figures.map((figure) => {
    const tab = document.createElement("button");
    tab.type = "button";
    tab.dataset.tab = figure.id;
    tab.textContent = figure.querySelector("h2").textContent;
    tab.addEventListener("click", () => choose(figure.id));
    return tab;
  }));
  choose("latency");
  const sheet = (open) => {
    document.body.classList.toggle("sheet", open);
    for (const button of document.querySelectorAll('button.phone[data-do="sheet"]')) button.setAttribute("aria-expanded", String(open));
    if (!open) return;
    if (matchMedia("(max-width: 899px)").matches) document.getElementById("answer").scrollIntoView(); // the sentence stays in sight above the sheet
    document.getElementById("controls").focus({ preventScroll: true });
  };
  document.addEventListener("click", ({ target }) => {
    if (target.closest('[data-do="sheet"]')) sheet(!document.body.classList.contains("sheet"));
    if (target.closest('[data-do="jump"]')) sheet(true);
  });
  document.addEventListener("keydown", (e) => { if (e.key === "Escape" && document.body.classList.contains("sheet")) sheet(false); });
})();
